// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package tools

import "syscall"

func endWithUs() *syscall.SysProcAttr { return nil }
