// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestLocations: a location is Available once it is bound, may be bound and withdrawn twice, and is gone after that.
func TestLocations(t *testing.T) {
	admin, err := newPlane(testenv.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := admin.bindLocation(t.Context(), "DFW"); err != nil {
			t.Fatal(err)
		}
	}
	if err := admin.hasCondition(t.Context(), locationBindingResource, "location-dfw", "Available"); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := admin.unbindLocation(t.Context(), "DFW"); err != nil {
			t.Error(err)
		}
	}
	if err := admin.hasCondition(t.Context(), locationBindingResource, "location-dfw", "Available"); err == nil {
		t.Error("the location is still bound")
	}
}

// TestConsumer: the role lets the consumer list Workloads, and no Secrets.
func TestConsumer(t *testing.T) {
	config := testenv.Config(t)
	admin, err := newPlane(config)
	if err != nil {
		t.Fatal(err)
	}
	as := rest.CopyConfig(config)
	as.Impersonate = rest.ImpersonationConfig{UserName: Consumer, Groups: []string{Consumer}}
	consumer, err := newPlane(as)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := consumer.waitForWorkloads(short, metav1.NamespaceDefault); err == nil {
		t.Error("a user without the role lists Workloads")
	}
	if err := admin.applyFile(t.Context(), "consumer.yaml", nil); err != nil {
		t.Fatal(err)
	}
	if err := consumer.waitForWorkloads(t.Context(), metav1.NamespaceDefault); err != nil {
		t.Error(err)
	}
	if _, err := consumer.dynamic.Resource(schema.GroupVersionResource{
		Version: "v1", Resource: "secrets",
	}).List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("the consumer lists Secrets")
	}
}
