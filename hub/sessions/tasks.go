// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/fair"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

const (
	// showAtOnce is the number of changes of a session that its project gets without delay. Of more, it gets the last one
	// every showEvery.
	showAtOnce, showEvery = 6, 10 * time.Second
	// showTries is the maximum number of attempts to write a change.
	showTries = 5
	// remembered is how many sessions a replica remembers for the pace of their changes, and whether they have an Event:
	// the last ones.
	remembered = 4096
)

// task is the work for a session.
type task struct {
	// grant is nil until it is read.
	grant *Grant
	// keep: the session must be announced, or deleted with its grant.
	keep bool
	// shown is the state that the project must show; nil: it shows the last one.
	shown *note
}

// note is the last known state of a session, and its Event.
type note struct {
	condition metav1.Condition
	exitCode  *int32
	event     trace
	tries     int
}

// trace is the Event of the command that a session belongs to.
type trace struct{ name, message string }

// logsWithin is how long the sessions of a user for the logs of one Workload belong to one command.
const logsWithin = time.Minute

// traceOf returns the Event of a session. A command that reads logs has a session for each container, and others to continue them: the
// sessions that end in the same minute have one Event, whichever replicas they end on. Each has a line in a log.
func traceOf(c *stream, now time.Time, end string) trace {
	grant := c.grant
	if grant.Spec.Type != v1alpha.SessionLogs || c.at.workload == "" {
		return trace{
			name:    "session." + string(grant.UID),
			message: fmt.Sprintf("user %q ended a session of type %s %s", grant.User.Username, grant.Spec.Type, end),
		}
	}
	key := fmt.Sprintf("%s/%s/%s/%d", grant.User.Username, grant.Namespace, c.at.workload, now.Truncate(logsWithin).Unix())
	return trace{
		name: fmt.Sprintf("session.logs.%x", sha256.Sum256([]byte(key))),
		message: fmt.Sprintf("user %q read logs of Workload %s; the first session, of type %s for Instance %s, ended %s",
			grant.User.Username, c.at.workload, grant.Spec.Type, grant.Spec.InstanceRef.Name, end),
	}
}

// tasks are the tasks of a replica. They are safe for concurrent use.
type tasks struct {
	mu    sync.Mutex
	ofUID map[types.UID]*task
	// known are the grants that exist, without what only streams need.
	known map[types.UID]*Grant
	// paces limit the changes of each session, and recorded are the sessions and the Events that are written.
	paces, recorded *lru.Cache
	// hurry: the replica ends, and writes each change once and at once.
	hurry bool
}

func newTasks() *tasks {
	return &tasks{ofUID: map[types.UID]*task{}, known: map[types.UID]*Grant{}, paces: lru.New(remembered), recorded: lru.New(remembered)}
}

// update changes the task of a session.
func (t *tasks) update(uid types.UID, change func(*task)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := t.ofUID[uid]
	if found == nil {
		found = &task{}
		t.ofUID[uid] = found
	}
	change(found)
	if !found.keep && found.shown == nil {
		delete(t.ofUID, uid)
	}
}

// look returns a copy of the task of a session.
func (t *tasks) look(uid types.UID) task {
	t.mu.Lock()
	defer t.mu.Unlock()
	if found := t.ofUID[uid]; found != nil {
		return *found
	}
	return task{}
}

// pace returns how long the next change of a session must wait.
func (t *tasks) pace(uid types.UID, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hurry {
		return 0
	}
	found, _ := t.paces.Get(uid)
	limiter, ok := found.(*rate.Limiter)
	if !ok {
		limiter = rate.NewLimiter(rate.Every(showEvery), showAtOnce)
		t.paces.Add(uid, limiter)
	}
	reserved := limiter.ReserveN(now, 1)
	delay := reserved.DelayFrom(now)
	if delay > 0 {
		reserved.CancelAt(now)
	}
	return delay
}

// attend does the work for a session.
func (s *Server) attend(ctx context.Context, uid types.UID) fair.Next {
	bounded, cancel := context.WithTimeout(ctx, attendFor)
	defer cancel()
	todo, next := s.tasks.look(uid), fair.Next{}
	if todo.keep {
		if next = s.keepSession(bounded, uid, todo.grant); !next.Again {
			s.tasks.update(uid, func(t *task) { t.keep = false })
		}
	}
	if todo.shown == nil {
		return next
	}
	if delay := s.tasks.pace(uid, s.options.Clock.Now()); delay > 0 {
		if next.Again {
			return next
		}
		return fair.Next{Again: true, After: delay}
	}
	err := s.show(bounded, todo.grant, todo.shown)
	settled := false
	s.tasks.update(uid, func(t *task) {
		if t.shown != todo.shown {
			return // it changed meanwhile
		}
		if t.shown.tries++; err != nil && t.shown.tries < showTries && !s.tasks.hurry {
			return
		}
		t.shown, settled = nil, true
	})
	if !settled {
		return fair.Next{Again: true}
	}
	s.running.Done()
	if err != nil {
		s.options.Log.Error(err, "The state of a session is not shown", "project", todo.grant.Project, "session", todo.grant.Name,
			"reason", todo.shown.condition.Reason)
	}
	return next
}

// connected shows that a client is connected.
func (s *Server) connected(grant *Grant) {
	s.note(grant, &note{condition: metav1.Condition{
		Type: v1alpha.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonSessionConnected, Message: "a client is connected",
	}})
}

