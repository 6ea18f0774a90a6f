// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Inotify instances that processes hold. A kube-apiserver watches each of its certificates and CAs with one (frontProxy): most have
// serverInotify, those that accept a front proxy two more, and the hub's, which is one too, another. Of the other processes of Kubernetes
// and Karmada each has one.
const (
	serverInotify     = 3
	frontProxyInotify = 2
	hubInotify        = 1
	othersInotify     = 15
)

// checkInotify fails when the user may not open as many inotify instances as a federation with so many projects and further clusters
// needs. Its processes would end with "too many open files", each at another place.
func checkInotify(projects, clusters int) error {
	behindProxy := 2 + projects // the hub, and Milo's root
	need := (behindProxy+clusters)*serverInotify + behindProxy*frontProxyInotify + hubInotify + othersInotify
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
