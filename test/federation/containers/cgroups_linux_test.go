// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package containers

import "testing"

// TestHierarchies: a machine with v1 may have a hierarchy of v2 beside it.
func TestHierarchies(t *testing.T) {
	found := hierarchiesIn(`24 1 0:22 / /proc rw - proc proc rw
31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct
32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
`)
	if found["cpu"] != "/sys/fs/cgroup/cpu,cpuacct" || found["memory"] != "/sys/fs/cgroup/memory" || found["pids"] != "" {
		t.Errorf("the controllers are in %v", found)
	}
	if all := folders(found); len(all) != 3 || all[2] != "/sys/fs/cgroup/unified" {
		t.Errorf("the hierarchies are %v", all)
	}
}
