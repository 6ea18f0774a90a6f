// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
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
)

func (c *command) eventsCommand() *cobra.Command {
	var out *output
	cmd := &cobra.Command{
		Use:   "events WORKLOAD",
		Short: "List the events of a Workload, its deployments and Instances, the newest last",
		Example: c.examples(`
  %s events web`),
		Args:              oneArg("the name of a Workload"),
		ValidArgsFunction: c.completeWorkloads,
	}
	out = newOutput(cmd)
	cmd.RunE = c.run(func(ctx context.Context, args []string) error {
		if err := out.check(); err != nil {
			return err
		}
		s, err := c.connectToWorkload()
		if err != nil {
			return err
		}
		snapshot, err := s.read(ctx, args[0])
		if err != nil {
			return err
		}
		events, err := s.events(ctx, snapshot)
		if err != nil {
			return err
		}
		return c.printEvents(events, out)
	})
	return cmd
}

// events are those about the objects of a Workload, in the project and on the hub. Where they may not be listed they are left out;
// that nothing may be listed is an error.
func (s *session) events(ctx context.Context, snapshot *view.Snapshot) ([]corev1.Event, error) {
	uids, namespaces := objectsOf(snapshot)
	var (
		events  []corev1.Event
		refused error
		seen    bool
	)
	for _, in := range []struct {
		plane      *live.Plane
		namespaces []string
	}{{s.project, []string{snapshot.Namespace}}, {s.hub, namespaces}} {
		if in.plane == nil {
			continue
		}
		for _, namespace := range in.namespaces {
			list := &corev1.EventList{}
			err := in.plane.Client.List(ctx, list, client.InNamespace(namespace))
			if apierrors.IsForbidden(err) {
				refused = err
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("list events: %w", err)
			}
			seen = true
			events = append(events, slices.DeleteFunc(list.Items, func(e corev1.Event) bool { return !uids[e.InvolvedObject.UID] })...)
		}
	}
	if !seen {
		return nil, refused
	}
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return lastSeen(&a).Compare(lastSeen(&b)) })
	return events, nil
}

// objectsOf are the UIDs of what is seen of a Workload, and the namespaces on the hub where some of it is.
func objectsOf(snapshot *view.Snapshot) (uids map[types.UID]bool, namespaces []string) {
	uids = map[types.UID]bool{}
	if snapshot.Workload != nil {
		uids[snapshot.Workload.UID] = true
	}
	for i := range snapshot.Deployments {
		uids[snapshot.Deployments[i].UID] = true
	}
	for i := range snapshot.Instances {
		uids[snapshot.Instances[i].UID] = true
	}
	for _, onHub := range snapshot.Hub {
		if onHub.Copy != nil {
			uids[onHub.Copy.UID] = true
			namespaces = append(namespaces, onHub.Namespace)
		}
		if onHub.Binding != nil {
			uids[onHub.Binding.UID] = true
		}
	}
	delete(uids, "")
	slices.Sort(namespaces)
	return uids, slices.Compact(namespaces)
}

// lastSeen is when an event was last counted, in the fields of its present and its former API.
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
	if !out.isText() {
		return out.print(c.Streams.Out, "WorkloadEvents", map[string]any{"items": events})
	}
	if len(events) == 0 {
		_, err := fmt.Fprintln(c.Streams.ErrOut, "No events found. API servers keep them for an hour by default.")
		return err
	}
	rows := [][]string{{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}}
	for i := range events {
		e := &events[i]
		rows = append(rows, []string{
			duration.HumanDuration(c.Clock.Now().Sub(lastSeen(e))), e.Type, e.Reason,
			strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name, strings.Join(strings.Fields(terminal.Clean(e.Message)), " "),
		})
	}
	_, err := fmt.Fprintln(c.Streams.Out, strings.Join(terminal.Align(rows), "\n"))
	return err
}
