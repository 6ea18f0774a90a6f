// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package federation

import (
	"context"
	"errors"
)

var errNoNamespaces = errors.New("network namespaces need Linux")

// NetworkNamespaces tells why this user cannot have network namespaces on this
// machine, which cells in pull mode need.
func NetworkNamespaces() error { return errNoNamespaces }

// Run needs Linux.
func (i *Isolation) Run(context.Context) error { return errNoNamespaces }

// RunInside needs Linux.
func (i *Isolation) RunInside(context.Context) error { return errNoNamespaces }
