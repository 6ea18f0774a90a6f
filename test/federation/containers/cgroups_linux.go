// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// wantedControllers are the controllers without which a kubelet does not start.
var wantedControllers = []string{"cpu", "cpuset", "memory", "pids"}

// hierarchies returns the folders of the mounted cgroup hierarchies, by their controllers and by themselves. In
// addition to v1 hierarchies there may be a v2 hierarchy without controllers, in which runc creates cgroups, too.
func hierarchies() (map[string]string, error) {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return hierarchiesIn(string(content)), nil
}

// hierarchiesIn reads the hierarchies from a list of mounts.
func hierarchiesIn(mounts string) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(mounts) {
		mount, filesystem, _ := strings.Cut(line, " - ")
		fields, kind := strings.Fields(mount), strings.Fields(filesystem)
		if len(fields) < 5 || len(kind) < 3 || kind[0] != "cgroup" && kind[0] != "cgroup2" {
			continue
		}
		found[fields[4]] = fields[4]
		for controller := range strings.SplitSeq(kind[2], ",") {
			if slices.Contains(wantedControllers, controller) {
				found[controller] = fields[4]
			}
		}
	}
	return found
}

// folders returns each folder of hierarchies once.
func folders(hierarchies map[string]string) []string {
	return slices.Compact(slices.Sorted(maps.Values(hierarchies)))
}

// missingControllers names the controllers that no hierarchy has.
func missingControllers() ([]string, error) {
	roots, err := hierarchies()
	if err != nil {
		return nil, err
	}
	has := func(controller string) bool { return roots[controller] != "" }
	if root, v2 := roots[""]; v2 {
		content, err := os.ReadFile(filepath.Join(root, "cgroup.controllers"))
		if err != nil {
			return nil, err
		}
		has = func(controller string) bool {
			return strings.Contains(" "+strings.TrimSpace(string(content))+" ", " "+controller+" ")
		}
	}
	var missing []string
	for _, wanted := range wantedControllers {
		if !has(wanted) {
			missing = append(missing, wanted)
		}
	}
	return missing, nil
}

// createCgroups creates a cgroup in each hierarchy.
func createCgroups(name string) error {
	roots, err := hierarchies()
	if err != nil {
		return err
	}
	for _, root := range folders(roots) {
		if err := createCgroup(root, filepath.Join(root, name)); err != nil {
			return fmt.Errorf("create the node's cgroup: %w", err)
		}
	}
	return nil
}

func createCgroup(root, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // the mode of every cgroup
		return err
	}
	if content, err := os.ReadFile(filepath.Join(root, "cgroup.controllers")); err == nil {
		for _, parent := range []string{root, folder} {
			for controller := range strings.FieldsSeq(string(content)) {
				// A controller that cannot be enabled may not be needed; a kubelet reports the controllers that it misses.
				_ = os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+"+controller), 0o600)
			}
		}
		return nil
	}
	// In v1 a new cgroup has no CPUs until they are assigned.
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		content, err := os.ReadFile(filepath.Join(root, file))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err := errors.Join(err, os.WriteFile(filepath.Join(folder, file), content, 0o600)); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, "cgroup.clone_children"), []byte("1"), 0o600)
}

// RemoveCgroups removes the node's cgroups, whose processes have ended or are about to. Missing cgroups are not an
// error.
func (n *Node) RemoveCgroups() error {
	roots, err := hierarchies()
	if err != nil {
		return err
	}
	const limit = 10 * time.Second
	end := time.Now().Add(limit)
	var errs []error
	for _, root := range folders(roots) {
		folder := filepath.Join(root, n.Cgroup())
		for {
			err := removeTree(folder)
			if !errors.Is(err, syscall.EBUSY) || time.Now().After(end) {
				errs = append(errs, err)
				break
			}
			// The kernel sends no notification when the last process has left a cgroup of v1.
			time.Sleep(20 * time.Millisecond)
		}
	}
	return errors.Join(errs...)
}

// removeTree removes a cgroup and its children. The files of a cgroup cannot be removed, and are deleted with it.
func removeTree(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := removeTree(filepath.Join(folder, entry.Name())); err != nil {
				return err
			}
		}
	}
	if err := syscall.Rmdir(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove cgroup %s: %w", folder, err)
	}
	return nil
}
