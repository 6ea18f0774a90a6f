// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package containers

import (
	"context"
	"errors"
	"log/slog"
)

var errLinux = errors.New("nodes that run containers need Linux")

// Missing returns an error: only Linux has what nodes need.
func Missing() error { return errLinux }

// RemoveCgroups does nothing: only Linux has cgroups.
func (n *Node) RemoveCgroups() error { return nil }

// Run returns an error: only Linux has what nodes need.
func (n *Node) Run(context.Context, *slog.Logger) error { return errLinux }
