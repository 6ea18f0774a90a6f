// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook"
)

// projects answers as Milo would for the projects that it is made of.
type projects map[string]webhook.Project

var errUnreachable = errors.New("Milo cannot be reached")

func (p projects) Project(ctx context.Context, name string) (webhook.Project, error) {
	switch name {
	case "unreachable":
		return webhook.Project{}, errUnreachable
	case "slow":
		<-ctx.Done()
		return webhook.Project{}, fmt.Errorf("%w: %w", errUnreachable, ctx.Err())
	}
	project, ok := p[name]
	if !ok {
		return webhook.Project{}, webhook.ErrProjectNotFound
	}
	return project, nil
}

func (p projects) CityCodes(_ context.Context, project string) ([]string, error) {
	if project == "dark" {
		return nil, errUnreachable
	}
	return []string{"DFW", "ORD"}, nil
}

func handler() http.Handler {
	return webhook.NewHandler(projects{
		"north": {}, "dark": {}, "going": {Deleting: true}, "asleep": {Suspended: true},
	})
}

func inProject(name string) map[string]authenticationv1.ExtraValue {
	return map[string]authenticationv1.ExtraValue{
		"iam.miloapis.com/parent-api-group": {"resourcemanager.miloapis.com"},
		"iam.miloapis.com/parent-type":      {"Project"},
		"iam.miloapis.com/parent-name":      {name},
	}
}

func with(extra map[string]authenticationv1.ExtraValue, key string, values ...string) map[string]authenticationv1.ExtraValue {
	extra["iam.miloapis.com/"+key] = values
	return extra
}

func workload(cities ...string) *v1alpha.Workload {
	return &v1alpha.Workload{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec:       v1alpha.WorkloadSpec{Placements: []v1alpha.WorkloadPlacement{{Name: "main", CityCodes: cities}}},
	}
}

// scaledBy is a Workload that scales by a metric with this target value.
func scaledBy(value string) *v1alpha.Workload {
	w := workload("XYZ")
	quantity := resource.MustParse(value)
	w.Spec.Placements[0].ScaleSettings.Metrics = []v1alpha.MetricSpec{{Resource: &v1alpha.ResourceMetricSource{
		Name: "cpu", Target: v1alpha.MetricTarget{Value: &quantity},
	}}}
	return w
}

func deleting(w *v1alpha.Workload) *v1alpha.Workload {
	now := metav1.Now()
	w.DeletionTimestamp = &now
	return w
}

func TestWorkloads(t *testing.T) {
	cases := map[string]struct {
		extra       map[string]authenticationv1.ExtraValue
		before, now *v1alpha.Workload
		wantAllowed bool
		wantCode    int32
		wantMessage []string
	}{
		"cities that the project may use": {extra: inProject("north"), now: workload("DFW", "ord"), wantAllowed: true},
		"every unknown city, with its path": {
			extra: inProject("north"), now: workload("DFW", "XYZ", "QQQ"), wantCode: 422,
			wantMessage: []string{"spec.placements[0].cityCodes[1]", "spec.placements[0].cityCodes[2]", "\"DFW\", \"ORD\""},
		},
		"no extras":                     {now: workload("DFW"), wantCode: 403, wantMessage: []string{"not made in a project"}},
		"one extra missing":             {extra: with(inProject("north"), "parent-type"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"parent-type"}},
		"an extra with two values":      {extra: with(inProject("north"), "parent-name", "north", "south"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"2 values"}},
		"an organization":               {extra: with(inProject("north"), "parent-type", "Organization"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"Organization"}},
		"another group":                 {extra: with(inProject("north"), "parent-api-group", "example.com"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"example.com"}},
		"a name that is a path":         {extra: inProject("../north"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"no name of one"}},
		"a project that does not exist": {extra: inProject("nowhere"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"nowhere", "does not exist"}},
		"a project that is going":       {extra: inProject("going"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"being deleted"}},
		"a suspended project":           {extra: inProject("asleep"), now: workload("DFW"), wantCode: 403, wantMessage: []string{"suspended"}},
		"Milo out of reach is an error": {extra: inProject("unreachable"), now: workload("DFW"), wantCode: 503, wantMessage: []string{"cannot be reached"}},
		"locations out of reach too":    {extra: inProject("dark"), now: workload("DFW"), wantCode: 503, wantMessage: []string{"locations", "cannot be reached"}},
		"old cities need no locations":  {extra: inProject("dark"), before: workload("XYZ", "DFW"), now: workload("DFW"), wantAllowed: true},
		"all errors at once": {
			extra: inProject("north"), now: scaledBy("0"), wantCode: 422,
			wantMessage: []string{"spec.placements[0].cityCodes[0]", "spec.placements[0].scaleSettings.metrics[0].resource.target.value"},
		},
		"an unchanged spec needs nobody": {
			extra: inProject("unreachable"), before: workload("XYZ"), now: workload("XYZ"), wantAllowed: true,
		},
		"what is being deleted needs nobody": {before: workload("XYZ"), now: deleting(workload("QQQ")), wantAllowed: true},
		"a withdrawn city does not block":    {extra: inProject("north"), before: workload("XYZ"), now: workload("xyz", "DFW"), wantAllowed: true},
		"a new unknown city does":            {extra: inProject("north"), before: workload("DFW"), now: workload("DFW", "XYZ"), wantCode: 422, wantMessage: []string{"XYZ"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			response := review(t, c.extra, c.before, c.now)
			if response.Allowed != c.wantAllowed {
				t.Fatalf("allowed: %t, result %+v", response.Allowed, response.Result)
			}
			if !c.wantAllowed && response.Result.Code != c.wantCode {
				t.Errorf("code is %d, want %d", response.Result.Code, c.wantCode)
			}
			for _, message := range c.wantMessage {
				if !strings.Contains(response.Result.Message, message) {
					t.Errorf("message %q lacks %q", response.Result.Message, message)
				}
			}
		})
	}
}

