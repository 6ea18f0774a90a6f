// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/charts"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// session is one run of enable or disable.
type session struct {
	options *options
	out     io.Writer
	began   time.Time

	host, hub *plane
	// milo is Milo's root with the permissions of an administrator, miloUser with the add-on's, miloWebhook with the
	// permissions of Pods that serve webhooks only.
	milo, miloUser, miloWebhook *plane

	values map[string]any
	// miloUserName is the add-on's user at Milo, and miloCredentials its kubeconfig.
	miloUserName    string
	miloCredentials []byte
	// miloWebhookName and miloWebhookCredentials belong to Pods that serve webhooks only.
	miloWebhookName        string
	miloWebhookCredentials []byte
	hubAddress             hubAddress
	// karmadaVersion is the version of Karmada on the host; nil: it is not known.
	karmadaVersion *version.Version
	// objects are the rendered objects of each part. The host's are rendered again when the credentials are known.
	objects map[string][]*unstructured.Unstructured
	// known are the objects that this run or an earlier one listed as created. rendered are the objects that this run has
	// rendered.
	known, rendered inventory
	// withheld is the agents' Deployment, until the replicas are updated.
	withheld *unstructured.Unstructured
	// terminating are the CustomResourceDefinitions that were being deleted when they were applied.
	terminating []terminating
	// agentsFirst reports that this run goes back to an earlier version.
	agentsFirst bool
}

// connect creates clients. It sends no request.
func (o *options) connect() (*session, error) {
	s := &session{options: o, out: reasons.CleanWriter(os.Stdout), began: time.Now(), rendered: inventory{}}
	var err error
	if s.host, err = newPlane("the host", o.karmada.hostKubeconfig, o.karmada.hostContext); err != nil {
		return nil, err
	}
	if s.hub, err = newPlane("the hub", o.karmada.hubKubeconfig, o.karmada.hubContext); err != nil {
		return nil, err
	}
	if o.miloKubeconfig != "" {
		if s.miloUser, err = newPlane("Milo's root, as the add-on,", o.miloKubeconfig, ""); err != nil {
			return nil, err
		}
		s.milo, err = newPlane("Milo's root", o.miloKubeconfig, "")
	}
	if o.miloWebhookKubeconfig != "" && err == nil {
		s.miloWebhook, err = newPlane("Milo's root, as the webhooks,", o.miloWebhookKubeconfig, "")
	}
	if o.miloAdminKubeconfig != "" && err == nil {
		s.milo, err = newPlane("Milo's root", o.miloAdminKubeconfig, "")
	}
	return s, err
}

