// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubectl/pkg/cmd/util"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/live"
	"github.com/karmada-compute/karmada-compute/cli/page"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

// state returns what the page shows for a query.
func (c *connected) state(q page.Query) (*page.State, error) {
	result := &page.State{
		Project: c.ProjectName, Namespace: c.Namespace, Loaded: true, Hidden: slices.Sorted(maps.Keys(c.hidden)),
		NoLogs: c.facts.noLogs,
	}
	if c.hidden["workloads"] == nil {
		overviews, err := view.ReadOverviews(c.ctx, c.watch.Planes().Project, c.Now(), client.InNamespace(c.Namespace))
		if err != nil {
			return nil, err
		}
		result.Show(overviews, q)
	}
	if q.Workload == "" {
		return result, nil
	}
	snapshot, err := c.snapshot(q.Workload)
	if err != nil {
		return nil, err
	}
	events, err := c.lastEvents(snapshot)
	if err != nil {
		return nil, err
	}
	result.Workload = page.WorkloadOf(snapshot, c.facts.locations, c.facts.readError)
	result.Workload.Events = events
	result.Hidden = snapshot.HiddenKinds()
	return result, nil
}

// snapshot returns the present state of a Workload.
func (c *connected) snapshot(name string) (*view.Snapshot, error) {
	snapshot, err := c.watch.SnapshotOf(c.ctx, name)
	if err == nil && c.facts.suspension != nil && !snapshot.ShowsSuspension() {
		snapshot.Suspend(*c.facts.suspension)
	}
	return snapshot, err
}

// lastEvents returns the last events of a Workload, the newest first; none if the user may not read events.
func (c *connected) lastEvents(s *view.Snapshot) ([]page.Event, error) {
	if refused, hidden := c.hidden[view.EventsOfProject]; hidden {
		s.Hidden[view.EventsOfProject] = refused
		return nil, nil
	}
	reader := func(_ context.Context, plane *live.Plane, namespace string) (client.Reader, error) {
		return c.watch.Events(c.ctx, plane, namespace)
	}
	events, err := live.Events(c.ctx, c.Live(""), view.NewSubjects(s), reader)
	if err != nil {
		return nil, err
	}
	slices.Reverse(events)
	result := make([]page.Event, 0, min(len(events), page.MostEvents))
	for i := range events[:cap(result)] {
		result = append(result, eventOf(&events[i]))
	}
	return result, nil
}

func eventOf(e *corev1.Event) page.Event {
	return page.Event{
		Seen: metav1.NewTime(view.LastSeen(e)), Type: e.Type, Reason: e.Reason, Message: view.Shortened(view.Told(e)),
		Object: strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name,
	}
}

// problemOf returns why a board is not connected, and what its user must do.
func problemOf(err error, now time.Time) *page.Problem {
	problem := &page.Problem{Since: now, Do: "The page connects again by itself. If that does not help, check the kubeconfig and the network."}
	var (
		unreached *url.Error
		missing   *missingError
	)
	switch {
	case errors.As(err, &missing):
		problem.Message = missing.Error()
		problem.Do = "Choose another namespace, or create this one. The page continues by itself."
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		problem.Message = "the API server does not answer"
	case apierrors.IsUnauthorized(err):
		problem.Message = "the API server does not accept your credential: it has expired, or is not valid"
		problem.Do = "Sign in again, in the way that wrote your kubeconfig. The page reads the kubeconfig again, and continues by itself."
	case errors.Is(err, command.ErrNotServed), apierrors.IsForbidden(err):
		problem.Message = err.Error()
		problem.Do = "Check the context and the namespace of your kubeconfig, and ask for a role in the project. The page continues by itself."
	case errors.As(err, &unreached):
		problem.Message = unreached.Error()
		if message, known := util.StandardErrorMessage(unreached); known {
			problem.Message = message
		}
		problem.Do = "Check the network, and the address in your kubeconfig. The page continues by itself when the API server answers."
	default:
		problem.Message = err.Error()
	}
	problem.Message = view.Shortened(problem.Message)
	return problem
}
