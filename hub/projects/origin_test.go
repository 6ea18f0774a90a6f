// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestRequests: the requests for an object follow from the marks that Origin writes on it.
func TestRequests(t *testing.T) {
	from := Origin{Project: "north", ProjectUID: "uid", Namespace: "default"}
	requestFor := func(namespace, name string) []mcreconcile.Request {
		return []mcreconcile.Request{{
			ClusterName: "north", Request: reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}},
		}}
	}
	tests := map[string]struct {
		labels, annotations map[string]string
		wantCopy            []mcreconcile.Request
		wantNamespace       []mcreconcile.Request
		wantMarked          bool
	}{
		"a copy":                 {from.Labels(), from.Annotations(), requestFor("default", "web"), requestFor("", "default"), true},
		"without the project":    {labels: from.Labels(), wantMarked: true},
		"without the namespace":  {annotations: from.Annotations()},
		"an object of the hub's": {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			onHub := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{
				Namespace: "ns-1", Name: "web", Labels: test.labels, Annotations: test.annotations,
			}}
			if got := OfCopy(context.Background(), onHub); !slices.Equal(got, test.wantCopy) {
				t.Errorf("of the copy: %v", got)
			}
			if got := NamespaceOfCopy(context.Background(), onHub); !slices.Equal(got, test.wantNamespace) {
				t.Errorf("of its namespace: %v", got)
			}
			if got := IsMarked(onHub); got != test.wantMarked {
				t.Errorf("marked: %t", got)
			}
		})
	}
}

func TestLabels(t *testing.T) {
	got := Origin{Project: "north/east", ProjectUID: "uid", Namespace: "default"}.Labels()
	for key, want := range map[string]string{
		"meta.datumapis.com/upstream-cluster-name": "cluster-north_east",
		"meta.datumapis.com/upstream-namespace":    "default",
		"compute.datumapis.com/project-uid":        "uid",
	} {
		if got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}
}
