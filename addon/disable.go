// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// beforeDisable checks the flags, and whether there is something to disable. If the addon is not enabled, the command
// ends.
func (o *options) beforeDisable(command *cobra.Command) (bool, error) {
	if err := errors.Join(o.karmada.read(command.Flags()), o.checkDisable()); err != nil {
		return false, err
	}
	ctx, stop := interruptible()
	defer stop()
	s, err := o.connect()
	if err != nil {
		return false, err
	}
	if s.known, err = readInventory(ctx, s.host, o.karmada.namespace); err != nil {
		return false, err
	}
	if s.known == nil {
		fmt.Fprintln(s.out, "karmada-compute is not enabled: the host has no ConfigMap "+inventoryName)
		return true, nil
	}
	if s.known.isWithoutMilo() {
		s.values = nested([]string{"projects", "mode"}, modeNamespaces)
	}
	if s.milo == nil && !isWithoutMilo(s.values) {
		if err := s.connectAsAddOn(ctx); err != nil {
			return false, err
		}
	}
	o.session = s
	return false, s.checkWorkloads(ctx)
}

// connectAsAddOn connects to Milo with the credentials that enable has stored.
func (s *session) connectAsAddOn(ctx context.Context) error {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: s.options.karmada.namespace, Name: miloSecret}
	if err := s.host.Get(ctx, key, secret); err != nil {
		return fmt.Errorf("the host has lost the add-on's credentials for Milo; name others with --milo-admin-kubeconfig: %w", err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data[miloSecretKey])
	if err != nil {
		return fmt.Errorf("secret %s at the host: %w", key, err)
	}
	s.milo, err = planeOf("Milo's root", config)
	return err
}

// checkWorkloads refuses to disable an addon in use, unless the flags request it.
func (s *session) checkWorkloads(ctx context.Context) error {
	if s.options.workloads != workloadsRefuse {
		return nil
	}
	deployments, err := s.hub.list(ctx, v1alpha.GroupVersion.String(), v1alpha.KindWorkloadDeployment)
	if err != nil {
		return err
	}
	if len(deployments) > 0 {
		return fmt.Errorf("%d WorkloadDeployments exist on the hub, the first is %s: delete their Workloads, or say with "+
			"--compute-workloads=keep or =delete what is to happen to them",
			len(deployments), deployments[0].GetNamespace()+"/"+deployments[0].GetName())
	}
	return nil
}

// disable deletes the objects that enable created, in an order in which nothing is refused or left behind.
func (o *options) disable() error {
	s := o.session
	if s == nil {
		return errNotPrepared
	}
	ctx, stop := interruptible()
	defer stop()
	return resumable(ctx, s.remove(ctx))
}

