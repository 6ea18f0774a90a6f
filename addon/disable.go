// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	enabled, err := s.prepareDisable(ctx)
	if err == nil && enabled {
		o.session = s
	}
	return !enabled && err == nil, err
}

// prepareDisable reads what enable has created, and changes nothing. It reports whether the addon is enabled.
func (s *session) prepareDisable(ctx context.Context) (enabled bool, err error) {
	if s.known, err = readInventory(ctx, s.host, s.options.karmada.namespace); err != nil {
		return false, err
	}
	if s.known == nil {
		fmt.Fprintln(s.out, "karmada-compute is not enabled: the host has no ConfigMap "+inventoryName)
		return false, nil
	}
	if s.known.isWithoutMilo() {
		s.values = nested([]string{"projects", "mode"}, modeNamespaces)
	}
	if s.milo == nil && s.needsMilo() {
		if err := s.connectAsAddOn(ctx); err != nil {
			return false, err
		}
	}
	return true, s.checkWorkloads(ctx)
}

// needsMilo reports whether something is left at Milo. A run that was interrupted may have deleted everything there, and then
// the credentials.
func (s *session) needsMilo() bool {
	return slices.ContainsFunc(s.known[atMilo], func(e entry) bool { return !e.isCRD() || s.options.workloads != workloadsKeep })
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
		s.deleteWorkloads, s.unregister, s.stopReplicas, s.unregister, s.checkMeanwhile, s.removeCells, s.removeRuntime, s.removeHub,
		s.removeMilo, s.removeHost,
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
		at := s.plane(registered.at)
		if at == nil {
			continue // A run that was interrupted has ended there.
		}
		for _, r := range registered.references {
			if err := at.remove(ctx, r); err != nil {
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
// webhooks, and, unless Workloads are kept, the marks of projects with Workloads and the key of hashes.
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

// marks are the marks of projects to delete, with the record of Milo's identity and the key of hashes.
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
	return append(found, reference{APIVersion: "v1", Kind: "ConfigMap", Namespace: hubNamespace, Name: v1alpha.MiloRecordName},
		reference{APIVersion: "v1", Kind: "Secret", Namespace: hubNamespace, Name: Name + "-data-key"}), nil
}

// removeHub deletes the agents, what the replicas report of cells, and everything else on the hub. CustomResourceDefinitions
// stay while objects of theirs exist.
func (s *session) removeHub(ctx context.Context) error {
	if s.options.workloads == workloadsKeep {
		s.say("the agents, CustomResourceDefinitions and policies stay on the hub for what runs (--compute-workloads=keep); a Workload or a " +
			"project that is deleted from now on keeps its finalizers until karmada-compute is enabled again")
		return nil
	}
	if err := s.withdrawConditions(ctx); err != nil {
		return err
	}
	return s.removeListed(ctx, onHub)
}

// removeMilo deletes everything at Milo, if there is one, and forgets it: the next step deletes the credentials. If
// Workloads are kept, the CustomResourceDefinitions stay, since deleting them would delete the Workloads of all projects.
func (s *session) removeMilo(ctx context.Context) error {
	if s.milo == nil || !slices.Contains(s.planes(), atMilo) {
		return nil
	}
	if err := s.removeListed(ctx, atMilo); err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(s.known[atMilo]), func(e entry) bool {
		return !e.isCRD() || s.options.workloads != workloadsKeep
	})
	if s.known[atMilo] = left; len(left) == 0 {
		delete(s.known, atMilo)
	}
	return s.known.write(ctx, s.host, s.options.karmada.namespace)
}

func (s *session) removeHost(ctx context.Context) error {
	if err := s.removeListed(ctx, onHost); err != nil {
		return err
	}
	if s.options.workloads == workloadsKeep && len(s.known[onHub]) > 0 {
		delete(s.known, onHost)
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
	if s.options.workloads == workloadsKeep {
		s.say("CustomResourceDefinition %s stays at %s (--compute-workloads=keep)", r.Name, p.name)
		return true, nil
	}
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

// ownLeases is the prefix of the names of the replicas' Leases, and of the record of their shards.
const ownLeases = "karmada-compute-"
