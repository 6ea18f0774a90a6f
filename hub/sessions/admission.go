// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/hub/fair"
)

const (
	// storeWithin is how long an API server may take to store a session that was admitted.
	storeWithin = time.Minute
	// storesSoon is how long the sessions that a user may have, admitted and not stored, let no other one of the user be
	// admitted, and how long a process that ends waits for sessions to be stored.
	storesSoon = 5 * time.Second
)

var (
	errAdmitted = errors.New("the session was admitted already")
	errEnding   = errors.New("this replica ends")
)

// Admission grants the sessions that the webhook admits. It keeps each in memory, and records its grant on the hub once the
// project has stored the session: a creation that is refused after the webhook leaves nothing. It is safe for concurrent
// use.
type Admission struct {
	grants   *Grants
	projects Projects
	clock    clock.WithTicker
	log      logr.Logger
	lanes    fair.Lanes[types.UID, types.UID]

	mu       sync.Mutex
	admitted map[types.UID]*admitted
	// ended: no more sessions are admitted. drained is closed with the last session, while Run waits for that.
	ended   bool
	drained chan struct{}
}

// admitted is a session that its project may store.
type admitted struct {
	grant *Grant
	since time.Time
}

// NewAdmission returns an Admission. It sends no request.
func NewAdmission(grants *Grants, projects Projects, c clock.WithTicker, log logr.Logger) *Admission {
	a := &Admission{grants: grants, projects: projects, clock: c, log: log, admitted: map[types.UID]*admitted{}}
	a.lanes.Attend = a.attend
	return a
}

// Run records grants until ctx ends, and then the grants of sessions that are stored soon.
func (a *Admission) Run(ctx context.Context) error {
	recording, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer a.lanes.Stop()
	defer stop()
	a.lanes.Start(recording)
	a.mu.Lock()
	for uid, entry := range a.admitted {
		a.lanes.Add(entry.grant.ProjectUID, uid)
	}
	a.mu.Unlock()
	<-ctx.Done()
	drained := make(chan struct{})
	a.mu.Lock()
	a.ended, a.drained = true, drained
	a.signalDrained()
	a.mu.Unlock()
	select {
	case <-drained:
	case <-a.clock.After(storesSoon):
	}
	return nil
}

// Grant grants a session that its project is about to store. The error wraps ErrTooMany at a limit.
func (a *Admission) Grant(ctx context.Context, grant *Grant) error {
	if _, err := a.grants.check(ctx, grant); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.ended:
		return errEnding
	case a.admitted[grant.UID] != nil:
		return errAdmitted
	}
	if err := a.makeRoom(grant); err != nil {
		return err
	}
	a.admitted[grant.UID] = &admitted{grant, a.clock.Now()}
	a.lanes.Add(grant.ProjectUID, grant.UID) // before Run, Run does it
	return nil
}

// makeRoom bounds the sessions of a user in memory: it forgets one that was not stored soon. The caller holds the lock.
func (a *Admission) makeRoom(grant *Grant) error {
	var oldest *admitted
	count := 0
	for _, entry := range a.admitted {
		if entry.grant.ProjectUID != grant.ProjectUID || entry.grant.User.Username != grant.User.Username {
			continue
		}
		if count++; oldest == nil || entry.since.Before(oldest.since) {
			oldest = entry
		}
	}
	if count < a.grants.Limits.PerUser {
		return nil
	}
	if a.clock.Since(oldest.since) < storesSoon {
		return fmt.Errorf("%w: %d of user %q in project %q are being created; wait some seconds",
			ErrTooMany, count, grant.User.Username, grant.Project)
	}
	delete(a.admitted, oldest.grant.UID)
	return nil
}

// attend records the grant of a session once its project has it.
func (a *Admission) attend(ctx context.Context, uid types.UID) fair.Next {
	a.mu.Lock()
	entry := a.admitted[uid]
	a.mu.Unlock()
	if entry == nil {
		return fair.Next{}
	}
	bounded, cancel := context.WithTimeout(ctx, attendFor)
	defer cancel()
	err := a.record(bounded, entry.grant)
	if err != nil && a.clock.Since(entry.since) < storeWithin {
		return fair.Next{Again: true}
	}
	if err != nil && !errors.Is(err, errUnknown) && !errors.Is(err, ErrProjectGone) {
		a.log.Error(err, "A session is not granted", "uid", uid, "project", entry.grant.Project)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.admitted, uid)
	a.signalDrained()
	return fair.Next{}
}

// record records the grant of a session if its project has stored it. Beyond a limit, which other sessions have reached
// since it was admitted, it deletes the session.
func (a *Admission) record(ctx context.Context, grant *Grant) error {
	session, project, err := stored(ctx, a.projects, grant)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(session.Spec, grant.Spec) {
		return errors.New("the stored session is not the one that was admitted")
	}
	err = a.grants.Record(ctx, grant)
	if !errors.Is(err, ErrTooMany) {
		return client.IgnoreAlreadyExists(err)
	}
	a.log.Info("A session is deleted", "session", grant.Name, "project", grant.Project, "because", err.Error())
	if err := project.Delete(ctx, session, client.Preconditions{UID: &session.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete session %s of project %s: %w", grant.Name, grant.Project, err)
	}
	return nil
}

// signalDrained wakes Run when no session may be stored any more. The caller holds the lock.
func (a *Admission) signalDrained() {
	if a.drained != nil && len(a.admitted) == 0 {
		close(a.drained)
		a.drained = nil
	}
}
