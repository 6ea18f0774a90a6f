// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// maxSessionStreams is how many streams of one session a replica carries at the same time.
	maxSessionStreams = 32
	// userShare and projectShare are the parts of the streams of a replica that one user and one project may have.
	userShare, projectShare = 5, 2
	// portsPerSecond and othersPerSecond are the requests for a session that a replica looks up, and requestsAtOnce how
	// many more may come at once: a browser opens many connections to a port.
	portsPerSecond, othersPerSecond, requestsAtOnce = 10, 1, 2 * maxSessionStreams
	// projectLookups is how many requests of a project are looked up at the same time, and projectWaits how many more
	// wait.
	projectLookups, projectWaits = 16, 64
)

// refusal returns why there is no room for another stream; empty if there is. The caller holds the lock.
func (s *Server) refusal(c *stream) string {
	ofSession, ofUser, ofProject := 0, 0, 0
	for other := range s.open {
		if other.grant.UID == c.grant.UID {
			ofSession++
		}
		if other.grant.User.Username == c.grant.User.Username {
			ofUser++
		}
		if other.grant.ProjectUID == c.grant.ProjectUID {
			ofProject++
		}
	}
	limit := s.options.Grants.Limits.Streams
	switch ofAll := len(s.open); {
	case ofSession >= maxSessionStreams:
		return fmt.Sprintf("the session has %d streams at this replica, which is the most: close some of them", ofSession)
	case ofUser >= max(1, limit/userShare):
		return fmt.Sprintf("you have %d streams at this replica, which is the most of a user: close some of them", ofUser)
	case ofProject >= max(1, limit/projectShare):
		return fmt.Sprintf("project %s has %d streams at this replica, which is the most of a project: close some of them",
			c.grant.Project, ofProject)
	case ofAll >= limit:
		return "this replica carries as many streams as it may, try again"
	}
	return ""
}

// rates limit the requests of each session. They are safe for concurrent use.
type rates struct {
	mu       sync.Mutex
	limiters *lru.Cache
}

func newRates() *rates { return &rates{limiters: lru.New(remembered)} }

// limiter returns the limiter of a session.
func (r *rates) limiter(grant *Grant) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, _ := r.limiters.Get(grant.UID)
	if limiter, ok := found.(*rate.Limiter); ok {
		return limiter
	}
	perSecond := rate.Limit(othersPerSecond)
	if grant.Spec.Type == v1alpha.SessionPortForward {
		perSecond = portsPerSecond
	}
	limiter := rate.NewLimiter(perSecond, requestsAtOnce)
	r.limiters.Add(grant.UID, limiter)
	return limiter
}

// turns bound the requests of each project that are looked up at the same time: a project that hangs delays no other
// one. They are safe for concurrent use.
type turns struct {
	mu    sync.Mutex
	byUID map[types.UID]*turn
}

// turn has the requests of one project.
type turn struct {
	slots chan struct{}
	// all are the requests that are looked up, and the requests that wait.
	all int
}

// errNoTurn reports that too many requests of a project wait.
var errNoTurn = errors.New("too many requests for sessions of the project are looked up")

// take waits for a turn of a project, which release ends.
func (t *turns) take(ctx context.Context, project types.UID) (release func(), err error) {
	mine, err := t.enter(project)
	if err != nil {
		return nil, err
	}
	select {
	case mine.slots <- struct{}{}:
		return func() { <-mine.slots; t.leave(project, mine) }, nil
	case <-ctx.Done():
		t.leave(project, mine)
		return nil, errNoTurn
	}
}

func (t *turns) enter(project types.UID) (*turn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := t.byUID[project]
	if mine == nil {
		mine = &turn{slots: make(chan struct{}, projectLookups)}
		t.byUID[project] = mine
	}
	if mine.all >= projectLookups+projectWaits {
		return nil, errNoTurn
	}
	mine.all++
	return mine, nil
}

func (t *turns) leave(project types.UID, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine.all--; mine.all == 0 {
		delete(t.byUID, project)
	}
}
