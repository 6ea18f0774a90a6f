// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook"
)

// projects answers as Milo would for the projects that it is made of.
type projects map[string]webhook.Project

var errUnreachable = errors.New("Milo cannot be reached")

func (p projects) Project(_ context.Context, name string) (webhook.Project, error) {
	if name == "unreachable" {
		return webhook.Project{}, errUnreachable
	}
	project, ok := p[name]
	if !ok {
		return webhook.Project{}, webhook.ErrProjectNotFound
	}
	return project, nil
}

func (p projects) CityCodes(context.Context, string) ([]string, error) {
	return []string{"DFW", "ORD"}, nil
}

func handler() http.Handler {
	return &ctrlwebhook.Admission{Handler: &webhook.Workloads{Projects: projects{
		"north": {}, "going": {Deleting: true}, "asleep": {Suspended: true},
	}}}
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

// review sends an AdmissionReview as an API server does.
func review(t *testing.T, extra map[string]authenticationv1.ExtraValue, before, now *v1alpha.Workload) *admissionv1.AdmissionResponse {
	t.Helper()
	request := &admissionv1.AdmissionRequest{
		UID: "uid", Operation: admissionv1.Create, UserInfo: authenticationv1.UserInfo{Username: "consumer", Extra: extra},
		Object: raw(t, now),
	}
	if before != nil {
		request.Operation, request.OldObject = admissionv1.Update, raw(t, before)
	}
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request,
	})
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	handler().ServeHTTP(recorder, post(body))
	var answer admissionv1.AdmissionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
		t.Fatalf("answer %q: %v", recorder.Body, err)
	}
	return answer.Response
}

func post(body []byte) *http.Request {
	request := httptest.NewRequest(http.MethodPost, webhook.WorkloadPath, bytes.NewReader(body))
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

// FuzzWorkloads: whatever comes in, nothing is allowed that names no project and changes a spec.
func FuzzWorkloads(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","object":{"spec":{"placements":[{"cityCodes":["DFW"]}]}}}}`))
	f.Add([]byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"UPDATE","object":null,"oldObject":7}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		recorder := httptest.NewRecorder()
		handler().ServeHTTP(recorder, post(body))
		var answer admissionv1.AdmissionReview
		if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Response == nil {
			t.Fatalf("the answer is no AdmissionReview: %q", recorder.Body)
		}
		var asked admissionv1.AdmissionReview
		if err := json.Unmarshal(body, &asked); err != nil || asked.Request == nil {
			if answer.Response.Allowed {
				t.Errorf("allowed what cannot be read: %q", body)
			}
			return
		}
		if answer.Response.Allowed && asked.Request.Operation == admissionv1.Create && len(asked.Request.UserInfo.Extra) == 0 {
			t.Errorf("allowed a creation outside of any project: %q", body)
		}
	})
}
