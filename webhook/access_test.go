// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook"
)

// withSecret adds a Secret as a volume that the container mounts.
func withSecret(name string) func(*v1alpha.Workload) {
	return func(w *v1alpha.Workload) {
		spec := &w.Spec.Template.Spec
		spec.Volumes = []v1alpha.InstanceVolume{{Name: "data", InstanceVolumeSource: v1alpha.InstanceVolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: name},
		}}}
		spec.Runtime.Sandbox.Containers[0].VolumeAttachments = []v1alpha.VolumeAttachment{{Name: "data", MountPath: new("/data")}}
	}
}

func onNetworks(names ...string) func(*v1alpha.Workload) {
	return func(w *v1alpha.Workload) {
		w.Spec.Template.Spec.NetworkInterfaces = nil
		for _, name := range names {
			namespace, network, found := strings.Cut(name, "/")
			if !found {
				namespace, network = "", name
			}
			w.Spec.Template.Spec.NetworkInterfaces = append(w.Spec.Template.Spec.NetworkInterfaces,
				v1alpha.InstanceNetworkInterface{Network: v1alpha.NetworkReference{Name: network, Namespace: namespace}})
		}
	}
}

func TestAccess(t *testing.T) {
	image := func(w *v1alpha.Workload) {
		w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = "docker.io/library/other:1"
	}
	both := func(fs ...func(*v1alpha.Workload)) *v1alpha.Workload {
		w := workload("DFW")
		for _, f := range fs {
			f(w)
		}
		return w
	}
	cases := map[string]struct {
		before, now *v1alpha.Workload
		off         string
		refuse      []string
		wantAsked   []string
		wantRefused []string
	}{
		"a network and a Secret": {
			now: both(withSecret("password")), wantAsked: []string{"get secrets password", "use networks default"},
		},
		"several networks": {
			now: both(onNetworks("a", "b", "c")), refuse: []string{"a", "c"},
			wantAsked:   []string{"use networks a", "use networks b", "use networks c"},
			wantRefused: []string{"networkInterfaces[0].network", "networkInterfaces[2].network", "not yours"},
		},
		"a Secret that the user may not get": {
			now: both(withSecret("password")), refuse: []string{"password"},
			wantAsked:   []string{"get secrets password", "use networks default"},
			wantRefused: []string{"volumes[0].secret", `"consumer" may not get secrets "password"`},
		},
		"scaling asks nothing": {
			before: both(withSecret("password")), refuse: []string{"password", "default"},
			now: both(withSecret("password"), func(w *v1alpha.Workload) { w.Spec.Placements[0].ScaleSettings.MinReplicas = 2 }),
		},
		"another image asks about data again, and not about networks": {
			before: both(withSecret("password")), now: both(withSecret("password"), image), refuse: []string{"default"},
			wantAsked: []string{"get secrets password"},
		},
		"another network": {
			before: both(onNetworks("a")), now: both(onNetworks("b")), wantAsked: []string{"use networks b"},
		},
		"a network of another namespace": {
			now: both(onNetworks("shared/a")), refuse: []string{"a"}, wantAsked: []string{"use networks shared/a"},
			wantRefused: []string{"networkInterfaces[0].network", `in namespace "shared"`},
		},
		"all keys of a ConfigMap": {
			now: both(func(w *v1alpha.Workload) {
				w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].EnvFrom = []corev1.EnvFromSource{{
					ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}},
				}}
			}),
			refuse: []string{"settings"}, wantAsked: []string{"get configmaps settings", "use networks default"},
			wantRefused: []string{"containers[0].envFrom[0].configMapRef.name"},
		},
		"networks turned off": {
			now: both(withSecret("password")), off: "NetworkAccessReview=false", wantAsked: []string{"get secrets password"},
		},
		"data turned off": {
			now: both(withSecret("password")), off: "ReferencedDataAccessReview=false", wantAsked: []string{"use networks default"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := newProjects()
			p.asked = make(chan authorizationv1.SubjectAccessReviewSpec, 100)
			for _, refused := range c.refuse {
				p.refuse[refused] = true
			}
			gate := webhook.NewFeatureGate()
			if c.off != "" {
				if err := gate.Set(c.off); err != nil {
					t.Fatal(err)
				}
			}
			request := creation(t, c.now)
			if c.before != nil {
				request = update(t, c.before, c.now)
			}
			response := (&webhook.Workloads{Projects: p, Features: gate}).Handle(t.Context(), request)
			close(p.asked)
			var asked []string
			for review := range p.asked {
				checkUser(t, review)
				attributes := review.ResourceAttributes
				name := attributes.Name
				if attributes.Namespace != "default" {
					name = attributes.Namespace + "/" + name
				}
				asked = append(asked, attributes.Verb+" "+attributes.Resource+" "+name)
			}
			slices.Sort(asked)
			if !slices.Equal(asked, c.wantAsked) {
				t.Errorf("asked %q, want %q", asked, c.wantAsked)
			}
			if response.Allowed != (len(c.wantRefused) == 0) {
				t.Fatalf("allowed: %t, result %+v", response.Allowed, response.Result)
			}
			for _, want := range c.wantRefused {
				if !strings.Contains(response.Result.Message, want) {
					t.Errorf("message %q lacks %q", response.Result.Message, want)
				}
			}
		})
	}
}

// checkUser: Milo's authorizer denies everything to a user without the extras.
func checkUser(t *testing.T, review authorizationv1.SubjectAccessReviewSpec) {
	t.Helper()
	if review.User != "consumer" || review.UID != "7" || !slices.Equal(review.Groups, []string{"team"}) {
		t.Errorf("the review is for %q, %q, %q", review.User, review.UID, review.Groups)
	}
	if got := review.Extra["iam.miloapis.com/parent-name"]; !slices.Equal(got, []string{"north"}) || len(review.Extra) != 3 {
		t.Errorf("extras are %v", review.Extra)
	}
}
