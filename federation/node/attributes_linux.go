// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import "syscall"

// attributes make a process the first of its own group and end it with the thread that started it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
