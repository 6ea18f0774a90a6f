// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Address is the IP of a Pod. Processes listen on Local, an address of the loopback, which needs no configuration on
// Linux. The API has the other one: it refuses EndpointSlices with addresses of the loopback.
type Address struct {
	Pod, Local string
	release    func()
}

// Local returns the address at which the processes of a Pod listen: 127.x.y.z for 10.x.y.z.
func Local(pod string) (string, error) {
	ip, err := netip.ParseAddr(pod)
	if err != nil || !ip.Is4() || ip.As4()[0] != 10 {
		return "", fmt.Errorf("%q is not the IP of a Pod whose processes run on this machine: these begin with 10", pod)
	}
	bytes := ip.As4()
	bytes[0] = 127
	return netip.AddrFrom4(bytes).String(), nil
}

// reserveAddress picks an address that no other Pod of this user has, on any node of any federation on this machine. A
// reservation is a locked file: it ends with the process of the node.
func reserveAddress() (*Address, error) {
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("karmada-compute-addresses-%d", os.Getuid()))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("reserve an address: %w", err)
	}
	for range 1000 {
		// 10.0 is kwok's, and 127.0 has servers of this machine; 10.96 is the range of Services.
		//nolint:gosec // Reservations make addresses unique, not chance.
		second := byte(1 + rand.IntN(95))
		pod := netip.AddrFrom4([4]byte{10, second, byte(rand.IntN(256)), byte(1 + rand.IntN(254))}).String() //nolint:gosec // As above.
		release, err := lockFile(filepath.Join(folder, pod))
		if errors.Is(err, errLocked) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reserve address %s: %w", pod, err)
		}
		local, err := Local(pod)
		return &Address{Pod: pod, Local: local, release: release}, err
	}
	return nil, errors.New("no free address for a Pod: stop other federations")
}

var errLocked = errors.New("another process has locked it")

// lockFile creates and locks a file until the returned function is called, which removes it, or this process ends.
func lockFile(path string) (func(), error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errLocked
		}
		return nil, errors.Join(err, file.Close())
	}
	// The file may have been removed by its last owner after it was opened here.
	opened, openedErr := file.Stat()
	current, currentErr := os.Stat(path)
	if openedErr != nil || currentErr != nil || !os.SameFile(opened, current) {
		return nil, errors.Join(errLocked, file.Close())
	}
	return sync.OnceFunc(func() {
		_ = os.Remove(path) // a file that stays can be locked again
		_ = file.Close()
	}), nil
}
