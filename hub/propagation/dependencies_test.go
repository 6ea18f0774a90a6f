// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package propagation

import (
	"slices"
	"testing"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/policies"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// identify gives each policy of the hub namespace a permanent ID, as Karmada's webhook does, and returns their names.
func (f *fixture) identify(t *testing.T) []string {
	t.Helper()
	var list policyv1alpha1.PropagationPolicyList
	if err := f.Client.List(t.Context(), &list, client.InNamespace(f.HubNamespace)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
		planes.Change(t, f.Planes, &list.Items[i], func(p *policyv1alpha1.PropagationPolicy) {
			metav1.SetMetaDataLabel(&p.ObjectMeta, policyv1alpha1.PropagationPolicyPermanentIDLabel, "id-of-"+p.Name)
		})
	}
	return names
}

// claimed returns the policy that claims the copy.
func (f *fixture) claimed(t *testing.T) string {
	t.Helper()
	copied := read(t, f, f.copied())
	name := copied.Annotations[policyv1alpha1.PropagationPolicyNameAnnotation]
	if id := copied.Labels[policyv1alpha1.PropagationPolicyPermanentIDLabel]; name != "" && id != "id-of-"+name {
		t.Errorf("the copy is claimed by %s with the ID %s", name, id)
	}
	if namespace := copied.Annotations[policyv1alpha1.PropagationPolicyNamespaceAnnotation]; name != "" && namespace != f.HubNamespace {
		t.Errorf("the copy is claimed by a policy in %q", namespace)
	}
	return name
}

// nameSecret names a Secret in the template of the original, or none.
func (f *fixture) nameSecret(t *testing.T, secret string) {
	t.Helper()
	planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Template.Spec.Volumes = nil
		if secret != "" {
			d.Spec.Template.Spec.Volumes = []v1alpha.InstanceVolume{{
				Name: "data", InstanceVolumeSource: v1alpha.InstanceVolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}},
			}}
		}
	})
}

// TestACopyThatGetsDependencies moves from one policy to the other, and stays there.
func TestACopyThatGetsDependencies(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	without, with := policies.IndependentCityPolicyName(f.city), policies.CityPolicyName(f.city)
	f.mustReconcile(t, "web")
	if got := f.identify(t); !slices.Equal(got, []string{without}) {
		t.Fatalf("a deployment without dependencies has the policies %v", got)
	}
	f.mustReconcile(t, "web")
	if got := f.claimed(t); got != without {
		t.Errorf("a copy without dependencies is claimed by %q", got)
	}

	f.nameSecret(t, "settings")
	f.mustReconcile(t, "web")
	f.identify(t)
	f.mustReconcile(t, "web")
	copied := read(t, f, f.copied())
	if _, labelled := copied.Labels[v1alpha.LabelDependencies]; labelled || f.claimed(t) != with {
		t.Errorf("a copy with a Secret is claimed by %q: %+v", f.claimed(t), copied.ObjectMeta)
	}

	f.nameSecret(t, "")
	f.mustReconcile(t, "web")
	if got := f.claimed(t); got != with {
		t.Errorf("when it names none any more, and its cells may still have the Secret, it is claimed by %q", got)
	}
	if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
		t.Errorf("it does not settle: %v", writes)
	}
}

// TestFromOnePolicyToTheOther: a single write moves the copy, so that Karmada never finds it without a policy.
func TestFromOnePolicyToTheOther(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := planes.Create(t, f.Planes, f.Deployment("other", f.city))
	planes.Change(t, f.Planes, other, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.ScaleSettings.MinReplicas = naming.InlineInstances + 1
	})
	f.mustReconcile(t, "other")
	f.mustReconcile(t, "web")
	names := f.identify(t)
	if want := []string{policies.CityPolicyName(f.city), policies.IndependentCityPolicyName(f.city)}; !slices.Equal(names, want) {
		t.Fatalf("a deployment with slices and one without have the policies %v, want %v", names, want)
	}
	f.mustReconcile(t, "web")
	f.nameSecret(t, "settings")
	writes := f.mustReconcile(t, "web")
	if got := f.claimed(t); got != policies.CityPolicyName(f.city) || len(writes) != 1 {
		t.Errorf("it is claimed by %q after %v", got, writes)
	}
}

