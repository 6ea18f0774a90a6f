// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/cli/live"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

func (c *command) eventsCommand() *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:   "events WORKLOAD",
		Short: "List the events of a Workload, its deployments and Instances, the newest last",
		Example: c.examples(`
  # What has happened to Workload web
  %s events web
  # And what happens from now on
  %s events web -w`),
		Args:              oneArg("the name of a Workload"),
		ValidArgsFunction: c.completeWorkloads,
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "Continue with new and repeated events, until Ctrl-C or until the Workload is deleted.")
	out := newOutput(cmd)
	cmd.RunE = c.onWorkload(out, func(ctx context.Context, s *session, snapshot *view.Snapshot) error {
		events, err := s.events(ctx, newSubjects(snapshot), readNow)
		if err != nil {
			return err
		}
		if err := c.tellHidden(snapshot); err != nil {
			return err
		}
		if watch {
			return c.followEvents(ctx, s, snapshot, out)
		}
		return c.printEvents(events, out)
	})
	return cmd
}

const (
	// eventsOf begins the names of events in the kinds that a user may not read.
	eventsOf        = "events of "
	eventsOfProject = eventsOf + "the project"
)

// eventReader returns a reader for the events in a namespace of a plane.
type eventReader func(ctx context.Context, plane *live.Plane, namespace string) (client.Reader, error)

// readNow returns the client of the API server.
func readNow(_ context.Context, plane *live.Plane, _ string) (client.Reader, error) {
	return plane.Client, nil
}

// events returns the events about the objects of a Workload, in the project and on the hub, the newest last. Namespaces
// in which the user may not list events are left out. If the user may not list events in any namespace, it returns an
// error.
func (s *session) events(ctx context.Context, of *subjects, reader eventReader) ([]corev1.Event, error) {
	var (
		events  []corev1.Event
		refused error
		seen    bool
	)
	for _, in := range []struct {
		name       string
		plane      *live.Plane
		namespaces []string
	}{{"the project", s.project, []string{s.namespace}}, {"the hub", s.hub, of.hubNamespaces}} {
		if in.plane == nil {
			continue
		}
		for _, namespace := range in.namespaces {
			list, err := eventsIn(ctx, in.plane, namespace, reader)
			if apierrors.IsForbidden(err) {
				refused = err
				of.snapshot.Hidden[eventsOf+in.name] = err
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("list events: %w", err)
			}
			seen = true
			events = append(events, slices.DeleteFunc(list, func(e corev1.Event) bool { return !of.uids[e.InvolvedObject.UID] })...)
		}
	}
	if !seen {
		return nil, refused
	}
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return lastSeen(&a).Compare(lastSeen(&b)) })
	return events, nil
}

func eventsIn(ctx context.Context, plane *live.Plane, namespace string, reader eventReader) ([]corev1.Event, error) {
	from, err := reader(ctx, plane, namespace)
	if err != nil {
		return nil, err
	}
	list := &corev1.EventList{}
	err = from.List(ctx, list, client.InNamespace(namespace))
	return list.Items, err
}

// subjects holds the objects whose events belong to a Workload.
type subjects struct {
	snapshot *view.Snapshot
	// uids holds the UIDs of the Workload's objects, including deleted ones: events about their deletion are shown, too.
	uids map[types.UID]bool
	// hubNamespaces holds the hub namespaces of the objects.
	hubNamespaces []string
}

func newSubjects(snapshot *view.Snapshot) *subjects {
	s := &subjects{uids: map[types.UID]bool{}}
	s.see(snapshot)
	return s
}

// see adds the objects of a snapshot.
func (s *subjects) see(snapshot *view.Snapshot) {
	s.snapshot = snapshot
	if snapshot.Workload != nil {
		s.uids[snapshot.Workload.UID] = true
	}
	for i := range snapshot.Deployments {
		s.uids[snapshot.Deployments[i].UID] = true
	}
	for i := range snapshot.Instances {
		s.uids[snapshot.Instances[i].UID] = true
	}
	for _, onHub := range snapshot.Hub {
		if onHub.Copy != nil {
			s.uids[onHub.Copy.UID] = true
			s.hubNamespaces = append(s.hubNamespaces, onHub.Namespace)
		}
		if onHub.Binding != nil {
			s.uids[onHub.Binding.UID] = true
		}
	}
	delete(s.uids, "")
	slices.Sort(s.hubNamespaces)
	s.hubNamespaces = slices.Compact(s.hubNamespaces)
}

