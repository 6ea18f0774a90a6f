// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// credentialsAnnotation of Pods changes with the credentials, so that the Pods are replaced.
const credentialsAnnotation = "compute.datumapis.com/credentials" //nolint:gosec // the name of an annotation

// errNotPrepared is for callers that run the addon without its commands.
var errNotPrepared = errors.New("karmada-compute was not prepared: enable it by `karmadactl addons enable karmada-compute`")

// beforeEnable checks everything, and installs the objects that must exist before karmadactl checks the addon's Secret:
// hub, Milo and credentials. With --dry-run it prints the manifests and ends the command.
func (o *options) beforeEnable(command *cobra.Command) (bool, error) {
	if err := errors.Join(o.karmada.read(command.Flags()), o.check()); err != nil {
		return false, err
	}
	values, err := o.values(command.Flags().Changed)
	if err == nil {
		err = o.checkWebhooks(values)
	}
	if err != nil {
		return false, err
	}
	if o.dryRun {
		return true, o.print(values)
	}
	ctx, stop := interruptible()
	defer stop()
	s, err := o.connect()
	if err != nil {
		return false, err
	}
	s.values = values
	if err := resumable(ctx, s.prepare(ctx)); err != nil {
		return false, err
	}
	o.session = s
	return false, nil
}

// print renders all parts.
func (o *options) print(values map[string]any) error {
	s := &session{options: o, values: values}
	for _, part := range append(s.planes(), onHost) {
		objects, err := s.render(part)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "# %s\n", map[string]string{onHub: "The hub", atMilo: "Milo's root", onHost: "The host"}[part])
		for _, object := range objects {
			content, err := yaml.Marshal(object.Object)
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stdout, "---\n%s", content)
		}
	}
	return nil
}

func (s *session) prepare(ctx context.Context) error {
	if isWithoutMilo(s.values) {
		s.say("installing without Milo: namespaces of the hub are the projects (--milo-kubeconfig is not set)")
		s.say("checking the host and the hub")
	} else {
		s.say("checking the host, the hub and Milo")
	}
	if err := s.preflight(ctx).print(s.out); err != nil {
		return err
	}
	if err := s.resolve(ctx); err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	for _, part := range s.planes() {
		if err := s.install(ctx, part); err != nil {
			return err
		}
	}
	hash, err := s.storeCredentials(ctx)
	if err != nil {
		return err
	}
	s.say("credentials for %s are stored on the host", s.planeNames())
	merge(s.values, nested([]string{"host", "podAnnotations", credentialsAnnotation}, hash))
	return nil
}

// resolve reads and renders everything that is written later, so that faults are found before anything is changed.
func (s *session) resolve(ctx context.Context) error {
	if !isWithoutMilo(s.values) {
		if err := s.resolveMilo(); err != nil {
			return err
		}
	}
	var err error
	s.objects = map[string][]*unstructured.Unstructured{}
	for _, part := range append(s.planes(), onHost) {
		if s.objects[part], err = s.render(part); err != nil {
			return err
		}
	}
	if s.hubAddress, err = s.findHub(ctx); err != nil {
		return err
	}
	if s.known, err = readInventory(ctx, s.host, s.options.karmada.namespace); err != nil {
		return err
	}
	return s.checkMode()
}

// resolveMilo reads the credentials for Milo.
func (s *session) resolveMilo() (err error) {
	merge(s.values, nested([]string{atMilo, "subjects"}, []any{map[string]any{"kind": "User", "name": s.miloUserName}}))
	if s.miloCredentials, err = flat(s.options.miloKubeconfig); err != nil {
		return fmt.Errorf("--milo-kubeconfig: %w", err)
	}
	if !separatesWebhooks(s.values) {
		return nil
	}
	merge(s.values, nested([]string{atMilo, "webhookSubjects"}, []any{map[string]any{"kind": "User", "name": s.miloWebhookName}}))
	if s.miloWebhookCredentials, err = flat(s.options.miloWebhookKubeconfig); err != nil {
		return fmt.Errorf("--milo-webhook-kubeconfig: %w", err)
	}
	return nil
}

