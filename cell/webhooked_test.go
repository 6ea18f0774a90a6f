// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/autoscaler"
	"github.com/karmada-compute/karmada-compute/cell/disruption"
	"github.com/karmada-compute/karmada-compute/cell/isolation"
)

// mutates registers a mutating webhook of the cell for a resource of the namespace, which sets these values by their JSON
// paths.
func (f *fixture) mutates(group, version, resource string, values map[string]any) {
	f.t.Helper()
	var operations []map[string]any
	for path, value := range values {
		operations = append(operations, map[string]any{"op": "add", "path": path, "value": value})
	}
	patch, err := json.Marshal(operations)
	if err != nil {
		f.t.Fatal(err)
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		review := &admissionv1.AdmissionReview{}
		if err := json.NewDecoder(r.Body).Decode(review); err != nil {
			f.t.Error(err)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{
			UID: review.Request.UID, Allowed: true, Patch: patch, PatchType: new(admissionv1.PatchTypeJSONPatch),
		}
		_ = json.NewEncoder(w).Encode(review)
	}))
	f.t.Cleanup(server.Close)
	hook := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: f.namespace + "-" + resource},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: resource + ".example.com", SideEffects: new(admissionregistrationv1.SideEffectClassNone),
			FailurePolicy: new(admissionregistrationv1.Fail), AdmissionReviewVersions: []string{"v1"},
			ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: &server.URL, CABundle: certificate(server)},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: f.namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource},
				},
			}},
		}},
	}
	f.create(hook)
	f.t.Cleanup(func() { _ = f.direct.Delete(context.Background(), hook) })
}

// TestAWebhookOfTheCell: what a mutating webhook of the cell sets in an object of the agent stays, and the agent does not
// write the object again and again. Fields of the agent follow its deployment.
func TestAWebhookOfTheCell(t *testing.T) {
	f := newFixture(t)
	f.mutates("autoscaling", "*", "horizontalpodautoscalers", map[string]any{
		"/spec/behavior": map[string]any{"scaleDown": map[string]any{"stabilizationWindowSeconds": 900}},
	})
	f.mutates("networking.k8s.io", "v1", "networkpolicies", map[string]any{
		"/spec/policyTypes": []string{"Ingress", "Egress"}, "/spec/egress": []any{map[string]any{}},
	})
	f.mutates("policy", "v1", "poddisruptionbudgets", map[string]any{"/spec/unhealthyPodEvictionPolicy": "IfHealthyBudget"})
	f.deployment(2, autoscaled(6), func(d *v1alpha.WorkloadDeployment) {
		withFloor(6, 1, 1)(d)
	})
	reconcilers := func(c client.Client) []reconcile.Reconciler {
		return []reconcile.Reconciler{
			&autoscaler.Reconciler{Client: c}, &isolation.Reconciler{Client: c},
			&disruption.Reconciler{Client: c, APIReader: f.direct, Clock: f.clock},
		}
	}
	scaler, policy, budget := &autoscalingv2.HorizontalPodAutoscaler{}, &networkingv1.NetworkPolicy{}, &policyv1.PodDisruptionBudget{}
	stored := func() {
		t.Helper()
		f.get(scaler, "web")
		f.get(policy, isolation.NamespacePolicy)
		f.get(budget, "web")
	}
	f.eventually("the webhooks are called", func(ctx context.Context) bool {
		for _, r := range reconcilers(f.cached) {
			f.reconcile(r, "web")
		}
		stored()
		webhooked := scaler.Spec.Behavior != nil && len(policy.Spec.PolicyTypes) == 2 &&
			ptr.Deref(budget.Spec.UnhealthyPodEvictionPolicy, "") == policyv1.IfHealthyBudget
		if !webhooked {
			for _, one := range []client.Object{scaler, policy, budget} {
				_ = f.direct.Delete(ctx, one)
			}
		}
		return webhooked
	})
	for range 3 {
		for _, r := range reconcilers(f.readOnly()) {
			f.reconcile(r, "web")
		}
	}
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) {
		d.Spec.ScaleSettings.MaxReplicas = new(int32(5))
		d.Spec.Assignment.Cells[0].Floor = &v1alpha.AvailabilityFloor{MinAvailable: 2, Sequence: 2}
	})
	policy.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{}}
	f.update(policy)
	for _, r := range reconcilers(f.cached) {
		f.reconcile(r, "web")
	}
	stored()
	if scaler.Spec.MaxReplicas != 5 || *scaler.Spec.Behavior.ScaleDown.StabilizationWindowSeconds != 900 {
		t.Errorf("autoscaler %+v", scaler.Spec)
	}
	if len(policy.Spec.Ingress) != 0 || len(policy.Spec.PolicyTypes) != 2 || len(policy.Spec.Egress) != 1 {
		t.Errorf("policy %+v", policy.Spec)
	}
	if *budget.Spec.MinAvailable != intstr.FromInt32(2) {
		t.Errorf("budget %+v", budget.Spec)
	}
}

