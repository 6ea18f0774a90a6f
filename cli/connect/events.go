// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package connect

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/live"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

func (c *commands) eventsCommand() *cobra.Command {
	var watch, sessions bool
	cmd := &cobra.Command{
		Use:   "events WORKLOAD",
		Short: "List the events of a Workload, its deployments and Instances, the newest last",
		Example: c.Examples(`
  # What has happened to Workload web
  %s events web
  # And what happens from now on
  %s events web -w
  # And who has read its logs
  %s events web --sessions`),
		Args:              command.OneArg("the name of a Workload"),
		ValidArgsFunction: c.CompleteWorkloads(),
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "Continue with new and repeated events, until Ctrl-C or until the Workload is deleted.")
	cmd.Flags().BoolVar(&sessions, "sessions", false, "Also list who has read logs, run commands and forwarded ports.")
	out := command.NewOutput(cmd)
	cmd.RunE = c.OnWorkload(out, func(ctx context.Context, s *command.Session, snapshot *view.Snapshot) error {
		events, err := live.Events(ctx, s.Live(""), view.NewSubjects(snapshot).WithSessions(sessions), live.Directly)
		if err != nil {
			return err
		}
		if err := c.TellHidden(snapshot); err != nil {
			return err
		}
		if watch {
			return c.followEvents(ctx, s, snapshot, c.newEventPrinter(out, sessions))
		}
		return c.printEvents(events, c.newEventPrinter(out, sessions))
	})
	return cmd
}

func (c *commands) printEvents(events []corev1.Event, printer *eventPrinter) error {
	if len(events) == 0 && printer.out.IsText() {
		_, err := fmt.Fprintln(c.Streams.ErrOut, "No events found. API servers keep them for an hour by default.")
		return err
	}
	return printer.print(events)
}

// eventPrinter prints events and appends later ones.
type eventPrinter struct {
	*command.Command
	out     *command.Output
	columns terminal.Columns
	headed  bool
	// sessions: it prints the events of sessions.
	sessions bool
}

func (c *commands) newEventPrinter(out *command.Output, sessions bool) *eventPrinter {
	return &eventPrinter{Command: c.Command, out: out, sessions: sessions}
}

func (p *eventPrinter) print(events []corev1.Event) error {
	if !p.out.IsText() {
		return p.out.Print(p.Data, "WorkloadEvents", map[string]any{"items": events})
	}
	var rows [][]string
	if !p.headed {
		rows, p.headed = append(rows, []string{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}), true
	}
	for i := range events {
		e := &events[i]
		rows = append(rows, []string{
			duration.HumanDuration(p.Clock.Now().Sub(view.LastSeen(e))), e.Type, e.Reason,
			strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name, strings.Join(strings.Fields(reasons.Clean(view.Told(e))), " "),
		})
	}
	_, err := fmt.Fprintln(p.Streams.Out, strings.Join(p.columns.Align(rows), "\n"))
	return err
}

// followEvents prints the existing events, and then each new or repeated one, until the user ends it or the Workload is
// deleted. It compares lists of events and does not rely on the events of a watch: after a lost watch no event is
// missed or printed twice.
func (c *commands) followEvents(ctx context.Context, s *command.Session, first *view.Snapshot, printer *eventPrinter) error {
	w, err := s.Watch(ctx, first, false)
	if err != nil {
		return err
	}
	var (
		subjects = view.NewSubjects(first).WithSessions(printer.sessions)
		told     = map[types.UID]string{}
	)
	return w.Each(ctx, func(snapshot *view.Snapshot) (bool, error) {
		if err := w.TellProblem(c.Streams.ErrOut); err != nil {
			return false, err
		}
		subjects.See(snapshot)
		events, err := live.Events(ctx, s.Live(""), subjects, w.Events)
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
