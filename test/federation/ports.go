// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Ports are taken from below the range that the kernel uses for outgoing
// connections: a cell that is stopped for a while must find its port free, and
// a client that keeps dialling a dead port inside that range can end up
// connected to itself.
const (
	lowestPort  = 12000
	highestPort = 32000
)

// reservationAge is how long a reservation is valid while its federation has no
// processes: long enough for one that is starting.
const reservationAge = 10 * time.Minute

// reservePorts picks n free ports on 127.0.0.1 and reserves them for a
// federation's folder, so that another federation starting at the same moment
// takes others. releasePorts releases them.
func reservePorts(folder string, n int) ([]int, error) {
	base := reservations()
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, fmt.Errorf("reserve ports: %w", err)
	}
	var ports []int
	for attempt := 0; len(ports) < n; attempt++ {
		if attempt > 1000+100*n {
			return nil, fmt.Errorf("no %d free ports between %d and %d on 127.0.0.1: stop other federations", n, lowestPort, highestPort)
		}
		offset, err := rand.Int(rand.Reader, big.NewInt(highestPort-lowestPort))
		if err != nil {
			return nil, fmt.Errorf("pick a port: %w", err)
		}
		port := lowestPort + int(offset.Int64())
		if reserve(filepath.Join(base, strconv.Itoa(port)), folder) && portFree(port) {
			ports = append(ports, port)
		}
	}
	return ports, nil
}

// reserve claims one port by creating its file. It removes an abandoned
// reservation, so that the next attempt can claim the port.
func reserve(path, folder string) bool {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		if errors.Is(err, os.ErrExist) && abandoned(path) {
			_ = os.Remove(path)
		}
		return false
	}
	_, writeErr := file.WriteString(folder)
	return errors.Join(writeErr, file.Close()) == nil
}

func abandoned(path string) bool {
	info, err := os.Stat(path)
	if err != nil || time.Since(info.ModTime()) < reservationAge {
		return false
	}
	folder, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	records, err := os.ReadDir(filepath.Join(strings.TrimSpace(string(folder)), "run"))
	return err != nil || len(records) == 0
}

func portFree(port int) bool {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// releasePorts releases every port reserved for folder.
func releasePorts(folder string) error {
	entries, err := os.ReadDir(reservations())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("release ports: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		path := filepath.Join(reservations(), entry.Name())
		owner, err := os.ReadFile(path)
		if err == nil && string(owner) == folder {
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
}

func reservations() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("karmada-compute-ports-%d", os.Getuid()))
}

func address(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
