// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/live"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

func (c *commands) rolloutCommand() *cobra.Command {
	parent := command.Parent(&cobra.Command{Use: "rollout", Short: "See, pause and undo the rollout of a Workload's template"})
	parent.AddCommand(c.rolloutStatusCommand(), c.rolloutPlanCommand(), c.rolloutHistoryCommand(), c.rolloutUndoCommand(),
		c.restartCommand(), c.pauseCommand("pause", "paused", true), c.pauseCommand("resume", "resumed", false))
	return parent
}

func (c *commands) ofWorkload(use, short string, run func(ctx context.Context, name string) error) *cobra.Command {
	return &cobra.Command{
		Use: use + " WORKLOAD", Short: short, Args: command.OneArg("the name of a Workload"), ValidArgsFunction: c.CompleteWorkloads(),
		Example: c.Examples("\n  %s rollout " + use + " web"),
		RunE:    c.Run(func(ctx context.Context, args []string) error { return run(ctx, command.Bare(args[0])) }),
	}
}

// withProject connects to the project and reads a Workload.
func (c *commands) withProject(ctx context.Context, name string) (*command.Session, *v1alpha.Workload, error) {
	s, err := c.ConnectToProject(ctx)
	if err != nil {
		return nil, nil, err
	}
	workload := &v1alpha.Workload{}
	return s, workload, s.Project.Client.Get(ctx, s.Key(name), workload)
}

func (c *commands) rolloutStatusCommand() *cobra.Command {
	var watch bool
	var timeout time.Duration
	cmd := c.ofWorkload("status", "Show the status of the rollout, until it is complete", func(ctx context.Context, name string) error {
		if timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, timeout, errors.New("timed out waiting for the condition"))
			defer cancel()
		}
		return c.followRollout(ctx, name, watch)
	})
	cmd.Long = "Show the status of the rollout, until it is complete. The exit code is 1 when the rollout has failed, was " +
		"undone, or was not complete\nin time."
	cmd.Flags().BoolVarP(&watch, "watch", "w", true, "Watch the status of the rollout until it is done.")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "The length of time to wait before ending the watch; 0 means never.")
	return cmd
}

// followRollout prints each message of a rollout once. During an outage of the API server it waits.
func (c *commands) followRollout(ctx context.Context, name string, watch bool) error {
	s, workload, err := c.withProject(ctx, name)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	var w *live.Watch
	for shown := ""; ; {
		message, done, err := rolloutMessage(workload)
		if message != shown {
			if _, err := fmt.Fprintln(c.Streams.Out, message); err != nil {
				return err
			}
			shown = message
		}
		if done || err != nil || !watch {
			return err
		}
		if w == nil {
			if w, err = watchWorkload(ctx, s, name); err != nil {
				return err
			}
		}
		if err := w.Wait(ctx); err != nil {
			return err
		}
		read := &v1alpha.Workload{}
		switch err := w.Planes().Project.Get(ctx, s.Key(name), read); {
		case apierrors.IsNotFound(err):
			return err
		case err != nil:
			w.Failed(ctx, err)
		default:
			workload = newest(workload, read)
		}
		if err := w.TellProblem(c.Streams.ErrOut); err != nil {
			return err
		}
	}
}

// newest returns what was read, unless it is an earlier spec: the cache may begin with the state before a change that the
// first read has seen, and the rollout before may be complete.
func newest(known, read *v1alpha.Workload) *v1alpha.Workload {
	if read.UID == known.UID && read.Generation < known.Generation {
		return known
	}
	return read
}

// watchWorkload watches a Workload without its Instances. Kinds that the user may not list are read each time.
func watchWorkload(ctx context.Context, s *command.Session, name string) (*live.Watch, error) {
	o := s.Live(name)
	o.Hub, o.Selector = nil, labels.Everything()
	hidden, err := live.Hidden(ctx, o)
	switch {
	case view.IsHidden(err):
		hidden = map[string]error{"workloads": err, "workloaddeployments": err}
	case err != nil:
		return nil, err
	}
	return live.Start(ctx, o, hidden)
}