// review asks for a Workload to be created or, with what was before, updated.
func review(t *testing.T, extra map[string]authenticationv1.ExtraValue, before, now *v1alpha.Workload) *admissionv1.AdmissionResponse {
	t.Helper()
	request := creation(t, now)
	request.UserInfo.Extra = extra
	if before != nil {
		request.Operation, request.OldObject = admissionv1.Update, raw(t, before)
	}
	return send(t, "", request)
}

func creation(t *testing.T, workload *v1alpha.Workload) *admissionv1.AdmissionRequest {
	t.Helper()
	return &admissionv1.AdmissionRequest{
		UID: "uid", Operation: admissionv1.Create, Object: raw(t, workload),
		Kind:     metav1.GroupVersionKind{Group: "compute.datumapis.com", Version: "v1alpha", Kind: "Workload"},
		UserInfo: authenticationv1.UserInfo{Username: "consumer", Extra: inProject("north")},
	}
}

// send sends an AdmissionReview as an API server does.
func send(t *testing.T, query string, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	t.Helper()
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request,
	})
	if err != nil {
		t.Fatal(err)
	}
	posted := post(body)
	posted.URL.RawQuery = query
	recorder := httptest.NewRecorder()
	handler().ServeHTTP(recorder, posted)
	var answer admissionv1.AdmissionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
		t.Fatalf("answer %q: %v", recorder.Body, err)
	}
	if answer.Response.UID != request.UID {
		t.Errorf("the answer is to request %q, not %q", answer.Response.UID, request.UID)
	}
	return answer.Response
}

func post(body []byte) *http.Request {
	request := httptest.NewRequestWithContext(context.Background(), http.MethodPost, webhook.WorkloadPath, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	return request
}

func raw(t *testing.T, obj any) runtime.RawExtension {
	t.Helper()
	encoded, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: encoded}
}

func TestRequestsThatAreNotOurs(t *testing.T) {
	cases := map[string]func(*admissionv1.AdmissionRequest){
		"another kind":     func(r *admissionv1.AdmissionRequest) { r.Kind.Kind = "Pod" },
		"another group":    func(r *admissionv1.AdmissionRequest) { r.Kind.Group = "apps" },
		"a deletion":       func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Delete },
		"no operation":     func(r *admissionv1.AdmissionRequest) { r.Operation = "" },
		"no object":        func(r *admissionv1.AdmissionRequest) { r.Object.Raw = nil },
		"no object before": func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Update },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			request := creation(t, workload("DFW"))
			change(request)
			response := send(t, "", request)
			if response.Allowed || response.Result.Code != http.StatusBadRequest || response.Result.Reason != metav1.StatusReasonBadRequest {
				t.Errorf("answer is %+v", response)
			}
		})
	}
}

