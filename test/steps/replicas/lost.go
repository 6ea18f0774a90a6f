// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addLostHubSteps adds the sentences about a hub whose storage is lost, and for which no backup exists.
func addLostHubSteps(sc world.Sentences) {
	sc.Step(`^the hub loses its storage, and an operator installs Karmada and the add-on again$`, func(ctx context.Context) error {
		return from(ctx).replaceHub(ctx)
	})
	sc.Step(`^an operator (lists|adopts) what the cells run for an earlier hub$`, func(ctx context.Context, what string) error {
		return from(ctx).adopt(ctx, what == "adopts")
	})
}

// replaceHub replaces the hub, and starts the replicas again: they remember which hub it was.
func (s Steps) replaceHub(ctx context.Context) error {
	s.CommandsRun.Store(true)
	restore, err := s.Federation.ReplaceHub(ctx)
	if restore != nil {
		s.Disturbed.Add("the hub's storage", func(ctx context.Context) error {
			return errors.Join(restore(ctx), s.enableAgain(ctx))
		})
	}
	if err != nil {
		return err
	}
	return s.enableAgain(ctx)
}

func (s Steps) enableAgain(ctx context.Context) error {
	if err := s.AddOn.Configure(ctx, nil); err != nil {
		return err
	}
	for _, replica := range s.replicas("every replica") {
		if err := s.AddOn.Restart(ctx, replica); err != nil {
			return err
		}
	}
	return nil
}

// adopt runs the command that lists what cells run for an earlier hub, or lets the projects take it over. Its output is the answer
// of the scenario.
func (s Steps) adopt(ctx context.Context, isConfirmed bool) error {
	args := []string{"compute", "adopt", "--kubeconfig=hub.kubeconfig"}
	if isConfirmed {
		args = append(args, "--yes")
	}
	// The administrator has no rights in the cells through Karmada's proxy.
	for _, cell := range s.Federation.Cells() {
		kubeconfig, err := s.Federation.Kubeconfig("cell/"+cell.Name, world.Admin)
		if err != nil {
			return err
		}
		args = append(args, "--cell-kubeconfig="+cell.Name+"="+kubeconfig)
	}
	cmd := exec.CommandContext(ctx, "bash", append([]string{"-c", `karmadactl "$@"`, "karmadactl"}, args...)...)
	if err := s.AddOn.PrepareCommand(cmd); err != nil {
		return err
	}
	output, err := cmd.CombinedOutput()
	if s.Answer.Body = string(output); err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	return nil
}
