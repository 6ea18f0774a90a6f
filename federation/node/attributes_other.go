// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package node

import "syscall"

// attributes make a process the first of its own group. Only Linux can end it with this one.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
