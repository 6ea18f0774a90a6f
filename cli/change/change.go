// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package change has the commands that change Workloads: run, scale, set, restart, failover and rollout, with what rollout shows.
package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
)

// fieldManager is the command's name in managed fields.
const fieldManager = client.FieldOwner("kubectl-compute")

// commands holds what the commands of this package share.
type commands struct {
	*command.Command
	trial trial
}

// Commands returns the commands.
func Commands(shared *command.Command) []*cobra.Command {
	c := &commands{Command: shared}
	return []*cobra.Command{c.runCommand(), c.restartCommand(), c.scaleCommand(), c.setCommand(), c.failoverCommand(), c.rolloutCommand()}
}

func (c *commands) restartCommand() *cobra.Command {
	return c.compared(&cobra.Command{
		Use:   "restart WORKLOAD",
		Short: "Replace all Instances of a Workload, in the order of its rollout",
		Long: "Replace all Instances of a Workload, as `kubectl rollout restart` does: one after the other in each city, or where\n" +
			"instanceManagementPolicy is Parallel as many at a time as rollout.maxUnavailable allows.",
		Example:           c.Examples("\n  %s restart web"),
		Args:              command.OneArg("the name of a Workload"),
		ValidArgsFunction: c.CompleteWorkloads(),
		RunE: c.Run(func(ctx context.Context, args []string) error {
			return c.change(ctx, args[0], "restarted", func(_ context.Context, _ *command.Session, workload *v1alpha.Workload) error {
				at := c.Clock.Now().UTC().Format(time.RFC3339)
				template := &workload.Spec.Template
				if template.Annotations[v1alpha.AnnotationRestartedAt] == at {
					return errors.New("it was restarted within this second; try again")
				}
				if template.Annotations == nil {
					template.Annotations = map[string]string{}
				}
				template.Annotations[v1alpha.AnnotationRestartedAt] = at
				return nil
			})
		}),
	})
}

// change updates a Workload in its project and prints the result.
func (c *commands) change(
	ctx context.Context, name, done string, how func(context.Context, *command.Session, *v1alpha.Workload) error,
) error {
	if err := c.trial.check(); err != nil {
		return err
	}
	name = command.Bare(name)
	s, err := c.ConnectToProject(ctx)
	if err != nil {
		return err
	}
	var original, changed *v1alpha.Workload
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		workload := &v1alpha.Workload{}
		if err := s.Project.Client.Get(ctx, s.Key(name), workload); err != nil {
			return err
		}
		if workload.DeletionTimestamp != nil {
			return fmt.Errorf("workload %s is being deleted", name)
		}
		original, changed = workload.DeepCopy(), workload
		if err := how(ctx, s, workload); err != nil || !c.trial.isSent() {
			return err
		}
		patch := client.MergeFromWithOptions(original, client.MergeFromWithOptimisticLock{})
		return s.Project.Client.Patch(ctx, workload, patch, c.trial.patchOptions(fieldManager)...)
	})
	if err != nil {
		return err
	}
	return c.tellChange(original, changed, done)
}

// tellChange prints what has been done to a Workload.
func (c *commands) tellChange(original, changed *v1alpha.Workload, done string) error {
	shown := ""
	if c.trial.diff {
		var err error
		if shown, err = differences(original, changed); err != nil {
			return err
		}
	}
	line := fmt.Sprintf("workload.compute.datumapis.com/%s %s%s", changed.Name, done, c.trial.suffix())
	if _, err := fmt.Fprintln(c.Streams.Out, shown+line); err != nil {
		return err
	}
	return c.tellOwners(original.ManagedFields, changed.ManagedFields)
}
