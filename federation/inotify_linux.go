// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Inotify instances that processes hold: a kube-apiserver watches each of its certificates and configuration files with one, and
// every other process of Kubernetes and Karmada has one.
const (
	inotifyPerAPIServer = 6
	inotifyOfOthers     = 15
)

// checkInotify fails when the user may not open as many inotify instances as a federation with these kube-apiservers needs.
// Its processes would end with "too many open files", each at another place.
func checkInotify(apiServers int) error {
	need := apiServers*inotifyPerAPIServer + inotifyOfOthers
	var opened []int
	defer func() {
		for _, fd := range opened {
			_ = unix.Close(fd) // nothing was written to it
		}
	}()
	for len(opened) < need {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		if errors.Is(err, unix.EMFILE) {
			return tooFewInotify(len(opened), need)
		}
		if err != nil {
			return fmt.Errorf("open an inotify instance: %w", err)
		}
		opened = append(opened, fd)
	}
	return nil
}

func tooFewInotify(left, need int) error {
	return fmt.Errorf("this user can open %d more inotify instances, and a federation needs about %d: stop other federations, or as root run: sysctl -w fs.inotify.max_user_instances=1024",
		left, need)
}
