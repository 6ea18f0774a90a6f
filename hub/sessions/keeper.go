// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/fair"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

const (
	// announceFor is how long a replica tries to announce a session whose project gives no answer. Later sweeps do.
	announceFor = 10 * time.Second
	// attendFor bounds what is done for a session at once.
	attendFor = 10 * time.Second
	// sweepInterval is the interval between sweeps, which delete expired sessions, and announce sessions whose replica
	// was lost.
	sweepInterval = 15 * time.Second
	// keepMissing is how long a grant is kept after its session has expired in a project that does not answer to its name
	// any more. If the project returns, the session is deleted from it.
	keepMissing = 24 * time.Hour
)

// keep announces and sweeps sessions until ctx ends.
func (s *Server) keep(ctx context.Context) {
	s.lanes.Start(ctx)
	defer s.lanes.Stop()
	var watching sync.WaitGroup
	watching.Go(func() { s.followGrants(ctx) })
	defer watching.Wait()
	ticker := s.options.Clock.NewTicker(sweepInterval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
			s.options.Log.Error(err, "Sessions could not be swept")
		}
		select {
		case <-ctx.Done():
		case <-ticker.C():
		}
	}
}

// stored returns the session of a grant and a client of its project. It returns errUnknown if the project does not have
// the session.
func stored(ctx context.Context, projects Projects, grant *Grant) (*v1alpha.InstanceSession, client.Client, error) {
	project, err := projects.Client(ctx, grant.Project, grant.ProjectUID)
	if err != nil {
		return nil, nil, err
	}
	session := &v1alpha.InstanceSession{}
	err = project.Get(ctx, client.ObjectKey{Namespace: grant.Namespace, Name: grant.Name}, session)
	switch {
	case wire.IsMissing(err, grant.Name) || err == nil && session.UID != grant.UID:
		return nil, nil, errUnknown
	case err != nil:
		return nil, nil, fmt.Errorf("get session %s of project %s: %w", grant.Name, grant.Project, err)
	}
	return session, project, nil
}

// exists returns an ending when the session of a grant is deleted. A project that does not answer to its name and UID
// is no answer: it may have been lost by mistake, and ownership decides whether it is gone.
func exists(ctx context.Context, projects Projects, grant *Grant) error {
	session, _, err := stored(ctx, projects, grant)
	deleted := &ending{reason: v1alpha.ReasonSessionCompleted, message: "the session was deleted"}
	switch {
	case errors.Is(err, errUnknown):
		// Milo answers for a project that it does not have as for an empty one.
		if _, err := projects.Client(ctx, grant.Project, grant.ProjectUID); err != nil {
			return err
		}
		return deleted
	case err != nil:
		return err
	case !session.DeletionTimestamp.IsZero():
		return deleted
	}
	return nil
}

// announce writes the status of a session that has none.
func (s *Server) announce(ctx context.Context, grant *Grant) error {
	session, project, err := stored(ctx, s.options.Projects, grant)
	if err != nil || meta.FindStatusCondition(session.Status.Conditions, v1alpha.ConditionReady) != nil {
		return err
	}
	condition := metav1.Condition{
		Type: v1alpha.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonSessionReady, Message: "connect to status.url",
	}
	var ended *ending
	if _, err := s.places.find(ctx, grant); errors.As(err, &ended) {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, ended.reason, ended.message
	} else if err != nil {
		return err
	}
	before := session.DeepCopy()
	if condition.Status == metav1.ConditionTrue {
		if err := s.describe(ctx, grant, &session.Status); err != nil {
			return err
		}
	}
	session.Status.UserName = reasons.Shorten(grant.User.Username, 1024)
	meta.SetStatusCondition(&session.Status.Conditions, condition)
	return s.write(ctx, project, session, before)
}

// describe fills in how a client connects.
func (s *Server) describe(ctx context.Context, grant *Grant, status *v1alpha.InstanceSessionStatus) error {
	bundle, err := s.options.Bundle(ctx)
	if err != nil {
		return fmt.Errorf("read the CAs for clients of sessions: %w", err)
	}
	address, err := url.JoinPath(s.options.URL, PathPrefix, grant.Project, grant.Namespace, grant.Name, string(grant.UID))
	if err != nil {
		return fmt.Errorf("build the URL of a session: %w", err)
	}
	status.URL, status.CABundle, status.ExpirationTime = address, string(bundle), new(metav1.NewTime(grant.Expires))
	return nil
}

