// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package federation

import (
	"context"
	"errors"
)

var errNoNamespaces = errors.New("network namespaces need Linux")

// NetworkNamespaces returns an error: cells in pull mode need Linux.
func NetworkNamespaces() error { return errNoNamespaces }

// Run needs Linux.
func (i *Isolation) Run(context.Context) error { return errNoNamespaces }

// RunInside needs Linux.
func (i *Isolation) RunInside(context.Context) error { return errNoNamespaces }
