// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package tools

import "syscall"

// endWithUs makes the kernel interrupt a go command when this process is killed; otherwise it would compile for minutes more.
func endWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT} }
