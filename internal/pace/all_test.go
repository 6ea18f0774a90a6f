// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package pace_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// reader answers with two Pods, or with an error.
type reader struct {
	client.Reader
	err error
}

func (r reader) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	pods, ok := list.(*corev1.PodList)
	if r.err == nil && ok {
		pods.Items = []corev1.Pod{
			{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b"}}, {ObjectMeta: metav1.ObjectMeta{Namespace: "c", Name: "d"}},
		}
	}
	return r.err
}

func TestAll(t *testing.T) {
	want := []reconcile.Request{
		{NamespacedName: types.NamespacedName{Namespace: "a", Name: "b"}}, {NamespacedName: types.NamespacedName{Namespace: "c", Name: "d"}},
	}
	if got := pace.All(t.Context(), reader{}, &corev1.PodList{}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := pace.All(t.Context(), reader{err: errors.New("stopped")}, &corev1.PodList{}); len(got) != 0 {
		t.Errorf("without an answer, it requests %v", got)
	}
}