func (s *Server) write(ctx context.Context, project client.Client, session, before *v1alpha.InstanceSession) error {
	if err := project.Status().Patch(ctx, session, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the status of session %s: %w", session.Name, err)
	}
	return nil
}

// sweep finds the sessions of all grants, to delete what has expired and to announce what a lost replica has not
// announced. Every replica sweeps: a sweep has no effect on objects that another replica has swept.
func (s *Server) sweep(ctx context.Context) error {
	found, err := s.options.Grants.list(ctx)
	if err != nil {
		return err
	}
	s.tasks.retain(found)
	for uid, project := range found {
		s.tasks.update(uid, func(t *task) { t.keep = true })
		s.lanes.Add(project, uid)
	}
	return nil
}

// retain forgets grants that do not exist any more.
func (t *tasks) retain(found map[types.UID]types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.known, func(uid types.UID, _ *Grant) bool { return found[uid] == "" })
}

// granted returns the grant of a session. Grants do not change: it is read once.
func (s *Server) granted(ctx context.Context, uid types.UID) (*Grant, error) {
	s.tasks.mu.Lock()
	known := s.tasks.known[uid]
	s.tasks.mu.Unlock()
	if known != nil {
		return known, nil
	}
	read, err := s.options.Grants.get(ctx, uid)
	if err != nil {
		return nil, err
	}
	brief := read.brief()
	s.tasks.remember(brief)
	return brief, nil
}

// remember keeps a grant that exists.
func (t *tasks) remember(grant *Grant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known[grant.UID] = grant
}

// keepSession announces a session, or deletes it with its grant when it has expired, and a grant without a session.
func (s *Server) keepSession(ctx context.Context, uid types.UID, grant *Grant) fair.Next {
	var err error
	if grant == nil {
		if grant, err = s.granted(ctx, uid); err != nil {
			return s.unkept(ctx, uid, nil, err)
		}
	}
	now := s.options.Clock.Now()
	if !now.Before(grant.Expires) {
		return s.unkept(ctx, uid, grant, s.expire(ctx, grant))
	}
	err = s.announce(ctx, grant)
	age := now.Sub(grant.created())
	switch {
	case err != nil && !errors.Is(err, ErrProjectGone) && age <= announceFor:
		return fair.Next{Again: true}
	case errors.Is(err, errUnknown):
		// It was deleted, unless the project is lost.
		if _, err = s.options.Projects.Client(ctx, grant.Project, grant.ProjectUID); err == nil {
			err = s.options.Grants.remove(ctx, grant.UID)
		}
	}
	return s.unkept(ctx, uid, grant, err)
}

// unkept ends an attempt, which the next sweep repeats.
func (s *Server) unkept(ctx context.Context, uid types.UID, grant *Grant, err error) fair.Next {
	if err == nil || errors.Is(err, errUnknown) || errors.Is(err, ErrProjectGone) || ctx.Err() != nil && grant == nil {
		return fair.Next{}
	}
	project := ""
	if grant != nil {
		project = grant.Project
	}
	s.options.Log.Error(err, "A session is not announced or deleted yet", "uid", uid, "project", project)
	return fair.Next{}
}

// expire deletes a session that has expired, and then its grant.
func (s *Server) expire(ctx context.Context, grant *Grant) error {
	session, project, err := stored(ctx, s.options.Projects, grant)
	switch {
	case err == nil:
		if err := project.Delete(ctx, session, client.Preconditions{UID: &session.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete session %s of project %s: %w", grant.Name, grant.Project, err)
		}
	case errors.Is(err, ErrProjectGone) && s.options.Clock.Since(grant.Expires) < keepMissing:
		return nil
	case !errors.Is(err, errUnknown) && !errors.Is(err, ErrProjectGone):
		return err
	}
	return s.options.Grants.remove(ctx, grant.UID)
}
