// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook"
)

// TestDefaults: defaults are added, and what this version of the API does not know stays.
func TestDefaults(t *testing.T) {
	w := workload("DFW")
	w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Ports = []v1alpha.NamedPort{{Name: "http", Port: 80}}
	request := creation(t, w)
	request.Object.Raw = []byte(strings.Replace(string(request.Object.Raw), `"spec":{`, `"spec":{"fromTheFuture":{"a":[1]},`, 1))
	response := webhook.Defaults{}.Handle(t.Context(), request)
	if !response.Allowed || len(response.Patches) == 0 {
		t.Fatalf("answer is %+v", response)
	}
	encoded, err := json.Marshal(response.Patches)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := jsonpatch.DecodePatch(encoded)
	if err != nil {
		t.Fatal(err)
	}
	after, err := patch.Apply(request.Object.Raw)
	if err != nil {
		t.Fatal(err)
	}
	var now v1alpha.Workload
	if err := json.Unmarshal(after, &now); err != nil {
		t.Fatal(err)
	}
	port := now.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Ports[0]
	if port.Protocol == nil || *port.Protocol != "TCP" || now.Spec.Placements[0].ScaleSettings.InstanceManagementPolicy != v1alpha.OrderedReady {
		t.Errorf("port is %+v, scale settings are %+v", port, now.Spec.Placements[0].ScaleSettings)
	}
	if !strings.Contains(string(after), `"fromTheFuture":{"a":[1]}`) {
		t.Errorf("a field that is not known was lost: %s", after)
	}
	request.Object = runtime.RawExtension{Raw: after}
	if again := (webhook.Defaults{}).Handle(t.Context(), request); len(again.Patches) > 0 {
		t.Errorf("defaults of what has them: %v", again.Patches)
	}
}

// TestDefaultsOfWhatLacksARequiredField: the schema refuses it with a better word than a patch that does not apply.
func TestDefaultsOfWhatLacksARequiredField(t *testing.T) {
	request := creation(t, workload("DFW"))
	request.Object.Raw = []byte(`{"spec":{"placements":[{"name":"main"}]}}`)
	if response := (webhook.Defaults{}).Handle(t.Context(), request); !response.Allowed || len(response.Patches) > 0 {
		t.Errorf("answer is %+v", response)
	}
}

// TestDefaultsLeaveAStoredTemplate: a default that came later must not replace Instances.
func TestDefaultsLeaveAStoredTemplate(t *testing.T) {
	stored := changed(workload("DFW"), func(w *v1alpha.Workload) {
		w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Ports = []v1alpha.NamedPort{{Name: "http", Port: 80}}
		w.Spec.Placements[0].ScaleSettings.InstanceManagementPolicy = v1alpha.OrderedReady
	})
	scaled := stored.DeepCopy()
	scaled.Spec.Placements[0].ScaleSettings.MinReplicas = 2
	if response := (webhook.Defaults{}).Handle(t.Context(), update(t, stored, scaled)); len(response.Patches) > 0 {
		t.Errorf("scaling brings defaults: %v", response.Patches)
	}
	other := scaled.DeepCopy()
	other.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image = "docker.io/library/other:1"
	if response := (webhook.Defaults{}).Handle(t.Context(), update(t, stored, other)); len(response.Patches) == 0 {
		t.Error("another template brings no defaults")
	}
}

// TestConfiguration: what is registered is what is served, for our kinds alone, and nothing that must pass waits for us.
func TestConfiguration(t *testing.T) {
	documents := strings.Split(string(webhook.Configuration), "\n---\n")
	if len(documents) != 2 {
		t.Fatalf("%d documents", len(documents))
	}
	var mutating admissionregistrationv1.MutatingWebhookConfiguration
	var validating admissionregistrationv1.ValidatingWebhookConfiguration
	if err := yaml.UnmarshalStrict([]byte(documents[0]), &mutating); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(documents[1]), &validating); err != nil {
		t.Fatal(err)
	}
	resources := map[string][]string{}
	check := func(name string, hook admissionregistrationv1.ValidatingWebhook) {
		resources[*hook.ClientConfig.Service.Path] = checkWebhook(t, name, hook)
	}
	for _, hook := range validating.Webhooks {
		check(hook.Name, hook)
	}
	for _, hook := range mutating.Webhooks {
		check(hook.Name, admissionregistrationv1.ValidatingWebhook{
			ClientConfig: hook.ClientConfig, Rules: hook.Rules, FailurePolicy: hook.FailurePolicy, SideEffects: hook.SideEffects,
			MatchConditions: hook.MatchConditions, TimeoutSeconds: hook.TimeoutSeconds,
		})
	}
	want := map[string][]string{
		webhook.DefaultPath: {"workloads"}, webhook.ValidatePath: {"workloads"}, webhook.OwnedPath: {"workloaddeployments", "instances"},
	}
	if !maps.EqualFunc(resources, want, slices.Equal) {
		t.Errorf("served are %v, want %v", resources, want)
	}
}

