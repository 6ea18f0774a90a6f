// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// TestWarn: a warning that cannot be written in a project is a core v1 Event about the Project at Milo's root.
func TestWarn(t *testing.T) {
	t.Parallel()
	type request struct {
		method, path string
		event        corev1.Event
	}
	requests := make(chan request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := request{method: r.Method, path: r.URL.Path}
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &got.event)
		}
		if err != nil {
			t.Error(err)
		}
		requests <- got
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	p, err := NewProvider(ProviderOptions{Root: &rest.Config{Host: server.URL}, Scheme: scheme, Shards: 1, Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	project := &Project{ObjectMeta: metav1.ObjectMeta{Name: "north", UID: "uid-of-north"}}
	project.Status.Conditions = []metav1.Condition{{Type: ConditionSuspended, Status: metav1.ConditionTrue}}
	p.Observe(project)
	p.Warn("north", "ProjectSuspended", "it is suspended")
	select {
	case got := <-requests:
		about := corev1.ObjectReference{Kind: "Project", Name: "north", UID: "uid-of-north", APIVersion: "resourcemanager.miloapis.com/v1alpha1"}
		about.ResourceVersion = got.event.InvolvedObject.ResourceVersion
		if got.method != http.MethodPost || got.path != "/api/v1/namespaces/default/events" || got.event.InvolvedObject != about {
			t.Errorf("it sends %s %s %+v", got.method, got.path, got.event)
		}
		if got.event.Type != corev1.EventTypeWarning || got.event.Reason != "ProjectSuspended" || got.event.Message != "it is suspended" {
			t.Errorf("it sends %+v", got.event)
		}
	case <-time.After(time.Minute):
		t.Error("it sends no Event")
	}
}