// say prints one line of progress.
func (s *session) say(format string, args ...any) {
	fmt.Fprintf(s.out, "%6.1fs  %s\n", time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
}

// planes are the parts of the chart other than the host's.
func (s *session) planes() []string {
	if isWithoutMilo(s.values) {
		return []string{onHub}
	}
	return []string{onHub, atMilo}
}

// planeNames are the names of these parts in messages.
func (s *session) planeNames() string {
	if isWithoutMilo(s.values) {
		return "the hub"
	}
	return "the hub and Milo"
}

// plane is the plane for a key of the inventory.
func (s *session) plane(key string) *plane {
	return map[string]*plane{onHost: s.host, onHub: s.hub, atMilo: s.milo}[key]
}

// create applies objects of one plane. They are listed in the inventory first, so that an interrupted run loses none.
func (s *session) create(ctx context.Context, key string, objects ...*unstructured.Unstructured) error {
	if s.known == nil {
		s.known = inventory{}
	}
	before := len(s.known[key])
	for _, object := range objects {
		r := referenceOf(object)
		s.rendered.add(key, entry{reference: r})
		if s.known.lists(key, r) {
			continue
		}
		existed, err := s.plane(key).exists(ctx, r)
		if err != nil {
			return err
		}
		s.known.add(key, entry{r, existed})
	}
	if len(s.known[key]) > before {
		if err := s.known.write(ctx, s.host, s.options.karmada.namespace); err != nil {
			return err
		}
	}
	for _, object := range objects {
		if err := s.apply(ctx, key, object); err != nil {
			return err
		}
	}
	return nil
}

// kindTimeout is how long enable waits for a CustomResourceDefinition that is being deleted before the replicas run. Tests shorten it.
var kindTimeout = 10 * time.Second

// apply applies an object. One that is being deleted would take what is applied with it: apply waits until it is gone. A
// CustomResourceDefinition that does not go may have objects whose finalizers the replicas must remove: it is applied again
// when they run.
func (s *session) apply(ctx context.Context, key string, object *unstructured.Unstructured) error {
	timeout := s.options.karmada.timeout
	if !referenceOf(object).isCRD() {
		return s.applyWithin(ctx, key, object, timeout)
	}
	err := s.applyWithin(ctx, key, object, min(timeout, kindTimeout))
	if !errors.Is(err, errTerminating) || ctx.Err() != nil {
		return err
	}
	s.terminating = append(s.terminating, terminating{key, object})
	return s.plane(key).apply(ctx, object)
}

// terminating is an object of a plane that is being deleted.
type terminating struct {
	at     string
	object *unstructured.Unstructured
}

var errTerminating = errors.New("it is being deleted, and something holds it: see docs/runbooks/leaving.md")

// applyWithin applies an object when it is not being deleted, and waits until a CustomResourceDefinition is served.
func (s *session) applyWithin(ctx context.Context, key string, object *unstructured.Unstructured, timeout time.Duration) error {
	said, written := false, false
	var reason error
	p := s.plane(key)
	// timeout is for what is being deleted: a request to a busy API server may take longer.
	request, cancel := context.WithTimeout(ctx, s.options.karmada.timeout)
	defer cancel()
	err := wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(context.Context) (bool, error) {
		found, ending := referenceOf(object).object(), ""
		switch err := p.Get(request, client.ObjectKeyFromObject(object), found); {
		case err == nil && found.GetDeletionTimestamp() != nil:
			ending = describe(object)
		case err == nil && isApplied(found, object):
			return true, nil
		case err == nil || apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
			written = true
			if reason = p.apply(request, object); apierrors.HasStatusCause(reason, corev1.NamespaceTerminatingCause) {
				ending = "Namespace " + object.GetNamespace()
			}
		default:
			// It is asked again until the timeout. That it is being deleted is the better reason.
			reason = cmp.Or(reason, err)
			return false, nil
		}
		if ending == "" {
			return reason == nil, reason
		}
		if !said {
			s.say("waiting until %s at %s, which is being deleted, is gone", ending, p.name)
			said = true
		}
		reason = fmt.Errorf("%s at %s: %w", ending, p.name, errTerminating)
		return false, nil
	})
	if wait.Interrupted(err) {
		return errors.Join(err, reason)
	}
	if err == nil && written && referenceOf(object).isCRD() {
		return p.established(ctx, object.GetName(), s.options.karmada.timeout)
	}
	return err
}

// renewKinds applies the CustomResourceDefinitions again that were being deleted, when they are gone: by now the replicas
// have removed the finalizers of their objects.
func (s *session) renewKinds(ctx context.Context) error {
	for _, candidate := range s.terminating {
		if err := s.applyWithin(ctx, candidate.at, candidate.object, s.options.karmada.timeout); err != nil {
			return err
		}
	}
	return nil
}

// render renders one part of the chart: host, hub or milo.
func (s *session) render(part string) ([]*unstructured.Unstructured, error) {
	// The tokens that enable stores expire.
	values := nested([]string{"access", "renew"}, true)
	merge(values, s.values)
	if !isWithoutMilo(values) {
		// The chart's own default is namespaces. `disable` has no values, and knows the mode from what is installed.
		merge(values, nested([]string{"projects", "mode"}, modeMilo))
	}
	for _, other := range []string{onHost, onHub, atMilo} {
		merge(values, nested([]string{other, "enabled"}, other == part))
	}
	namespace := s.options.karmada.namespace
	if part != onHost {
		namespace = hubNamespace
	}
	objects, err := charts.Render(values, charts.Release{Name: Name, Namespace: namespace, ManagedBy: "karmadactl"})
	if err != nil {
		return nil, fmt.Errorf("the values of --compute-values and the flags do not fit the chart: %w", err)
	}
	return objects, nil
}

// prune deletes objects that an earlier run created and this run does not render. CRDs and adopted objects stay. Pods
// end before their credentials and roles are deleted.
func (s *session) prune(ctx context.Context) error {
	kept := inventory{}
	for _, key := range []string{onHost, onHub, atMilo} {
		entries := s.known[key]
		for _, e := range slices.Backward(entries) {
			if e.isCRD() || e.Adopted || s.rendered.lists(key, e.reference) {
				continue
			}
			s.say("deleting %s at %s, which is not part of it any more", describe(e.object()), s.plane(key).name)
			remove := s.plane(key).remove
			if key == onHost && e.Kind == "Deployment" {
				remove = s.stopDeployment
			}
			if err := remove(ctx, e.reference); err != nil {
				return err
			}
		}
		for _, e := range entries {
			if e.isCRD() || s.rendered.lists(key, e.reference) {
				kept.add(key, e)
			}
		}
	}
	s.known = kept
	return s.known.write(ctx, s.host, s.options.karmada.namespace)
}
