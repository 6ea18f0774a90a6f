// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package connect has the commands that connect to what runs: logs, exec, attach and port-forward, over sessions of
// Instances, and events.
package connect

import (
	"github.com/spf13/cobra"

	"github.com/karmada-compute/karmada-compute/cli/command"
)

// commands holds what the commands of this package share.
type commands struct{ *command.Command }

// Commands returns the commands.
func Commands(shared *command.Command) []*cobra.Command {
	c := &commands{Command: shared}
	return []*cobra.Command{c.logsCommand(), c.execCommand(), c.attachCommand(), c.portForwardCommand(), c.eventsCommand()}
}