// finish shows the lasting end of a session, with its Event. One for ports does not end with one of its
// connections.
func (s *Server) finish(grant *Grant, ended *ending, event trace) {
	shown := &note{exitCode: ended.exitCode, event: event, condition: metav1.Condition{
		Type: v1alpha.ConditionReady, Status: metav1.ConditionFalse, Reason: ended.reason,
		Message: reasons.Shorten(ended.message, v1alpha.MaxMessage),
	}}
	if grant.Spec.Type == v1alpha.SessionPortForward && ended.reason == v1alpha.ReasonSessionCompleted {
		shown.condition = metav1.Condition{}
	}
	s.note(grant, shown)
}

// note lets the project show a state. A later state replaces one that was not shown yet.
func (s *Server) note(grant *Grant, shown *note) {
	s.tasks.update(grant.UID, func(t *task) {
		t.grant = grant.brief()
		before := t.shown
		t.shown = shown
		if before == nil {
			s.running.Add(1)
			return
		}
		if shown.condition.Type == "" {
			shown.condition = before.condition
		}
		if shown.exitCode == nil {
			shown.exitCode = before.exitCode
		}
		if shown.event.name == "" {
			shown.event = before.event
		}
	})
	if s.lanes.Add(grant.ProjectUID, grant.UID) {
		return
	}
	// The replica has ended.
	s.tasks.update(grant.UID, func(t *task) {
		if t.shown != nil {
			t.shown = nil
			s.running.Done()
		}
	})
}

// hurry lets all states be written now, since the replica ends.
func (s *Server) hurry() {
	s.tasks.mu.Lock()
	s.tasks.hurry = true
	waiting := map[types.UID]types.UID{}
	for uid, todo := range s.tasks.ofUID {
		if todo.shown != nil {
			waiting[uid] = todo.grant.ProjectUID
		}
	}
	s.tasks.mu.Unlock()
	for uid, project := range waiting {
		s.lanes.Add(project, uid)
	}
}

// show writes a state into the project. A session that the project does not have shows nothing.
func (s *Server) show(ctx context.Context, grant *Grant, shown *note) error {
	err := s.showCondition(ctx, grant, shown)
	if shown.event.name != "" {
		err = errors.Join(err, s.record(ctx, grant, shown.event))
	}
	return err
}

// showCondition writes a condition and an exit code. A condition that reports the end of the session is replaced only
// by another connection of a session that may have several.
func (s *Server) showCondition(ctx context.Context, grant *Grant, shown *note) error {
	if shown.condition.Type == "" {
		return nil
	}
	session, project, err := stored(ctx, s.options.Projects, grant)
	switch {
	case errors.Is(err, errUnknown) || errors.Is(err, ErrProjectGone):
		return nil
	case err != nil:
		return err
	}
	before := session.DeepCopy()
	last := meta.FindStatusCondition(session.Status.Conditions, v1alpha.ConditionReady)
	if shown.condition.Status == metav1.ConditionTrue && last != nil && last.Status == metav1.ConditionFalse &&
		usedOnce(grant.Spec.Type) && !mayBeUsedAgain(last.Reason) {
		return nil
	}
	if !meta.SetStatusCondition(&session.Status.Conditions, shown.condition) {
		return nil
	}
	if shown.exitCode != nil {
		session.Status.ExitCode = shown.exitCode
	}
	return s.write(ctx, project, session, before)
}

// mayBeUsedAgain reports whether a command that ended so may not have begun, so that its session is not used up.
func mayBeUsedAgain(reason string) bool {
	return reason == v1alpha.ReasonSessionFailed || reason == v1alpha.ReasonSessionUnreachable
}

// record writes the Event of a session, about its Instance, in the project: a session is deleted soon. Of several
// streams of a session only the first one has an Event; each has a line in the log.
func (s *Server) record(ctx context.Context, grant *Grant, event trace) error {
	_, found := s.tasks.recorded.Get(grant.UID)
	shared := string(grant.ProjectUID) + "/" + event.name
	if _, written := s.tasks.recorded.Get(shared); found || written {
		return nil
	}
	project, err := s.options.Projects.Client(ctx, grant.Project, grant.ProjectUID)
	if errors.Is(err, ErrProjectGone) {
		return nil
	}
	if err == nil {
		now := metav1.NewTime(s.options.Clock.Now())
		err = client.IgnoreAlreadyExists(project.Create(ctx, &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: grant.Namespace, Name: event.name},
			InvolvedObject: corev1.ObjectReference{
				APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindInstance, Namespace: grant.Namespace,
				Name: grant.Spec.InstanceRef.Name, UID: grant.Spec.InstanceRef.UID,
			},
			Type: corev1.EventTypeNormal, Reason: v1alpha.EventInstanceSession, Message: reasons.Shorten(event.message, maxEventMessage),
			Source: corev1.EventSource{Component: "karmada-compute"}, FirstTimestamp: now, LastTimestamp: now, Count: 1,
		}))
	}
	if err != nil {
		return fmt.Errorf("record session %s as an Event: %w", grant.Name, err)
	}
	s.tasks.recorded.Add(grant.UID, nil)
	s.tasks.recorded.Add(shared, nil)
	return nil
}

// maxEventMessage is the largest message that API servers accept.
const maxEventMessage = 1024
