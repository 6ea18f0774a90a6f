// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Trial asks the cell whether it would accept the Pod of an Instance.
type Trial struct {
	// Client writes to the cell.
	Client client.Client
	// APIReader reads the Pod that an Instance has now, which the cache has without its requests.
	APIReader client.Reader
	// Settings configure how this cell runs Pods.
	Settings Settings
}

// Refusal is why the cell would not run a Pod: a reason of Ready on an Instance, and its message.
type Refusal struct{ Reason, Message string }

// Refusal returns why the cell would refuse the Pod of an Instance that has another Pod now; nil: it would accept it, or
// does not say. It is a dry run: everything in the cell that admits a Pod is asked, and no Pod is created. A
// ResourceQuota that is exceeded only until the present Pod ends is no refusal.
func (t *Trial) Refusal(
	ctx context.Context, deployment *v1alpha.WorkloadDeployment, instance *v1alpha.Instance,
) (*Refusal, error) {
	if found := t.Settings.unsupported(&instance.Spec); found != nil {
		return &Refusal{found.reason, found.message}, nil
	}
	err := t.Client.Create(ctx, newPod(deployment, instance, &t.Settings), client.DryRunAll, client.FieldOwner(FieldManager))
	if err == nil || apierrors.IsAlreadyExists(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		// The API server compares names last.
		return nil, nil
	}
	found := refusal(err)
	switch {
	case found == nil && apierrors.IsBadRequest(err):
		log.FromContext(ctx).Info("The cell cannot judge a Pod without creating it", "instance", instance.Name, "error", err.Error())
		return nil, nil
	case found == nil:
		return nil, fmt.Errorf("ask the cell for a Pod of Instance %s: %w", client.ObjectKeyFromObject(instance), err)
	case found.reason == v1alpha.ReasonCellQuotaExceeded:
		if freed, err := t.frees(ctx, instance, found.message); err != nil || freed {
			return nil, err
		}
	}
	return &Refusal{found.reason, found.message}, nil
}

// frees reports whether a quota that is exceeded has enough left once the present Pod of an Instance has ended.
func (t *Trial) frees(ctx context.Context, instance *v1alpha.Instance, message string) (bool, error) {
	exceeded, ok := parseExceeded(message)
	if !ok {
		// Without its numbers, a quota must not hold an Instance forever.
		return true, nil
	}
	pod := &corev1.Pod{}
	if err := t.APIReader.Get(ctx, client.ObjectKeyFromObject(instance), pod); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("get Pod %s: %w", client.ObjectKeyFromObject(instance), err)
	}
	return exceeded.without(pod), nil
}