// checkMode refuses a change of the kind of projects: the Workloads of the other kind would lose their controllers.
func (s *session) checkMode() error {
	if len(s.known[onHub]) == 0 {
		return nil
	}
	switch wasWithoutMilo := s.known.isWithoutMilo(); {
	case !wasWithoutMilo && isWithoutMilo(s.values):
		return errors.New("karmada-compute is installed with Milo: name its kubeconfig with --milo-kubeconfig, or disable " +
			"karmada-compute before you install it without Milo")
	case wasWithoutMilo && !isWithoutMilo(s.values):
		return errors.New("karmada-compute is installed without Milo: remove --milo-kubeconfig, or disable karmada-compute " +
			"before you install it with Milo")
	}
	return nil
}

func (s *session) install(ctx context.Context, part string) error {
	objects, err := s.withhold(ctx, part, s.objects[part])
	if err != nil {
		return err
	}
	if err := s.create(ctx, part, objects...); err != nil {
		return err
	}
	s.say("%d objects are applied at %s", len(objects), s.plane(part).name)
	return nil
}

// withhold leaves out the agents' Deployment if agents exist already: a replica of the previous version may not be able
// to read the reports of a newer agent, so the agents are updated after the replicas. For the same reason, a downgrade
// replaces the agents first.
func (s *session) withhold(ctx context.Context, part string, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	at := slices.IndexFunc(objects, func(object *unstructured.Unstructured) bool {
		return part == onHub && object.GetKind() == "Deployment" && s.known.lists(part, referenceOf(object))
	})
	if at < 0 {
		return objects, nil
	}
	agents := objects[at]
	var err error
	if s.agentsFirst, err = s.goesBack(ctx, agents); err != nil || s.agentsFirst {
		return objects, err
	}
	s.rendered.add(part, entry{reference: referenceOf(agents)})
	s.withheld = agents
	return slices.Delete(slices.Clone(objects), at, at+1), nil
}

// updateAgents applies the withheld Deployment, which Karmada propagates to the cells.
func (s *session) updateAgents(ctx context.Context) error {
	if s.withheld == nil {
		return nil
	}
	if err := s.create(ctx, onHub, s.withheld); err != nil {
		return err
	}
	s.say("the replicas are updated; the agents follow")
	return nil
}

// enableHost is the second half, which karmadactl calls after its own checks.
func (o *options) enableHost() error {
	s := o.session
	if s == nil {
		return errNotPrepared
	}
	ctx, stop := interruptible()
	defer stop()
	return resumable(ctx, s.finish(ctx))
}

func (s *session) finish(ctx context.Context) error {
	if s.agentsFirst {
		s.say("this goes back to an earlier version: the agents go first, and the replicas follow")
		if err := s.waitAgents(ctx); err != nil {
			return err
		}
	}
	// Objects of the previous release are deleted when the new replicas are ready: until then the old ones need them.
	for _, step := range []func(context.Context) error{
		s.installHost, s.waitHost, s.prune, s.waitRegistered, s.renewKinds, s.updateAgents, s.waitAgents,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// installHost applies the objects of the host. New Pods that serve webhooks only are ready before the replicas that
// have served them until now are replaced.
func (s *session) installHost(ctx context.Context) error {
	objects, err := s.render(onHost)
	if err != nil {
		return err
	}
	s.objects[onHost] = objects
	at := func(name string) int {
		return slices.IndexFunc(objects, func(object *unstructured.Unstructured) bool {
			return object.GetKind() == "Deployment" && object.GetName() == name
		})
	}
	replicas, webhooks := at(Name), at(webhookServiceAccount)
	if webhooks < 0 || s.known.lists(onHost, referenceOf(objects[webhooks])) || !s.known.lists(onHost, referenceOf(objects[replicas])) {
		return s.install(ctx, onHost)
	}
	if err := s.create(ctx, onHost, slices.Delete(slices.Clone(objects), replicas, replicas+1)...); err != nil {
		return err
	}
	if err := s.waitDeployment(ctx, referenceOf(objects[webhooks])); err != nil {
		return err
	}
	return s.install(ctx, onHost)
}

// waitHost waits until the Deployments of the host have rolled out.
func (s *session) waitHost(ctx context.Context) error {
	for _, r := range s.rendered[onHost] {
		if r.Kind != "Deployment" {
			continue
		}
		if err := s.waitDeployment(ctx, r.reference); err != nil {
			return err
		}
	}
	return nil
}

// waitDeployment waits until a Deployment has rolled out, and prints the reason for the wait whenever it changes.
func (s *session) waitDeployment(ctx context.Context, r reference) error {
	said := ""
	err := wait.PollUntilContextTimeout(ctx, pollInterval, s.options.karmada.timeout, true, func(ctx context.Context) (bool, error) {
		missing, err := s.missing(ctx, r)
		if err != nil {
			return false, nil //nolint:nilerr // it is asked again until the timeout
		}
		if missing != "" && missing != said {
			s.say("Deployment %s: %s", r.Name, missing)
			said = missing
		}
		return missing == "", nil
	})
	if err != nil {
		if wait.Interrupted(err) && ctx.Err() == nil {
			err = fmt.Errorf("not within %s", s.options.karmada.timeout)
			if missing, readErr := s.missing(ctx, r); readErr == nil {
				said = missing
			}
		}
		return fmt.Errorf("deployment %s/%s is not available (%s); see kubectl -n %s describe pods -l app.kubernetes.io/name=%s: %w",
			r.Namespace, r.Name, said, r.Namespace, Name, err)
	}
	s.say("Deployment %s is available", r.Name)
	return nil
}

// missing returns what a Deployment lacks until it runs its spec, and why Pods of it do not run; "": it lacks nothing.
func (s *session) missing(ctx context.Context, r reference) (string, error) {
	deployment := &appsv1.Deployment{}
	if err := s.host.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: r.Name}, deployment); err != nil {
		return "", err
	}
	missing := rollout(deployment)
	if missing == "" {
		return "", nil
	}
	if fault := s.host.podFault(ctx, deployment); fault != "" {
		missing += "; " + fault
	}
	return missing, nil
}