// checkWebhook returns the resources that a webhook is asked about.
func checkWebhook(t *testing.T, name string, hook admissionregistrationv1.ValidatingWebhook) []string {
	t.Helper()
	if *hook.FailurePolicy != admissionregistrationv1.Fail || *hook.SideEffects != admissionregistrationv1.SideEffectClassNone || *hook.TimeoutSeconds > 5 {
		t.Errorf("%s: %v, %v, %d s", name, *hook.FailurePolicy, *hook.SideEffects, *hook.TimeoutSeconds)
	}
	var resources []string
	for _, rule := range hook.Rules {
		if !slices.Equal(rule.APIGroups, []string{v1alpha.GroupVersion.Group}) || !slices.Equal(rule.APIVersions, []string{v1alpha.GroupVersion.Version}) ||
			!slices.Equal(rule.Operations, []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}) {
			t.Errorf("%s: rule %+v", name, rule)
		}
		for _, resource := range rule.Resources {
			if strings.ContainsAny(resource, "*/") {
				t.Errorf("%s: resource %s", name, resource)
			}
		}
		resources = append(resources, rule.Resources...)
	}
	var conditions []string
	for _, condition := range hook.MatchConditions {
		conditions = append(conditions, condition.Name)
	}
	for _, needed := range []string{"not-being-deleted", "spec-changes"} {
		if !slices.Contains(conditions, needed) {
			t.Errorf("%s lacks the match condition %s", name, needed)
		}
	}
	return resources
}

// FuzzAdmission: whatever bytes come in are answered, and a creation is allowed only to who says in which project.
func FuzzAdmission(f *testing.F) {
	const kind = `"kind":{"group":"compute.datumapis.com","version":"v1alpha","kind":"Workload"}`
	const extra = `"userInfo":{"extra":{"iam.miloapis.com/parent-api-group":["resourcemanager.miloapis.com"],"iam.miloapis.com/parent-type":["Project"],"iam.miloapis.com/parent-name":["north"]}}`
	valid, err := json.Marshal(workload("DFW"))
	if err != nil {
		f.Fatal(err)
	}
	for _, request := range []string{
		`"operation":"CREATE",` + extra + `,"object":` + string(valid),
		`"operation":"CREATE","object":{"spec":{"placements":[{"cityCodes":["DFW"]}]}}`,
		`"operation":"UPDATE",` + extra + `,"object":{"spec":{"placements":[{"name":"a","cityCodes":["XYZ"]}]}},"oldObject":{}`,
		`"operation":"UPDATE","object":{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}},"oldObject":{}`,
		`"operation":"UPDATE","object":null,"oldObject":7`,
	} {
		f.Add([]byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",` + kind + `,` + request + `}}`))
	}
	f.Add([]byte(`{}`))
	validation, defaults := workloads(newProjects()), webhook.Defaults{}
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := send(defaults, body); err != nil {
			t.Fatal(err)
		}
		response, err := send(validation, body)
		if err != nil {
			t.Fatal(err)
		}
		if response.Allowed {
			checkAllowed(t, body)
		}
	})
}

// checkAllowed: what was allowed can be read, names one project or changes no spec, and can run.
func checkAllowed(t *testing.T, body []byte) {
	t.Helper()
	var asked admissionReview
	if err := json.Unmarshal(body, &asked); err != nil {
		t.Fatalf("allowed what cannot be read: %q", body)
	}
	var now v1alpha.Workload
	if err := json.Unmarshal(asked.Request.Object, &now); err != nil {
		t.Fatalf("allowed an object that cannot be read: %q", body)
	}
	switch {
	case asked.Request.Operation == "CREATE":
		if len(asked.Request.UserInfo.Extra) < 3 || len(now.Spec.Placements) == 0 || len(now.Spec.Template.Spec.NetworkInterfaces) == 0 {
			t.Errorf("allowed a creation outside of any project, or of nothing that runs: %q", body)
		}
	case asked.Request.Operation != "UPDATE" || asked.Request.OldObject == nil:
		t.Errorf("allowed what is no creation and no update: %q", body)
	}
}

// admissionReview is as much of one as checkAllowed needs.
type admissionReview struct {
	metav1.TypeMeta
	Request struct {
		Operation         string
		Object, OldObject json.RawMessage
		UserInfo          struct{ Extra map[string][]string }
	}
}