// rolloutMessage returns the message of `kubectl rollout status` about a Workload, whether the rollout is done, and the
// error of a failed rollout.
func rolloutMessage(workload *v1alpha.Workload) (message string, done bool, err error) {
	status := &workload.Status
	progressing := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionProgressing)
	exceeded := progressing != nil && progressing.Reason == v1alpha.ReasonProgressDeadlineExceeded
	if status.Rollout == nil && exceeded && progressing.ObservedGeneration == workload.Generation {
		return progressing.Message, true, fmt.Errorf("workload %q exceeded its progress deadline", workload.Name)
	}
	if status.Rollout == nil || status.ObservedGeneration < workload.Generation {
		return "Waiting for workload spec update to be observed...", false, nil
	}
	progress := view.RolloutCount(status)
	if status.Rollout.Message != "" {
		progress += ": " + status.Rollout.Message
	}
	switch phase := status.Rollout.Phase; {
	case phase == v1alpha.RolloutComplete:
		return fmt.Sprintf("workload %q successfully rolled out", workload.Name), true, nil
	case phase == v1alpha.RolloutUndone:
		return progress, true, fmt.Errorf("the rollout of workload %q failed and was undone", workload.Name)
	case phase == v1alpha.RolloutFailed, exceeded:
		return progress, true, fmt.Errorf("workload %q exceeded its progress deadline", workload.Name)
	}
	return fmt.Sprintf("Waiting for workload %q rollout to finish: %s", workload.Name, progress), false, nil
}

func (c *commands) rolloutUndoCommand() *cobra.Command {
	var wanted int64
	cmd := c.ofWorkload("undo", "Roll back to an earlier template", func(ctx context.Context, name string) error {
		return c.change(ctx, name, "rolled back", func(ctx context.Context, s *command.Session, workload *v1alpha.Workload) error {
			history, err := view.ReadRevisions(ctx, s.Project.Client, workload)
			if err != nil {
				return err
			}
			revision, err := earlier(history, workload, wanted)
			if err != nil {
				return err
			}
			workload.Spec.Template = revision.Spec.Template
			return holdData(workload, revision.Spec.Data, history)
		})
	})
	cmd.Flags().Int64Var(&wanted, "to-revision", 0, "The revision to roll back to; 0 is the one before the current one.")
	c.CompleteFlag(cmd, "to-revision", command.Revisions)
	return c.compared(cmd)
}

// earlier returns the wanted revision, or the newest one whose template differs from the Workload's.
func earlier(history []v1alpha.WorkloadRevision, workload *v1alpha.Workload, wanted int64) (*v1alpha.WorkloadRevision, error) {
	started, _ := templates.StartedWith(workload)
	current, err := templates.Hash(started)
	if err != nil {
		return nil, err
	}
	for i := range slices.Backward(history) {
		revision := &history[i]
		hash, err := templates.Hash(templates.WithSnapshots(&revision.Spec.Template, revision.Spec.Data))
		switch {
		case err != nil:
			return nil, err
		case wanted == 0 && hash != current:
			return revision, nil
		case wanted != 0 && revision.Spec.Revision == wanted && hash == current:
			return nil, fmt.Errorf("workload %s has the template of revision %d already", workload.Name, wanted)
		case wanted != 0 && revision.Spec.Revision == wanted:
			return revision, nil
		}
	}
	if wanted != 0 {
		return nil, errors.New("unable to find specified revision " + strconv.FormatInt(wanted, 10) + " in history")
	}
	return nil, fmt.Errorf("no rollout history found for workload %s", workload.Name)
}

func (c *commands) pauseCommand(use, done string, paused bool) *cobra.Command {
	short := "Resume a paused rollout, also one that has paused at spec.rollout.pauseAfter"
	if paused {
		short = "Pause the rollout: no further Instance gets the template"
	}
	return c.compared(c.ofWorkload(use, short, func(ctx context.Context, name string) error {
		return c.change(ctx, name, done, func(_ context.Context, _ *command.Session, workload *v1alpha.Workload) error {
			return setPaused(workload, paused)
		})
	}))
}

// setPaused pauses or resumes the rollout of a Workload.
func setPaused(workload *v1alpha.Workload, paused bool) error {
	spec, status := workload.Spec.Rollout, workload.Status.Rollout
	switch {
	case paused && spec != nil && spec.Paused:
		return fmt.Errorf("workload %s is already paused", workload.Name)
	case paused:
		if spec == nil {
			workload.Spec.Rollout = &v1alpha.WorkloadRollout{}
		}
		workload.Spec.Rollout.Paused = true
	case spec != nil && spec.Paused:
		spec.Paused = false
	case status != nil && status.Phase == v1alpha.RolloutPaused:
		if workload.Annotations == nil {
			workload.Annotations = map[string]string{}
		}
		workload.Annotations[v1alpha.AnnotationRolloutResumed] = status.TemplateHash
	default:
		return fmt.Errorf("workload %s is not paused", workload.Name)
	}
	return nil
}
