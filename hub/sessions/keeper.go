// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wording"
)

const (
	// announcements is how many new grants wait at most; the sweep finds more than these.
	announcements = 1000
	// announcers is how many are announced at the same time.
	announcers = 4
	// storeWithin is how long an API server may take to store a session that was granted.
	storeWithin = time.Minute
	// announceFor bounds the time for the first announcement of a session. Its attempts are announceSoonest apart at first, and later
	// announceEvery: most API servers store a session within some milliseconds after admission.
	announceFor, announceSoonest, announceEvery = 10 * time.Second, 5 * time.Millisecond, 100 * time.Millisecond
	// sweepInterval is the interval between sweeps, which delete expired sessions, and announce sessions whose replica
	// was lost.
	sweepInterval = 15 * time.Second
	// writeTimeout bounds the write of a status.
	writeTimeout = 10 * time.Second
)

// Grant records a session that admission grants, and announces it once the project has it.
func (s *Server) Grant(ctx context.Context, grant *Grant) error {
	if err := s.options.Grants.Record(ctx, grant); err != nil {
		return err
	}
	select {
	case s.announced <- grant:
	default:
	}
	return nil
}

// keep announces and sweeps sessions until ctx ends.
func (s *Server) keep(ctx context.Context) {
	var group errgroup.Group
	for range announcers {
		group.Go(func() error { s.announceAll(ctx); return nil })
	}
	ticker := s.options.Clock.NewTicker(sweepInterval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
			s.options.Log.Error(err, "Expired sessions could not be swept")
		}
		select {
		case <-ctx.Done():
		case <-ticker.C():
		}
	}
	_ = group.Wait()
}

func (s *Server) announceAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case grant := <-s.announced:
			bounded, cancel := context.WithTimeout(ctx, announceFor)
			if err := s.announceSoon(bounded, grant); err != nil && ctx.Err() == nil {
				s.options.Log.Error(err, "A session is not announced yet", "project", grant.Project, "session", grant.Name)
			}
			cancel()
		}
	}
}

// announceSoon announces a session as soon as the project has stored it.
func (s *Server) announceSoon(ctx context.Context, grant *Grant) error {
	for pause := announceSoonest; ; pause = min(2*pause, announceEvery) {
		err := s.announce(ctx, grant)
		if !errors.Is(err, errUnknown) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("session %s is not in project %s: %w", grant.Name, grant.Project, ctx.Err())
		case <-s.options.Clock.After(pause):
		}
	}
}

// stored returns the session of a grant and a client of its project. It returns errUnknown if the project does not have the session.
func stored(ctx context.Context, projects Projects, grant *Grant) (*v1alpha.InstanceSession, client.Client, error) {
	project, err := projects.Client(ctx, grant.Project, grant.ProjectUID)
	if err != nil {
		return nil, nil, err
	}
	session := &v1alpha.InstanceSession{}
	err = project.Get(ctx, client.ObjectKey{Namespace: grant.Namespace, Name: grant.Name}, session)
	switch {
	case apierrors.IsNotFound(err) || err == nil && session.UID != grant.UID:
		return nil, nil, errUnknown
	case err != nil:
		return nil, nil, fmt.Errorf("get session %s of project %s: %w", grant.Name, grant.Project, err)
	}
	return session, project, nil
}