// TestABehaviorThatEnds: a field that the agent has set and no longer asks for is removed, also beside fields of others.
func TestABehaviorThatEnds(t *testing.T) {
	f := newFixture(t)
	f.deployment(2, autoscaled(6), func(d *v1alpha.WorkloadDeployment) {
		d.Spec.ScaleSettings.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{
			ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(60))},
		}
	})
	f.reconcileAutoscaler()
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.ScaleSettings.Behavior = nil })
	f.reconcileAutoscaler()
	scaler := &autoscalingv2.HorizontalPodAutoscaler{}
	f.get(scaler, "web")
	if scaler.Spec.Behavior != nil {
		t.Errorf("behavior %+v", scaler.Spec.Behavior)
	}
}

// newBalanced is a Workload with a Service of a load balancer of this class.
func newBalanced(t *testing.T, class string) (*fixture, *v1alpha.Cell) {
	t.Helper()
	f := newFixture(t)
	hub := "hub-of-" + f.namespace
	f.labelHub(f.namespace, hub)
	cell := f.cell(types.UID(hub))
	f.configure(cell, class, nil)
	f.deployment(1, serving(1, 80), exposed(hub))
	f.reconcile(f.services(), "web")
	return f, cell
}

// TestABalancedServiceOfOthers: what the controllers of a cell set in a Service that a load balancer serves stays, and the
// Service keeps its UID and its addresses.
func TestABalancedServiceOfOthers(t *testing.T) {
	f, _ := newBalanced(t, "")
	service := f.service()
	service.Spec.AllocateLoadBalancerNodePorts = new(false)
	service.Spec.LoadBalancerIP = "203.0.113.7" // Controllers still set it.
	service.Spec.LoadBalancerSourceRanges = []string{"198.51.100.0/24"}
	service.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	service.Finalizers = append(service.Finalizers, "example.com/lb")
	service.OwnerReferences = append(service.OwnerReferences, metav1.OwnerReference{
		APIVersion: "v1", Kind: "ConfigMap", Name: "theirs", UID: "theirs",
	})
	f.update(service)
	f.reconcile(f.services(f.readOnly()), "web")
	f.changeDeployment(serving(2, 81))
	f.changeDeployment(exposed("hub-of-" + f.namespace))
	f.reconcile(f.services(), "web")
	got := f.service()
	if got.UID != service.UID || got.Spec.Ports[0].Port != 81 || *got.Spec.AllocateLoadBalancerNodePorts ||
		got.Spec.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal || len(got.Spec.LoadBalancerSourceRanges) != 1 ||
		len(got.OwnerReferences) != 2 || len(got.Finalizers) != 1 {
		t.Errorf("Service %+v", got)
	}
	f.changeDeployment(func(d *v1alpha.WorkloadDeployment) { d.Spec.Service.Exposure = "" })
	f.reconcile(f.services(), "web")
	if got := f.service(); got.Spec.Type != corev1.ServiceTypeClusterIP || len(got.Spec.LoadBalancerSourceRanges) != 0 {
		t.Errorf("after its exposure the Service is %+v", got.Spec)
	}
	got = f.service()
	got.Finalizers = nil
	f.update(got)
}

// TestClassOfAWebhook: a class that a webhook of the cell has given the Service is no reason to create it again, whether the
// operator names another one or none. Another class that the operator names is.
func TestClassOfAWebhook(t *testing.T) {
	for _, named := range []string{"", "example.com/operator"} {
		t.Run("operator "+named, func(t *testing.T) { newFixture(t).keepsClass(named) })
	}
}

// keepsClass verifies that a Service for which the operator has named this class keeps the class of a webhook.
func (f *fixture) keepsClass(named string) {
	f.t.Helper()
	hub := "hub-of-" + f.namespace
	f.labelHub(f.namespace, hub)
	cell := f.cell(types.UID(hub))
	f.configure(cell, named, nil)
	f.deployment(1, serving(1, 80), exposed(hub))
	f.mutates("", "v1", "services", map[string]any{"/spec/loadBalancerClass": "example.com/webhook"})
	f.eventually("the webhook is called", func(ctx context.Context) bool {
		f.reconcile(f.services(), "web")
		if ptr.Deref(f.service().Spec.LoadBalancerClass, "") == "example.com/webhook" {
			return true
		}
		_ = f.direct.Delete(ctx, f.service())
		return false
	})
	before := f.service()
	for range 3 {
		f.reconcile(f.services(f.readOnly()), "web")
	}
	f.configure(cell, "example.com/next", nil)
	for range 2 {
		f.reconcile(f.services(), "web")
	}
	if got := f.service(); got == nil || got.UID == before.UID {
		f.t.Errorf("with another class the Service is %+v", got)
	}
}