// rollout returns the missing step until a Deployment runs its spec; "": none is missing.
func rollout(d *appsv1.Deployment) string {
	wanted := int32(1)
	if d.Spec.Replicas != nil {
		wanted = *d.Spec.Replicas
	}
	switch {
	case d.Status.ObservedGeneration < d.Generation:
		return "waiting for its controller"
	case d.Status.UpdatedReplicas < wanted:
		return fmt.Sprintf("%d of %d replicas are updated", d.Status.UpdatedReplicas, wanted)
	case d.Status.Replicas > d.Status.UpdatedReplicas:
		return fmt.Sprintf("%d old replicas are still there", d.Status.Replicas-d.Status.UpdatedReplicas)
	case d.Status.AvailableReplicas < wanted:
		return fmt.Sprintf("%d of %d replicas are available", d.Status.AvailableReplicas, wanted)
	}
	return ""
}

// admission is the configuration that the add-on itself registers where the projects are. interpreters are the
// configurations of which it registers one on the hub.
var (
	admission    = []reference{{"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", Name}}
	interpreters = []reference{
		{"config.karmada.io/v1alpha1", "ResourceInterpreterCustomization", "", Name},
		{"config.karmada.io/v1alpha1", "ResourceInterpreterWebhookConfiguration", "", Name},
	}
)

// projectsAt is the plane that has the projects.
func (s *session) projectsAt() string {
	if isWithoutMilo(s.values) {
		return onHub
	}
	return atMilo
}

// registration is the set of objects of which the add-on registers one at a plane.
type registration struct {
	at         string
	references []reference
}

// registrations are the registrations of the add-on itself.
func (s *session) registrations() []registration {
	return []registration{{s.projectsAt(), admission}, {onHub, interpreters}}
}

// waitRegistered waits until the add-on has registered its webhooks and its interpreter.
func (s *session) waitRegistered(ctx context.Context) error {
	for _, r := range s.registrations() {
		key, references := r.at, r.references
		err := wait.PollUntilContextTimeout(ctx, pollInterval, s.options.karmada.timeout, true, func(ctx context.Context) (bool, error) {
			return slices.ContainsFunc(references, func(r reference) bool {
				return s.plane(key).Get(ctx, client.ObjectKey{Name: r.Name}, r.object()) == nil
			}), nil
		})
		if err != nil {
			return fmt.Errorf("the add-on has not registered %s at %s; see the logs of Deployment %s: %w",
				describe(references[0].object()), s.plane(key).name, Name, err)
		}
	}
	s.say("admission and interpreter are registered")
	return nil
}