func (s *session) remove(ctx context.Context) error {
	steps := []func(context.Context) error{
		s.deleteWorkloads, s.unregister, s.stopReplicas, s.unregister, s.removeCells, s.removeRuntime, s.removeHub, s.removeMilo, s.removeHost,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	s.say("karmada-compute is disabled")
	return nil
}

// unregister removes the registrations by which API servers call the add-on: first of all, so that no request is
// refused, and again when the replicas have stopped, which register themselves as long as they run.
func (s *session) unregister(ctx context.Context) error {
	removed := s.registrations()
	if s.options.workloads == workloadsKeep {
		removed = removed[:1] // Karmada continues to interpret propagated objects
	}
	for _, registered := range removed {
		for _, r := range registered.of {
			if err := s.plane(registered.at).remove(ctx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// stopReplicas deletes the Deployments of the host and waits until their Pods are gone.
func (s *session) stopReplicas(ctx context.Context) error {
	for _, r := range s.known[onHost] {
		if r.Kind != "Deployment" || r.Adopted {
			continue
		}
		if err := s.stopDeployment(ctx, r.reference); err != nil {
			return err
		}
		s.say("%s is gone", describe(r.object()))
	}
	return nil
}

// stopDeployment deletes a Deployment of the host and waits until its Pods are gone.
func (s *session) stopDeployment(ctx context.Context, r reference) error {
	object := r.object()
	if err := client.IgnoreNotFound(s.host.Delete(ctx, object, client.PropagationPolicy("Foreground"))); err != nil {
		return fmt.Errorf("delete %s at the host: %w", describe(object), err)
	}
	return s.host.waitGone(ctx, r, s.options.karmada.timeout)
}

// removeRuntime deletes the objects that the replicas created for themselves: Leases, the CA and the paths of the
// webhooks, and, unless Workloads are kept, the marks of projects with Workloads.
func (s *session) removeRuntime(ctx context.Context) error {
	leases, err := s.hub.list(ctx, "coordination.k8s.io/v1", "Lease", client.InNamespace(hubNamespace))
	if err != nil {
		return err
	}
	own := []reference{{"v1", "Secret", hubNamespace, Name + "-webhook-ca"}, {"v1", "Secret", hubNamespace, Name + "-webhook-path"}}
	for i := range leases {
		if strings.HasPrefix(leases[i].GetName(), ownLeases) {
			own = append(own, referenceOf(&leases[i]))
		}
	}
	marks, err := s.marks(ctx)
	if err != nil {
		return err
	}
	for _, r := range append(own, marks...) {
		if err := s.hub.remove(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// marks are the marks of projects to delete, with the record of Milo's identity.
func (s *session) marks(ctx context.Context) ([]reference, error) {
	if s.options.workloads == workloadsKeep {
		return nil, nil
	}
	marks, err := s.hub.list(ctx, "v1", "ConfigMap", client.InNamespace(hubNamespace), client.HasLabels{v1alpha.LabelProjectMark})
	if err != nil {
		return nil, err
	}
	var found []reference
	for i := range marks {
		found = append(found, referenceOf(&marks[i]))
	}
	return append(found, reference{APIVersion: "v1", Kind: "ConfigMap", Namespace: hubNamespace, Name: v1alpha.MiloRecordName}), nil
}

// removeHub deletes the agents and everything else on the hub. CustomResourceDefinitions stay while objects of theirs
// exist.
func (s *session) removeHub(ctx context.Context) error {
	if s.options.workloads == workloadsKeep {
		s.say("the agents, CustomResourceDefinitions and policies stay on the hub for what runs (--compute-workloads=keep)")
		return nil
	}
	return s.removeListed(ctx, onHub)
}

// removeMilo deletes everything at Milo, if there is one.
func (s *session) removeMilo(ctx context.Context) error {
	if !slices.Contains(s.planes(), atMilo) {
		return nil
	}
	return s.removeListed(ctx, atMilo)
}

func (s *session) removeHost(ctx context.Context) error {
	if err := s.removeListed(ctx, onHost); err != nil {
		return err
	}
	if s.options.workloads == workloadsKeep && len(s.known[onHub]) > 0 {
		s.known = inventory{onHub: s.known[onHub]}
		return s.known.write(ctx, s.host, s.options.karmada.namespace)
	}
	return removeInventory(ctx, s.host, s.options.karmada.namespace)
}

// removeListed deletes the objects that the inventory lists for a plane, the last first.
func (s *session) removeListed(ctx context.Context, key string) error {
	p := s.plane(key)
	count := 0
	for _, r := range slices.Backward(s.known[key]) {
		if r.Adopted {
			s.say("%s stays at %s: it was there before", describe(r.object()), p.name)
			continue
		}
		if r.isCRD() {
			kept, err := s.keepsCRD(ctx, p, r.reference)
			if err != nil {
				return err
			}
			if kept {
				continue
			}
		}
		if err := p.remove(ctx, r.reference); err != nil {
			return err
		}
		count++
	}
	s.say("%d objects are deleted at %s", count, p.name)
	return nil
}

// keepsCRD reports whether a CustomResourceDefinition stays, since objects of it exist.
func (s *session) keepsCRD(ctx context.Context, p *plane, r reference) (bool, error) {
	crd := r.object()
	if err := p.Get(ctx, client.ObjectKey{Name: r.Name}, crd); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	objects, err := p.list(ctx, v1alpha.GroupVersion.String(), kind)
	if err != nil || len(objects) == 0 {
		return false, err
	}
	s.say("CustomResourceDefinition %s stays at %s: there are %d objects of it", r.Name, p.name, len(objects))
	return true, nil
}

// projectPath is where Milo serves the control plane of a project.
const projectPath = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/%s/control-plane"

// ownLeases is the prefix of the names of the replicas' Leases, and of the record of their shards.
const ownLeases = "karmada-compute-"

// deleteWorkloads deletes every Workload of every project and waits until the add-on, which still runs, has cleaned up.
func (s *session) deleteWorkloads(ctx context.Context) error {
	if s.options.workloads != workloadsDelete {
		return nil
	}
	projects, err := s.projects(ctx)
	if err != nil {
		return err
	}
	for _, project := range projects {
		if err := deleteWorkloadsOf(ctx, project, s.options.karmada.timeout); err != nil {
			return err
		}
	}
	err = wait.PollUntilContextTimeout(ctx, pollInterval, s.options.karmada.timeout, true, func(ctx context.Context) (bool, error) {
		left, err := s.hub.list(ctx, v1alpha.GroupVersion.String(), v1alpha.KindWorkloadDeployment)
		return err == nil && len(left) == 0, err
	})
	if err != nil {
		return fmt.Errorf("WorkloadDeployments are left on the hub; the add-on must run to remove them: %w", err)
	}
	s.say("every Workload is deleted")
	return nil
}

// projects are the planes that have Workloads: the control planes of all projects of Milo, or the hub with all of its
// namespaces.
func (s *session) projects(ctx context.Context) ([]*plane, error) {
	if isWithoutMilo(s.values) {
		return []*plane{s.hub}, nil
	}
	projects, err := s.milo.list(ctx, "resourcemanager.miloapis.com/v1alpha1", "Project")
	if err != nil {
		return nil, err
	}
	var planes []*plane
	for i := range projects {
		p, err := s.project(projects[i].GetName())
		if err != nil {
			return nil, err
		}
		planes = append(planes, p)
	}
	return planes, nil
}

// deleteWorkloadsOf deletes the Workloads of a plane and waits until they are gone.
func deleteWorkloadsOf(ctx context.Context, p *plane, timeout time.Duration) error {
	workloads, err := p.list(ctx, v1alpha.GroupVersion.String(), v1alpha.KindWorkload)
	if err != nil {
		return err
	}
	for i := range workloads {
		if err := client.IgnoreNotFound(p.Delete(ctx, &workloads[i])); err != nil {
			return fmt.Errorf("delete %s at %s: %w", describe(&workloads[i]), p.name, err)
		}
	}
	err = wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		left, err := p.list(ctx, v1alpha.GroupVersion.String(), v1alpha.KindWorkload)
		return err == nil && len(left) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("workloads are left at %s: %w", p.name, err)
	}
	return nil
}

// project connects to the control plane of a project.
func (s *session) project(name string) (*plane, error) {
	host, err := url.JoinPath(s.milo.config.Host, fmt.Sprintf(projectPath, url.PathEscape(name)))
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(s.milo.config)
	config.Host = host
	return planeOf("project "+name, config)
}