// TestAnswersInTime: an API server that waits a second reads our message, not a timeout of its own.
func TestAnswersInTime(t *testing.T) {
	for _, timeout := range []time.Duration{time.Second, 20 * time.Millisecond} {
		t.Run(timeout.String(), func(t *testing.T) {
			request := creation(t, workload("DFW"))
			request.UserInfo.Extra = inProject("slow")
			start := time.Now()
			response := send(t, "timeout="+timeout.String(), request)
			if took := time.Since(start); took >= timeout {
				t.Errorf("the answer took %s", took)
			}
			if response.Allowed || response.Result.Reason != metav1.StatusReasonServiceUnavailable || !strings.Contains(response.Result.Message, "cannot be reached") {
				t.Errorf("answer is %+v", response)
			}
		})
	}
}

func TestLargeBodyIsRefused(t *testing.T) {
	recorder := httptest.NewRecorder()
	handler().ServeHTTP(recorder, post(bytes.Repeat([]byte(" "), 8<<20)))
	var answer admissionv1.AdmissionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Response.Allowed || answer.Response.Result.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("answer is %q, %v", recorder.Body, err)
	}
}

// TestConfiguration: what is registered is what is served.
func TestConfiguration(t *testing.T) {
	content, err := os.ReadFile("configuration.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	if err := yaml.UnmarshalStrict(content, &configuration); err != nil {
		t.Fatal(err)
	}
	if len(configuration.Webhooks) != 1 {
		t.Fatalf("%d webhooks", len(configuration.Webhooks))
	}
	if path := configuration.Webhooks[0].ClientConfig.Service.Path; path == nil || *path != webhook.WorkloadPath {
		t.Errorf("path is %v", path)
	}
	for _, rule := range configuration.Webhooks[0].Rules {
		if !slices.Equal(rule.APIGroups, []string{v1alpha.GroupVersion.Group}) || !slices.Equal(rule.Resources, []string{"workloads"}) ||
			!slices.Equal(rule.Operations, []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}) {
			t.Errorf("rule is %+v", rule)
		}
	}
}

// FuzzWorkloads: whatever comes in is answered, and allowed only where a project is named or no spec changes.
func FuzzWorkloads(f *testing.F) {
	const kind = `"kind":{"group":"compute.datumapis.com","version":"v1alpha","kind":"Workload"}`
	const extra = `"userInfo":{"extra":{"iam.miloapis.com/parent-api-group":["resourcemanager.miloapis.com"],"iam.miloapis.com/parent-type":["Project"],"iam.miloapis.com/parent-name":["north"]}}`
	for _, request := range []string{
		`"operation":"CREATE",` + extra + `,"object":{"spec":{"placements":[{"name":"a","cityCodes":["DFW"]}]}}`,
		`"operation":"CREATE","object":{"spec":{"placements":[{"cityCodes":["DFW"]}]}}`,
		`"operation":"UPDATE",` + extra + `,"object":{"spec":{"placements":[{"name":"a","cityCodes":["XYZ"]}]}},"oldObject":{}`,
		`"operation":"UPDATE","object":{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}},"oldObject":{}`,
		`"operation":"UPDATE","object":null,"oldObject":7`,
	} {
		f.Add([]byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",` + kind + `,` + request + `}}`))
	}
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		recorder := httptest.NewRecorder()
		handler().ServeHTTP(recorder, post(body))
		var answer admissionv1.AdmissionReview
		if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Response == nil {
			t.Fatalf("the answer is no AdmissionReview: %q", recorder.Body)
		}
		if !answer.Response.Allowed {
			return
		}
		var asked admissionv1.AdmissionReview
		if err := json.Unmarshal(body, &asked); err != nil || asked.Request == nil {
			t.Fatalf("allowed what cannot be read: %q", body)
		}
		var now v1alpha.Workload
		if err := json.Unmarshal(asked.Request.Object.Raw, &now); err != nil {
			t.Fatalf("allowed an object that cannot be read: %q", body)
		}
		switch {
		case asked.Request.Operation == admissionv1.Create:
			if len(asked.Request.UserInfo.Extra) < 3 {
				t.Errorf("allowed a creation outside of any project: %q", body)
			}
		case asked.Request.Operation != admissionv1.Update || asked.Request.OldObject.Raw == nil:
			t.Errorf("allowed what is no creation and no update: %q", body)
		}
	})
}
