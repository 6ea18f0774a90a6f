// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"encoding/json"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook"
)

// TestConfiguration: the registered paths are served, for the add-on's kinds only, and writes that must always pass are
// not reviewed.
func TestConfiguration(t *testing.T) {
	var validating admissionregistrationv1.ValidatingWebhookConfiguration
	if err := yaml.UnmarshalStrict(webhook.Configuration, &validating); err != nil {
		t.Fatal(err)
	}
	resources := map[string][]string{}
	for _, hook := range validating.Webhooks {
		path := *hook.ClientConfig.Service.Path
		resources[path] = append(resources[path], checkWebhook(t, hook.Name, hook)...)
	}
	want := map[string][]string{
		webhook.ValidatePath: {"workloads"}, webhook.OwnedPath: {
			"workloaddeployments", "workloaddeployments/scale", "workloaddeployments/status", "instances", "instances/status", "workloadrevisions",
			"instancetypes", "instancetypes/status",
			"workloaddeployments",
		}, webhook.SessionPath: {"instancesessions", "instancesessions/status"},
	}
	if !maps.EqualFunc(resources, want, slices.Equal) {
		t.Errorf("served are %v, want %v", resources, want)
	}
}

// checkWebhook returns the resources of a webhook.
func checkWebhook(t *testing.T, name string, hook admissionregistrationv1.ValidatingWebhook) []string {
	t.Helper()
	effects := admissionregistrationv1.SideEffectClassNone
	if name == "sessions.compute.datumapis.com" {
		effects = admissionregistrationv1.SideEffectClassNoneOnDryRun
	}
	failure, operations := admissionregistrationv1.Fail,
		[]admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}
	if name == "deletions.compute.datumapis.com" {
		failure, operations = admissionregistrationv1.Ignore, []admissionregistrationv1.OperationType{admissionregistrationv1.Delete}
	}
	if *hook.FailurePolicy != failure || *hook.SideEffects != effects || *hook.TimeoutSeconds > 10 {
		t.Errorf("%s: %v, %v, %d s", name, *hook.FailurePolicy, *hook.SideEffects, *hook.TimeoutSeconds)
	}
	var resources []string
	for _, rule := range hook.Rules {
		if !slices.Equal(rule.APIGroups, []string{v1alpha.GroupVersion.Group}) ||
			!slices.Equal(rule.APIVersions, []string{v1alpha.GroupVersion.Version}) ||
			!slices.Equal(rule.Operations, operations) {
			t.Errorf("%s: rule %+v", name, rule)
		}
		for _, resource := range rule.Resources {
			if strings.Contains(resource, "*") {
				t.Errorf("%s: resource %s", name, resource)
			}
		}
		resources = append(resources, rule.Resources...)
	}
	var conditions []string
	for _, condition := range hook.MatchConditions {
		conditions = append(conditions, condition.Name)
	}
	needed := map[string][]string{
		"workloads.compute.datumapis.com": {"spec-or-suspension-changes"},
		"owned.compute.datumapis.com":     {webhook.ConditionNotAddOn, "owned-part-changes"},
		"deletions.compute.datumapis.com": {webhook.ConditionNotAddOn, "not-by-kubernetes", "not-being-deleted"},
	}
	if !slices.Equal(conditions, needed[name]) {
		t.Errorf("%s has the match conditions %v", name, conditions)
	}
	return resources
}

// FuzzAdmission: any bytes are answered, in memory that their number bounds, and a create is allowed only in a project.
func FuzzAdmission(f *testing.F) {
	const kind = `"kind":{"group":"compute.datumapis.com","version":"v1alpha","kind":"Workload"}`
	const extra = `"userInfo":{"groups":["team"],"extra":{"iam.miloapis.com/parent-api-group":["resourcemanager.miloapis.com"],"iam.miloapis.com/parent-type":["Project"],"iam.miloapis.com/parent-name":["north"]}}`
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
	validation := workloads(newProjects())
	f.Fuzz(func(t *testing.T, body []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		response, err := send(validation, body)
		runtime.ReadMemStats(&after)
		const perByte, constant = 1024, 4 << 20
		if used, most := after.TotalAlloc-before.TotalAlloc, uint64(perByte*len(body)+constant); used > most {
			t.Fatalf("%d bytes allocate %d bytes, more than %d", len(body), used, most)
		}
		if err != nil {
			t.Fatal(err)
		}
		if response.Allowed {
			checkAllowed(t, body)
		}
	})
}

// checkAllowed: an allowed request can be decoded, names one project or changes no spec, and its Workload is valid.
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

// admissionReview has the fields that checkAllowed needs.
type admissionReview struct {
	metav1.TypeMeta
	Request struct {
		Operation         string
		Object, OldObject json.RawMessage
		UserInfo          struct{ Extra map[string][]string }
	}
}
