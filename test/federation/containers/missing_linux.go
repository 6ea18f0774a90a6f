// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Missing returns an error with the requirements of nodes that this machine does not meet, and how to meet them, or
// nil.
func Missing() error {
	if os.Geteuid() != 0 {
		return errors.New("nodes that run containers need root: run this as root")
	}
	var errs []error
	for tool, pkg := range map[string]string{"ip": "iproute2", "nft": "nftables"} {
		if _, err := exec.LookPath(tool); err != nil {
			errs = append(errs, fmt.Errorf("nodes that run containers need the command %s: apt-get install %s", tool, pkg))
		}
	}
	controllers, err := missingControllers()
	if err == nil && len(controllers) > 0 {
		err = fmt.Errorf("nodes that run containers need the cgroup controllers %s below /sys/fs/cgroup, writable: in a "+
			"container, run it with --privileged",
			strings.Join(controllers, ", "))
	}
	errs = append(errs, err)
	filesystems, err := os.ReadFile("/proc/filesystems")
	if err == nil && !bytes.Contains(filesystems, []byte("\toverlay\n")) {
		err = errors.New("nodes that run containers need overlayfs: modprobe overlay")
	}
	return errors.Join(append(errs, err, writable())...)
}

// writable tests the node's operations on cgroups.
func writable() error {
	roots, err := hierarchies()
	if err != nil {
		return err
	}
	for _, root := range folders(roots) {
		folder, err := os.MkdirTemp(root, "karmada-compute-probe-")
		if err != nil {
			return fmt.Errorf("nodes that run containers need writable cgroups: %w; in a container, run it with --privileged", err)
		}
		if err := os.Remove(folder); err != nil {
			return err
		}
	}
	return nil
}
