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
		r.forget(request.Name)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	s.project, s.uid = projects.NameOf(s.namespace).String(), types.UID(s.namespace.Labels[v1alpha.LabelProjectUID])
	if s.project == "" || !projects.IsHubNamespace(s.namespace) || !s.namespace.DeletionTimestamp.IsZero() ||
		!r.Projects.Owns(naming.ProjectKey(s.project)) {
		// The replica that engages the project checks its hub namespaces.
		r.forget(request.Name)
		return reconcile.Result{}, nil
	}
	if r.Projects.Knows(s.project, s.uid) {
		return later(recheck), s.dropDoubt(ctx)
	}
	s.recallDoubt()
	if rest := r.pause(request.Name); rest > 0 {
		return reconcile.Result{RequeueAfter: rest}, nil
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
	rest, isFirst := s.count(s.namespace.Name)
	if err := s.recordDoubt(ctx); err != nil {
		return reconcile.Result{}, err
	}
	if isFirst {
		log.FromContext(ctx).Info("A project does not exist any more; what it left on the hub will be withdrawn unless the hub "+
			"namespace is annotated",
			"project", s.project, "uid", s.uid, "at", s.Clock.Now().Add(s.After), "annotation", v1alpha.AnnotationKeep+"=true")
	}
	if rest > 0 {
		return reconcile.Result{RequeueAfter: rest}, nil
	}
	if reason := s.held(answer.Held); reason != "" {
		log.FromContext(ctx).Info("What a project left on the hub is not withdrawn", "project", s.project, "uid", s.uid, "reason", reason)
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

// doubt records Milo's answers that the project of a hub namespace is absent.
type doubt struct {
	// since is when Milo first answered so, last when an answer was last counted, and answers the number of counted
	// answers.
	since, last time.Time
	answers     int
	// withdrawing: enough answers were counted, and the deletion has begun.
	withdrawing bool
	// held: the withdrawal waits for an operator.
	held bool
}

// interval returns the time between two answers that count: they are spread over After.
func (r *Namespaces) interval() time.Duration { return r.After / (answersNeeded - 1) }

// pause returns how long Milo need not be asked about a hub namespace.
func (r *Namespaces) pause(namespace string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.doubts[namespace]
	if d == nil || d.withdrawing || d.answers >= answersNeeded {
		return 0
	}
	return d.last.Add(r.interval()).Sub(r.Clock.Now())
}

// count counts an answer of Milo that the project of a hub namespace does not exist. It returns how long to wait for
// the next answer, 0 if there were enough, and whether this is the first one.
func (r *Namespaces) count(namespace string) (wait time.Duration, isFirst bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Clock.Now()
	d := r.doubts[namespace]
	if d == nil {
		r.doubts[namespace] = &doubt{since: now, last: now, answers: 1}
		return r.interval(), true
	}
	d.last = now
	d.answers++
	if rest := d.since.Add(r.After).Sub(now); d.answers < answersNeeded || rest > 0 {
		return max(r.interval()/2, rest), false
	}
	return 0, false
}

// begin records that the withdrawal begins, and reports whether it had not begun yet.
func (r *Namespaces) begin(namespace string) (isFirst bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.doubts[namespace]
	if d == nil || d.withdrawing {
		return false
	}
	d.withdrawing = true
	return true
}

// hold records whether the withdrawal of a hub namespace waits for an operator.
func (r *Namespaces) hold(namespace string, held bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.doubts[namespace]; d != nil {
		d.held = held
	}
}

// heldBack returns the number of hub namespaces whose withdrawal waits for an operator.
func (r *Namespaces) heldBack() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := 0
	for _, d := range r.doubts {
		if d.held {
			count++
		}
	}
	return count
}

// forget forgets the answers about a hub namespace, so that the questions begin again.
func (r *Namespaces) forget(namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.doubts, namespace)
}

// inDoubt returns the number of hub namespaces in doubt.
func (r *Namespaces) inDoubt() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.doubts)
}