// TestAClassThatEnds: settings that no longer name a class take no Service away. Its clients would lose the address.
func TestAClassThatEnds(t *testing.T) {
	f, cell := newBalanced(t, "example.com/a")
	before := f.service()
	f.configure(cell, "", nil)
	for range 2 {
		f.reconcile(f.services(), "web")
	}
	if got := f.service(); got == nil || got.UID != before.UID || *got.Spec.LoadBalancerClass != "example.com/a" {
		t.Errorf("Service %+v", got)
	}
	f.reconcile(f.services(f.readOnly()), "web")

	f.configure(cell, "example.com/a", nil)
	for range 2 {
		f.reconcile(f.services(), "web")
	}
	if got := f.service(); got == nil || got.UID != before.UID {
		t.Errorf("with the class named again, the Service is %+v", got)
	}
}

// TestUnknownSettings: without the Cell of the hub nothing says that there is no load balancer: a Service keeps what it has,
// and follows other changes. Settings without a load balancer remove it.
func TestUnknownSettings(t *testing.T) {
	f, cell := newBalanced(t, "example.com/a")
	f.configure(cell, "example.com/a", map[string]string{"example.com/pool": "a"})
	f.reconcile(f.services(), "web")
	f.balance(corev1.LoadBalancerIngress{IP: "203.0.113.9"})
	f.reconcile(f.services(), "web")
	before := f.service()
	stored := &v1alpha.Cell{}
	f.getCell(stored, cell.Name)
	if err := f.direct.Delete(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	f.eventually("the cache has no Cell", func(ctx context.Context) bool {
		return apierrors.IsNotFound(f.cached.Get(ctx, client.ObjectKeyFromObject(cell), &v1alpha.Cell{}))
	})
	f.reconcile(f.services(f.readOnly()), "web")
	f.wantProgrammed("web", v1alpha.ReasonServiceProgrammed)
	f.changeDeployment(serving(2, 81))
	f.changeDeployment(exposed("hub-of-" + f.namespace))
	f.reconcile(f.services(), "web")
	got := f.service()
	if got.UID != before.UID || got.Spec.Type != corev1.ServiceTypeLoadBalancer || *got.Spec.LoadBalancerClass != "example.com/a" ||
		got.Annotations["example.com/pool"] != "a" || got.Spec.Ports[0].Port != 81 || f.reported() != "203.0.113.9" {
		t.Errorf("without a Cell the Service is %+v", got)
	}
	f.create(&v1alpha.Cell{ObjectMeta: metav1.ObjectMeta{Name: cell.Name}, Spec: v1alpha.CellSpec{HubUID: cell.Spec.HubUID, Cell: "member1"}})
	f.syncCell(cell.Name)
	f.reconcile(f.services(), "web")
	f.wantProgrammed("web", v1alpha.ReasonLoadBalancerNotConfigured)
	if got := f.service(); got.Spec.Type != corev1.ServiceTypeClusterIP {
		t.Errorf("without a load balancer the Service is %+v", got.Spec)
	}
}

// TestAddressesForAMoment: a load balancer that shows no address for a moment keeps its addresses in the report, and loses
// them when that lasts.
func TestAddressesForAMoment(t *testing.T) {
	f, _ := newBalanced(t, "")
	f.balance(corev1.LoadBalancerIngress{IP: "203.0.113.9"})
	f.reconcile(f.services(), "web")
	for _, after := range []time.Duration{0, 3 * time.Second, 50 * time.Second} {
		f.balance()
		f.clock.SetTime(now.Add(after))
		f.reconcile(f.services(), "web")
		if got := f.reported(); got != "203.0.113.9" {
			t.Errorf("%s after the status was emptied %q is reported", after, got)
		}
	}
	f.balance(corev1.LoadBalancerIngress{IP: "203.0.113.8"})
	f.reconcile(f.services(), "web")
	if got := f.reported(); got != "203.0.113.8" {
		t.Errorf("with another address %q is reported", got)
	}
	f.balance()
	f.reconcile(f.services(), "web")
	f.clock.SetTime(now.Add(3 * time.Minute))
	f.reconcile(f.services(), "web")
	if got := f.reported(); got != "" {
		t.Errorf("minutes later %q is reported", got)
	}
	f.wantProgrammed("web", v1alpha.ReasonAwaitingAddress)
	f.reconcile(f.services(f.readOnly()), "web")
}

func certificate(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}
