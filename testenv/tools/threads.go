// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"fmt"
	"runtime"
)

// Threads returns the environment variable that gives a server half of this machine's CPUs. Dozens of servers run at
// once: with all CPUs, each spends time on the search for work that its other threads have.
func Threads() string { return fmt.Sprintf("GOMAXPROCS=%d", max(1, runtime.NumCPU()/2)) }
