// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestClaim(t *testing.T) {
	t.Parallel()
	p := planes.New(t)
	desired := func(label string) *v1alpha.WorkloadDeployment {
		d := p.Deployment("web", "DFW")
		d.Labels["claim"] = label
		return d
	}
	holder, refused, err := apply.Claim(t.Context(), p.Client, p.Client, manager, desired("first"))
	if holder != nil || errors.Join(refused, err) != nil {
		t.Fatalf("free: %v, %v, %v", holder, refused, err)
	}
	holder, refused, err = apply.Claim(t.Context(), p.Client, p.Client, other, desired("second"))
	if errors.Join(refused, err) != nil || holder == nil || holder.UID == "" || holder.Labels["claim"] != "first" {
		t.Errorf("taken: %+v, %v, %v", holder, refused, err)
	}
	stored := planes.Get(t, p, p.Namespace.Name, "web", &v1alpha.WorkloadDeployment{})
	if stored.Labels["claim"] != "first" || stored.ManagedFields[0].Manager != string(manager) {
		t.Errorf("another has changed it: %+v", stored.ObjectMeta)
	}

	elsewhere := desired("first")
	elsewhere.ObjectMeta = metav1.ObjectMeta{Namespace: "no-such-namespace", Name: "web"}
	if holder, refused, err := apply.Claim(t.Context(), p.Client, p.Client, manager, elsewhere); holder != nil || err != nil ||
		!apierrors.IsNotFound(refused) {
		t.Errorf("refused: %v, %v, %v", holder, refused, err)
	}
}

// TestClaimOfAnUnknownHolder: the holder is deleted between the two requests, or the API server does not answer the second.
func TestClaimOfAnUnknownHolder(t *testing.T) {
	t.Parallel()
	p := planes.New(t)
	planes.Create(t, p, p.Deployment("web", "DFW"))
	for want, answer := range map[error]error{
		apply.ErrGone: apierrors.NewNotFound(v1alpha.GroupVersion.WithResource("workloaddeployments").GroupResource(), "web"),
		errNoAnswer:   errNoAnswer,
	} {
		holder, refused, err := apply.Claim(t.Context(), p.Client, answering(p.Client, answer), other, p.Deployment("web", "DFW"))
		if holder != nil || refused != nil || !errors.Is(err, want) {
			t.Errorf("%v: %v, %v, %v", want, holder, refused, err)
		}
	}
}

var errNoAnswer = errors.New("no answer")

// answering is a client whose reads of single objects get this error.
func answering(c client.WithWatch, answer error) client.Reader {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return answer
		},
	})
}
