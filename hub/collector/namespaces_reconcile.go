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

// doubt records Milo's answers about absent projects with objects in a hub namespace.
type doubt struct {
	// gone are the UIDs of projects that do not exist.
	gone []types.UID
	// since is when Milo first answered so, last when an answer was last counted, and answers the number of counted
	// answers.
	since, last time.Time
	answers     int
	// withdrawing: enough answers were counted, and the deletion has begun.
	withdrawing bool
	// held: the withdrawal waits for an operator.
	held bool
}

// covers reports whether the answers counted so far are about all of these projects.
func (d *doubt) covers(gone []types.UID) bool {
	return !slices.ContainsFunc(gone, func(uid types.UID) bool { return !slices.Contains(d.gone, uid) })
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

// count counts an answer of Milo that projects do not exist. It returns how long to wait for the next answer, 0 if
// there were enough, and whether this is the first one.
func (r *Namespaces) count(namespace string, gone []types.UID) (wait time.Duration, isFirst bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Clock.Now()
	d := r.doubts[namespace]
	if d == nil || !d.covers(gone) {
		r.doubts[namespace] = &doubt{gone: gone, since: now, last: now, answers: 1}
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
