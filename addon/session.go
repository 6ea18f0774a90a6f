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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	// known are the objects that this run or an earlier one listed as created. rendered are the objects that this run has
	// rendered.
	known, rendered inventory
	// withheld is the agents' Deployment, until the replicas are updated.
	withheld *unstructured.Unstructured
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
		if s.known.has(key, r) {
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
		if referenceOf(object).isCRD() {
			if err := s.plane(key).established(ctx, object.GetName(), s.options.karmada.timeout); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply applies an object, as soon as a namespace of an earlier installation is deleted.
func (s *session) apply(ctx context.Context, key string, object *unstructured.Unstructured) error {
	said := false
	var reason error
	err := wait.PollUntilContextTimeout(ctx, pollInterval, s.options.karmada.timeout, true, func(ctx context.Context) (bool, error) {
		namespace, ending := cmp.Or(object.GetNamespace(), object.GetName()), false
		if object.GetKind() == "Namespace" {
			found := referenceOf(object).object()
			ending = s.plane(key).Get(ctx, client.ObjectKeyFromObject(object), found) == nil && found.GetDeletionTimestamp() != nil
		}
		if !ending {
			reason = s.plane(key).apply(ctx, object)
			ending = apierrors.HasStatusCause(reason, corev1.NamespaceTerminatingCause)
		}
		if ending && !said {
			s.say("waiting until namespace %s at %s, which is being deleted, is gone", namespace, s.plane(key).name)
			said = true
		}
		if ending {
			return false, nil
		}
		return reason == nil, reason
	})
	if wait.Interrupted(err) {
		return errors.Join(err, reason)
	}
	return err
}

// render renders one part of the chart: host, hub or milo.
func (s *session) render(part string) ([]*unstructured.Unstructured, error) {
	values := map[string]any{}
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
			if e.isCRD() || e.Adopted || s.rendered.has(key, e.reference) {
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
			if e.isCRD() || s.rendered.has(key, e.reference) {
				kept.add(key, e)
			}
		}
	}
	s.known = kept
	return s.known.write(ctx, s.host, s.options.karmada.namespace)
}