// exists returns an ending when the session of a grant is deleted.
func exists(ctx context.Context, projects Projects, grant *Grant) error {
	session, _, err := stored(ctx, projects, grant)
	deleted := &ending{reason: v1alpha.ReasonSessionCompleted, message: "the session was deleted"}
	switch {
	case errors.Is(err, ErrProjectGone):
		return gone("project %s does not exist any more", grant.Project)
	case errors.Is(err, errUnknown):
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
	session.Status.UserName = wording.Shorten(grant.User.Username, 1024)
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

// connected notes in the status that a client is connected.
func (s *Server) connected(grant *Grant) {
	s.note(grant, nil, metav1.Condition{
		Type: v1alpha.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonSessionConnected, Message: "a client is connected",
	})
}

// finish writes the lasting end of a session. One for ports does not end with one of its connections.
func (s *Server) finish(grant *Grant, ended *ending) {
	if grant.Spec.Type == v1alpha.SessionPortForward && ended.reason == v1alpha.ReasonSessionCompleted {
		return
	}
	s.note(grant, ended.exitCode, metav1.Condition{
		Type: v1alpha.ConditionReady, Status: metav1.ConditionFalse, Reason: ended.reason, Message: wording.Shorten(ended.message, v1alpha.MaxMessage),
	})
}

// note writes a condition and an exit code. A condition that reports the end of the session is replaced only by another
// connection of a session that may have several.
func (s *Server) note(grant *Grant, exitCode *int32, condition metav1.Condition) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	session, project, err := stored(ctx, s.options.Projects, grant)
	if err == nil {
		before := session.DeepCopy()
		last := meta.FindStatusCondition(session.Status.Conditions, v1alpha.ConditionReady)
		late := condition.Status == metav1.ConditionTrue && last != nil && last.Status == metav1.ConditionFalse
		if late && usedOnce(grant.Spec.Type) {
			return
		}
		if !meta.SetStatusCondition(&session.Status.Conditions, condition) {
			return
		}
		if exitCode != nil {
			session.Status.ExitCode = exitCode
		}
		err = s.write(ctx, project, session, before)
	}
	if err != nil && !errors.Is(err, errUnknown) && !errors.Is(err, ErrProjectGone) {
		s.options.Log.Error(err, "The state of a session is not shown", "project", grant.Project, "session", grant.Name, "reason", condition.Reason)
	}
}

func (s *Server) write(ctx context.Context, project client.Client, session, before *v1alpha.InstanceSession) error {
	if err := project.Status().Patch(ctx, session, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the status of session %s: %w", session.Name, err)
	}
	return nil
}

// sweep deletes expired sessions, and announces sessions that a lost replica has not announced. Every replica sweeps: a
// sweep has no effect on objects that another replica has swept.
func (s *Server) sweep(ctx context.Context) error {
	grants, err := s.options.Grants.list(ctx)
	if err != nil {
		return err
	}
	var failures []error
	for _, grant := range grants {
		bounded, cancel := context.WithTimeout(ctx, announceFor)
		failures = append(failures, s.sweepOne(bounded, grant))
		cancel()
	}
	return errors.Join(failures...)
}

func (s *Server) sweepOne(ctx context.Context, grant *Grant) error {
	if !s.options.Clock.Now().Before(grant.Expires) {
		return s.expire(ctx, grant)
	}
	err := s.announce(ctx, grant)
	created := grant.Expires.Add(-time.Duration(grant.Spec.TTLSeconds) * time.Second)
	switch {
	case errors.Is(err, ErrProjectGone):
		return s.options.Grants.remove(ctx, grant.UID)
	case errors.Is(err, errUnknown) && s.options.Clock.Since(created) > storeWithin:
		// It was deleted, or never stored.
		return s.options.Grants.remove(ctx, grant.UID)
	case errors.Is(err, errUnknown):
		return nil
	}
	return err
}

// expire deletes a session that has expired, and then its grant.
func (s *Server) expire(ctx context.Context, grant *Grant) error {
	session, project, err := stored(ctx, s.options.Projects, grant)
	switch {
	case err == nil:
		if err := project.Delete(ctx, session, client.Preconditions{UID: &session.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete session %s of project %s: %w", grant.Name, grant.Project, err)
		}
	case !errors.Is(err, errUnknown) && !errors.Is(err, ErrProjectGone):
		return err
	}
	return s.options.Grants.remove(ctx, grant.UID)
}

// record writes the Event of a session, about its Instance, in the project: a session is deleted soon. Of several streams of a session
// only the first one has an Event; each has a line in the log.
func (s *Server) record(grant *Grant, message string) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	project, err := s.options.Projects.Client(ctx, grant.Project, grant.ProjectUID)
	if err == nil {
		now := metav1.NewTime(s.options.Clock.Now())
		err = client.IgnoreAlreadyExists(project.Create(ctx, &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: grant.Namespace, Name: "session." + string(grant.UID)},
			InvolvedObject: corev1.ObjectReference{
				APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindInstance, Namespace: grant.Namespace,
				Name: grant.Spec.InstanceRef.Name, UID: grant.Spec.InstanceRef.UID,
			},
			Type: corev1.EventTypeNormal, Reason: eventReason, Message: wording.Shorten(message, maxEventMessage),
			Source: corev1.EventSource{Component: "karmada-compute"}, FirstTimestamp: now, LastTimestamp: now, Count: 1,
		}))
	}
	if err != nil && !errors.Is(err, ErrProjectGone) {
		s.options.Log.Error(err, "A session has no Event", "project", grant.Project, "session", grant.Name)
	}
}

const (
	eventReason = "InstanceSession"
	// maxEventMessage is the largest message that API servers accept.
	maxEventMessage = 1024
)
