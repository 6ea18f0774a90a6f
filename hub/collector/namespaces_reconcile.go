// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
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
	// gone are the UIDs of absent projects with objects in the namespace.
	gone []types.UID
}

// later returns a result that requeues after about that time.
func later(after time.Duration) reconcile.Result {
	return reconcile.Result{RequeueAfter: wait.Jitter(after, 0.2)}
}

// Reconcile withdraws a hub namespace if its project is gone.
func (r *Namespaces) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &namespaceScope{Namespaces: r, namespace: &corev1.Namespace{}}
	if err := r.Hub.Get(ctx, request.NamespacedName, s.namespace); err != nil {
		r.forget(request.Name)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	s.project = projects.NameOf(s.namespace).String()
	if s.project == "" || !projects.IsHubNamespace(s.namespace) || !s.namespace.DeletionTimestamp.IsZero() || !r.Projects.Owns(naming.ProjectKey(s.project)) {
		// The replica that engages the project checks its hub namespaces.
		r.forget(request.Name)
		return reconcile.Result{}, nil
	}
	unknown, err := s.unknown(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if len(unknown) == 0 {
		r.forget(request.Name)
		return later(recheck), nil
	}
	if rest := r.pause(request.Name); rest > 0 {
		return reconcile.Result{RequeueAfter: rest}, nil
	}
	return s.ask(ctx, unknown)
}

// unknown returns the UIDs of projects that have objects in the namespace and that the watch of the Projects does not
// know.
func (s *namespaceScope) unknown(ctx context.Context) ([]types.UID, error) {
	var copies v1alpha.WorkloadDeploymentList
	if err := s.Hub.List(ctx, &copies, client.InNamespace(s.namespace.Name), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the copies in a hub namespace: %w", err)
	}
	found := sets.New(types.UID(s.namespace.Labels[v1alpha.LabelProjectUID]))
	for i := range copies.Items {
		found.Insert(types.UID(copies.Items[i].Labels[v1alpha.LabelProjectUID]))
	}
	var unknown []types.UID
	for uid := range found.Delete("") {
		if !s.Projects.Knows(s.project, uid) {
			unknown = append(unknown, uid)
		}
	}
	slices.Sort(unknown)
	return unknown, nil
}

// ask asks whether projects are gone. Any other answer than "gone" restarts the questions.
func (s *namespaceScope) ask(ctx context.Context, unknown []types.UID) (reconcile.Result, error) {
	if !s.questions.TryAccept() {
		return later(lookAgain / 3), nil
	}
	held := ""
	for _, uid := range unknown {
		answer, err := s.Owners.Verdict(ctx, ownership.Key{Project: s.project, ProjectUID: uid})
		if err != nil {
			s.forget(s.namespace.Name)
			log.FromContext(ctx).V(1).Info("Whether a project exists is not known; retrying", "project", s.project, "error", err.Error())
			return later(lookAgain), nil
		}
		if answer.Verdict == ownership.Gone || answer.Held != "" {
			s.gone, held = append(s.gone, uid), cmp.Or(held, answer.Held)
		}
	}
	if len(s.gone) == 0 {
		s.forget(s.namespace.Name)
		return later(recheck), nil
	}
	rest, isFirst := s.count(s.namespace.Name, s.gone)
	if isFirst {
		log.FromContext(ctx).Info("A project does not exist any more; what it left on the hub will be withdrawn unless the hub namespace is annotated",
			"project", s.project, "uids", s.gone, "at", s.Clock.Now().Add(s.After), "annotation", v1alpha.AnnotationKeep+"=true")
	}
	if rest > 0 {
		return reconcile.Result{RequeueAfter: rest}, nil
	}
	if reason := s.held(held); reason != "" {
		log.FromContext(ctx).Info("What a project left on the hub is not withdrawn", "project", s.project, "uids", s.gone, "reason", reason)
		return later(recheckHeld), nil
	}
	return s.withdraw(ctx)
}

// held returns why nothing is withdrawn although Milo has reported the project as absent often enough; "": it is
// withdrawn.
func (s *namespaceScope) held(brake string) string {
	s.hold(s.namespace.Name, false)
	switch s.namespace.Annotations[v1alpha.AnnotationKeep] {
	case "true":
		return "the hub namespace is annotated to be kept"
	case "false":
		return ""
	}
	s.hold(s.namespace.Name, brake != "")
	return brake
}