// lastSeen returns the time when an event was last counted, from the fields of its present or former API.
func lastSeen(e *corev1.Event) time.Time {
	var at time.Time
	for _, later := range []time.Time{e.EventTime.Time, e.LastTimestamp.Time} {
		if later.After(at) {
			at = later
		}
	}
	if e.Series != nil && e.Series.LastObservedTime.After(at) {
		at = e.Series.LastObservedTime.Time
	}
	if at.IsZero() {
		return e.CreationTimestamp.Time
	}
	return at
}

func (c *command) printEvents(events []corev1.Event, out *output) error {
	if len(events) == 0 && out.isText() {
		_, err := fmt.Fprintln(c.Streams.ErrOut, "No events found. API servers keep them for an hour by default.")
		return err
	}
	return c.newEventPrinter(out).print(events)
}

// eventPrinter prints events and appends later ones.
type eventPrinter struct {
	*command
	out     *output
	columns terminal.Columns
	headed  bool
}

func (c *command) newEventPrinter(out *output) *eventPrinter {
	return &eventPrinter{command: c, out: out}
}

func (p *eventPrinter) print(events []corev1.Event) error {
	if !p.out.isText() {
		return p.out.print(p.data, "WorkloadEvents", map[string]any{"items": events})
	}
	var rows [][]string
	if !p.headed {
		rows, p.headed = append(rows, []string{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}), true
	}
	for i := range events {
		e := &events[i]
		rows = append(rows, []string{
			duration.HumanDuration(p.Clock.Now().Sub(lastSeen(e))), e.Type, e.Reason,
			strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name, strings.Join(strings.Fields(reasons.Clean(told(e))), " "),
		})
	}
	_, err := fmt.Fprintln(p.Streams.Out, strings.Join(p.columns.Align(rows), "\n"))
	return err
}

// ownEvents begins the names of the components that write the add-on's Events. On the hub, an admission policy refuses Events with such a
// name by others.
const ownEvents = "karmada-compute"

// told is the message of an Event, with the writer of one that is not the add-on's: whoever may create Events can say anything about an
// object.
func told(e *corev1.Event) string {
	writer := cmp.Or(e.ReportingController, e.Source.Component, "an unknown writer")
	if writer == ownEvents || strings.HasPrefix(writer, ownEvents+"-") {
		return e.Message
	}
	return "from " + writer + ": " + e.Message
}

// followEvents prints the existing events, and then each new or repeated one, until the user ends it or the Workload is
// deleted. It compares lists of events and does not rely on the events of a watch: after a lost watch no event is
// missed or printed twice.
func (c *command) followEvents(ctx context.Context, s *session, first *view.Snapshot, out *output) error {
	w, err := c.watchWorkload(ctx, s, first, false)
	if err != nil {
		return err
	}
	var (
		of      = newSubjects(first)
		printer = c.newEventPrinter(out)
		told    = map[types.UID]string{}
		problem string
	)
	return w.Each(ctx, func(snapshot *view.Snapshot) (bool, error) {
		if err := c.tellProblem(w, &problem); err != nil {
			return false, err
		}
		of.see(snapshot)
		events, err := s.events(ctx, of, w.Events)
		switch {
		case apierrors.IsForbidden(err):
			return false, err
		case err != nil:
			w.Failed(ctx, err)
			return false, nil
		}
		var news []corev1.Event
		for _, e := range events {
			if told[e.UID] != e.ResourceVersion {
				told[e.UID] = e.ResourceVersion
				news = append(news, e)
			}
		}
		if len(news) == 0 {
			return snapshot.Gone(), nil
		}
		return snapshot.Gone(), printer.print(news)
	})
}

// tellProblem prints once, on the error stream, that events may be missing at present, and later that they are complete
// again.
func (c *command) tellProblem(w *live.Watch, before *string) error {
	now := w.Problem()
	var err error
	switch {
	case now != "" && *before == "":
		_, err = fmt.Fprintln(c.Streams.ErrOut, now)
	case now == "" && *before != "":
		_, err = fmt.Fprintln(c.Streams.ErrOut, "followed again")
	}
	*before = now
	return err
}
