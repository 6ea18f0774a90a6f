// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

const (
	// lookAgain is the delay before a question is repeated that Milo did not answer, or that was not asked because of
	// the rate limit.
	lookAgain = 15 * time.Second
	// recheckHeld is the approximate delay until an operator's release takes effect.
	recheckHeld = time.Minute
)

// namespaceScope is the state of one reconcile of a hub namespace.
type namespaceScope struct {
	*Namespaces
	namespace *corev1.Namespace
	project   string
	// uid is the UID of the project: it is part of the name of the namespace.
	uid types.UID
}

// later returns a result that requeues after about that time.
func later(after time.Duration) reconcile.Result {
	return reconcile.Result{RequeueAfter: wait.Jitter(after, 0.2)}
}

// Reconcile withdraws a hub namespace if its project is gone.
func (r *Namespaces) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &namespaceScope{Namespaces: r, namespace: &corev1.Namespace{}}
	if err := r.Hub.Get(ctx, request.NamespacedName, s.namespace); err != nil {
		r.patience.Forget(request.Name)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	s.project, s.uid = projects.NameOf(s.namespace).String(), types.UID(s.namespace.Labels[v1alpha.LabelProjectUID])
	if s.project == "" || !projects.IsHubNamespace(s.namespace) || !s.namespace.DeletionTimestamp.IsZero() ||
		!r.Projects.Owns(naming.ProjectKey(s.project)) {
		// The replica that engages the project checks its hub namespaces.
		r.patience.Forget(request.Name)
		return reconcile.Result{}, nil
	}
	if r.Projects.Knows(s.project, s.uid) {
		return later(recheck), s.dropDoubt(ctx)
	}
	r.patience.Recall(request.Name, s.namespace.Annotations[v1alpha.AnnotationAbsent])
	if remaining := r.patience.Remaining(request.Name); remaining > 0 {
		return reconcile.Result{RequeueAfter: remaining}, nil
	}
	return s.ask(ctx)
}

// ask asks whether the project is gone. Any other answer than "gone" restarts the questions.
func (s *namespaceScope) ask(ctx context.Context) (reconcile.Result, error) {
	if !s.questions.TryAccept() {
		return later(lookAgain / 3), nil
	}
	answer, err := s.Owners.Verdict(ctx, ownership.Key{Project: s.project, ProjectUID: s.uid})
	if err != nil {
		log.FromContext(ctx).V(1).Info("Whether a project exists is not known; retrying", "project", s.project, "error", err.Error())
		return later(lookAgain), s.dropDoubt(ctx)
	}
	if answer.Verdict != ownership.Gone && answer.Held == "" {
		return later(recheck), s.dropDoubt(ctx)
	}
	remaining, isFirst := s.patience.Count(s.namespace.Name)
	if err := s.recordDoubt(ctx); err != nil {
		return reconcile.Result{}, err
	}
	if isFirst {
		log.FromContext(ctx).Info("A project does not exist any more; what it left on the hub will be withdrawn unless the hub "+
			"namespace is annotated",
			"project", s.project, "uid", s.uid, "at", s.Clock.Now().Add(s.After), "annotation", v1alpha.AnnotationKeep+"=true")
	}
	if remaining > 0 {
		return reconcile.Result{RequeueAfter: remaining}, nil
	}
	if reason := s.reasonToKeep(answer.Held); reason != "" {
		log.FromContext(ctx).Info("What a project left on the hub is not withdrawn", "project", s.project, "uid", s.uid, "reason", reason)
		return later(recheckHeld), nil
	}
	return s.withdraw(ctx)
}

// reasonToKeep returns why nothing is withdrawn although Milo has reported the project as absent often enough; "": it is
// withdrawn.
func (s *namespaceScope) reasonToKeep(brake string) string {
	s.patience.Hold(s.namespace.Name, false)
	switch s.namespace.Annotations[v1alpha.AnnotationKeep] {
	case "true":
		return "the hub namespace is annotated to be kept"
	case "false":
		return ""
	}
	s.patience.Hold(s.namespace.Name, brake != "")
	return brake
}
