// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/deployments"
)

// newImageOf2Gi is a template that asks for more memory than the Pods of the tests have.
func newImageOf2Gi(d *v1alpha.WorkloadDeployment) {
	newImage(d)
	d.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Resources = &v1alpha.ContainerResourceRequirements{
		Limits:   corev1.ResourceList{corev1.ResourceMemory: quantity("2Gi")},
		Requests: corev1.ResourceList{corev1.ResourceMemory: quantity("2Gi")},
	}
}

// quota lets the namespace use so much of a resource.
func (f *fixture) quota(name corev1.ResourceName, hard, used string) {
	f.t.Helper()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "of-the-cell"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{name: quantity(hard)}},
	}
	f.create(quota)
	quota.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: corev1.ResourceList{name: quantity(used)}}
	if err := f.direct.Status().Update(f.t.Context(), quota); err != nil {
		f.t.Fatal(err)
	}
	f.refuses(func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: quantity("9Gi")}
	})
}

// limitRange bounds the memory of a container in the namespace.
func (f *fixture) limitRange() {
	f.t.Helper()
	f.create(&corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "of-the-cell"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceMemory: quantity("1Gi")},
		}}},
	})
	f.refuses(func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: quantity("9Gi")}
	})
}

// restrict sets the level of Pod security.
func (f *fixture) restrict() {
	f.t.Helper()
	f.labelNamespace("restricted")
	f.refuses(func(*corev1.Pod) {})
}

func (f *fixture) labelNamespace(level string) {
	f.t.Helper()
	namespace := &corev1.Namespace{}
	if err := f.direct.Get(f.t.Context(), client.ObjectKey{Name: f.namespace}, namespace); err != nil {
		f.t.Fatal(err)
	}
	namespace.Labels["pod-security.kubernetes.io/enforce"] = level
	f.update(namespace)
}

// silentWebhook registers a webhook for Pods of the namespace that does not answer.
func (f *fixture) silentWebhook() {
	f.t.Helper()
	none, fail := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Fail
	hook := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: f.namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "silent.example.com", SideEffects: &none, FailurePolicy: &fail, AdmissionReviewVersions: []string{"v1"},
			ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/")},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: f.namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
		}},
	}
	f.create(hook)
	f.t.Cleanup(func() { _ = f.direct.Delete(context.Background(), hook) })
	f.refuses(func(*corev1.Pod) {})
}

// refuses waits until the admission of the namespace refuses a Pod.
func (f *fixture) refuses(change func(*corev1.Pod)) {
	f.t.Helper()
	f.eventually("the cell refuses Pods", func(ctx context.Context) bool {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "tried"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "example.com/app"}}},
		}
		change(pod)
		return f.direct.Create(ctx, pod, client.DryRunAll) != nil
	})
}

// releases removes what refuses Pods, and waits until the admission has noticed.
func (f *fixture) releases() {
	f.t.Helper()
	f.labelNamespace("privileged")
	for _, object := range []client.Object{
		&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "of-the-cell"}},
		&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "of-the-cell"}},
		&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}},
	} {
		if err := f.direct.Delete(f.t.Context(), object); client.IgnoreNotFound(err) != nil {
			f.t.Fatal(err)
		}
	}
	f.eventually("the cell accepts Pods", func(ctx context.Context) bool {
		pod := f.storedPod("web-1")
		pod.ResourceVersion, pod.UID, pod.Spec.NodeName = "", "", ""
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{
			Limits: corev1.ResourceList{corev1.ResourceMemory: quantity("2Gi")},
		}
		return apierrors.IsAlreadyExists(f.direct.Create(ctx, pod, client.DryRunAll))
	})
}

// templateAccepted reports, and returns the condition.
func (f *fixture) templateAccepted() *metav1.Condition {
	f.t.Helper()
	f.rollUp()
	return meta.FindStatusCondition(f.storedDeployment().Status.Conditions, v1alpha.ConditionTemplateAccepted)
}

// asking counts the requests to create a Pod, which are dry runs.
func (f *fixture) asking() (*deployments.Reconciler, *atomic.Int32) {
	count, r := &atomic.Int32{}, f.deployments()
	r.Client = f.beforeWrites(func(verb string) error {
		if verb == "create" {
			count.Add(1)
		}
		return nil
	})
	r.Trial.Client = r.Client
	return r, count
}