// TestACopyOfAnEarlierVersion stays with its policy: leaving it would delete its dependencies from its cells.
func TestACopyOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	planes.Change(t, f.Planes, f.copied(), func(d *v1alpha.WorkloadDeployment) { delete(d.Labels, v1alpha.LabelDependencies) })
	f.mustReconcile(t, "web")
	f.identify(t)
	f.mustReconcile(t, "web")
	if got := f.claimed(t); got != policies.CityPolicyName(f.city) {
		t.Errorf("it is claimed by %q", got)
	}
}

// TestAClaimIsRestored: Karmada removes the claim with a policy that is deleted.
func TestAClaimIsRestored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	f.identify(t)
	f.mustReconcile(t, "web")
	planes.Change(t, f.Planes, f.copied(), func(d *v1alpha.WorkloadDeployment) {
		delete(d.Labels, policyv1alpha1.PropagationPolicyPermanentIDLabel)
		delete(d.Annotations, policyv1alpha1.PropagationPolicyNameAnnotation)
	})
	f.mustReconcile(t, "web")
	if got := f.claimed(t); got != policies.IndependentCityPolicyName(f.city) {
		t.Errorf("it is claimed by %q", got)
	}
}

// TestAClaimOfAnotherPolicyIsReplaced: a policy of another party, of whatever priority, that has taken a copy loses it.
// Karmada goes by the claim of a policy in the namespace first, so that a claim of a ClusterPropagationPolicy beside it has
// no effect.
func TestAClaimOfAnotherPolicyIsReplaced(t *testing.T) {
	t.Parallel()
	for name, claim := range map[string]func(*v1alpha.WorkloadDeployment){
		"in the namespace": func(d *v1alpha.WorkloadDeployment) {
			d.Labels[policyv1alpha1.PropagationPolicyPermanentIDLabel] = "theirs"
			d.Annotations[policyv1alpha1.PropagationPolicyNameAnnotation] = "higher"
		},
		"of the cluster": func(d *v1alpha.WorkloadDeployment) {
			delete(d.Labels, policyv1alpha1.PropagationPolicyPermanentIDLabel)
			delete(d.Annotations, policyv1alpha1.PropagationPolicyNameAnnotation)
			delete(d.Annotations, policyv1alpha1.PropagationPolicyNamespaceAnnotation)
			d.Labels[policyv1alpha1.ClusterPropagationPolicyPermanentIDLabel] = "theirs"
			d.Annotations[policyv1alpha1.ClusterPropagationPolicyAnnotation] = "higher"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.mustReconcile(t, "web")
			f.identify(t)
			f.mustReconcile(t, "web")
			planes.Change(t, f.Planes, f.copied(), claim)
			f.mustReconcile(t, "web")
			if got := f.claimed(t); got != policies.IndependentCityPolicyName(f.city) {
				t.Errorf("it is claimed by %q", got)
			}
			if writes := f.mustReconcile(t, "web"); len(writes) > 0 {
				t.Errorf("it does not settle: %v", writes)
			}
		})
	}
}

// TestBothPoliciesGo: both policies are deleted with the last deployment of the city.
func TestBothPoliciesGo(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustReconcile(t, "web")
	f.nameSecret(t, "settings")
	f.mustReconcile(t, "web")
	if got := f.identify(t); len(got) != 2 {
		t.Fatalf("the policies are %v", got)
	}
	planes.Delete(t, f.Planes, f.original)
	f.mustReconcile(t, "web")
	f.mustReconcile(t, "web")
	if got := f.identify(t); len(got) > 0 {
		t.Errorf("the policies %v stay", got)
	}
}