// TestRefusedTemplate: an Instance runs on if the cell would refuse the Pod of its next template. The deployment names
// the party that refuses it, and the cell asks once a minute, for all Instances.
func TestRefusedTemplate(t *testing.T) {
	for name, test := range map[string]struct {
		given   func(*fixture)
		reason  string
		message string
	}{
		"a quota": {
			given:  func(f *fixture) { f.quota(corev1.ResourceRequestsMemory, "1Gi", "0") },
			reason: v1alpha.ReasonCellQuotaExceeded, message: "exceeded quota: of-the-cell",
		},
		"a limit": {given: (*fixture).limitRange, reason: v1alpha.ReasonPodRefused, message: "maximum memory usage per Container is 1Gi"},
		"Pod security": {
			given: (*fixture).restrict, reason: v1alpha.ReasonPodRefused, message: `violates PodSecurity "restricted:latest"`,
		},
		"a webhook that does not answer": {
			given: (*fixture).silentWebhook, reason: v1alpha.ReasonPodRefused, message: `failed calling webhook "silent.example.com"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.runsTwo()
			test.given(f)
			f.send(newImageOf2Gi)
			r, asked := f.asking()
			for range 3 {
				if result := f.reconcile(r, "web"); result.RequeueAfter != 15*time.Second {
					t.Errorf("it asks again after %s", result.RequeueAfter)
				}
			}
			f.wantKept(asked)
			got := f.templateAccepted()
			if got == nil || got.Status != metav1.ConditionFalse || got.Reason != test.reason ||
				!strings.Contains(got.Message, "Instance web-1") || !strings.Contains(got.Message, test.message) {
				t.Fatalf("the condition is %+v", got)
			}
			f.releases()
			f.wantContinued(r, asked)
		})
	}
}

// wantKept wants both Instances to run on after one dry run.
func (f *fixture) wantKept(asked *atomic.Int32) {
	t := f.t
	t.Helper()
	if got := f.replaced(); len(got) > 0 || f.image("web-1") != "example.com/app" || asked.Load() != 1 {
		t.Fatalf("%v are replaced after %d dry runs", got, asked.Load())
	}
	for _, name := range []string{"web-0", "web-1"} {
		if pod := f.storedPod(name); pod == nil || !pod.DeletionTimestamp.IsZero() {
			t.Errorf("Pod %s is stopped", name)
		}
	}
}

// wantContinued wants, when the answer does not count any more, after another dry run, an Instance to be replaced.
func (f *fixture) wantContinued(r *deployments.Reconciler, asked *atomic.Int32) {
	t := f.t
	t.Helper()
	f.clock.SetTime(now.Add(15 * time.Second))
	if result := f.reconcile(r, "web"); result.RequeueAfter != time.Second {
		t.Errorf("it replaces Instances after %s", result.RequeueAfter)
	}
	f.reconcile(r, "web")
	if got := f.replaced(); !slices.Equal(got, []string{"web-1"}) || asked.Load() != 2 {
		t.Errorf("%v are replaced after %d dry runs", got, asked.Load())
	}
	if got := f.templateAccepted(); got != nil {
		t.Errorf("the condition is %+v", got)
	}
}

// TestQuotaThatTheEarlierPodFrees: a quota that is used up by the Pods that run does not keep them from being replaced.
func TestQuotaThatTheEarlierPodFrees(t *testing.T) {
	for name, quota := range map[string][3]string{
		"Pods":                           {"pods", "2", "2"},
		"the memory of the earlier Pods": {"requests.memory", "3Gi", "3Gi"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			deployment := f.deployment(2, halfAtOnce, func(d *v1alpha.WorkloadDeployment) { sent(t, d) })
			for index := range 2 {
				instance := f.instance(deployment, index)
				f.setPod(f.pod(instance, func(p *corev1.Pod) {
					p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: quantity("1536Mi")}
				}), readyAt(now.Add(-time.Minute)))
				f.reconcile(f.runtime(), instance.Name)
			}
			f.onNode("node", "web-0", "web-1")
			f.quota(corev1.ResourceName(quota[0]), quota[1], quota[2])
			f.send(newImage)
			f.reconcile(f.deployments(), "web")
			if got := f.replaced(); !slices.Equal(got, []string{"web-1"}) {
				t.Errorf("%v are replaced", got)
			}
			if got := f.templateAccepted(); got != nil {
				t.Errorf("the condition is %+v", got)
			}
		})
	}
}

// TestRefusedTemplateOfABrokenInstance: what does not serve is replaced in any case, and its own status has the refusal.
// A template that is changed back is refused no more.
func TestRefusedTemplateOfABrokenInstance(t *testing.T) {
	f := newFixture(t)
	f.runsTwo()
	f.restrict()
	f.send(newImage)
	f.reconcile(f.deployments(), "web")
	f.wantEvent("Warning PodRefused Instance web-1 keeps its template: the cell refuses the Pod: ")
	f.setPod(f.storedPod("web-0"), corev1.PodStatus{
		Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}},
	})
	f.clock.SetTime(now.AddDate(0, 0, 1))
	f.reconcile(f.runtime(), "web-0")
	f.reconcile(f.deployments(), "web")
	if got := f.replaced(); !slices.Equal(got, []string{"web-0"}) {
		t.Errorf("%v are replaced", got)
	}
	f.remove(f.storedPod("web-0"))
	f.reconcile(f.runtime(), "web-0")
	f.wantReady("web-0", "-"+v1alpha.ReasonPodRefused)
	if got := f.templateAccepted(); got == nil || got.Reason != v1alpha.ReasonPodRefused {
		t.Errorf("the condition is %+v", got)
	}
	f.send(func(d *v1alpha.WorkloadDeployment) { d.Spec.Template = template() })
	if got := f.templateAccepted(); got != nil {
		t.Errorf("after the change back the condition is %+v", got)
	}
	f.reconcile(f.deployments(), "web")
	if note, found := f.storedInstance("web-1").Annotations[v1alpha.AnnotationRefused]; found {
		t.Errorf("web-1 has the note %q", note)
	}
}
