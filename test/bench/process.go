// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU time in /proc, USER_HZ, which is 100 on every platform that Go supports.
const tick = 10 * time.Millisecond

// memory is the current and the highest memory of a process, in bytes.
type memory struct{ rss, peak uint64 }

func memoryOf(pid int) (memory, error) {
	content, err := procFile(pid, "status")
	if err != nil {
		return memory{}, err
	}
	return parseMemory(content)
}

// parseMemory reads VmRSS and VmHWM of /proc/<pid>/status.
func parseMemory(status string) (memory, error) {
	var m memory
	for line := range strings.Lines(status) {
		field, rest, _ := strings.Cut(line, ":")
		var into *uint64
		switch field {
		case "VmRSS":
			into = &m.rss
		case "VmHWM":
			into = &m.peak
		default:
			continue
		}
		kibibytes, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
		if err != nil {
			return m, fmt.Errorf("%s in /proc: %w", field, err)
		}
		*into = kibibytes << 10
	}
	if m.rss == 0 {
		return m, errors.New("the process has ended")
	}
	return m, nil
}

// cpuOf is the CPU time of a process.
func cpuOf(pid int) (time.Duration, error) {
	content, err := procFile(pid, "stat")
	if err != nil {
		return 0, err
	}
	return parseCPU(content)
}

// parseCPU reads utime and stime of /proc/<pid>/stat. Fields are counted from the end of the name, which may contain any character.
func parseCPU(stat string) (time.Duration, error) {
	const utime, stime = 11, 12
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	if len(fields) <= stime {
		return 0, fmt.Errorf("/proc/<pid>/stat is %q", stat)
	}
	var sum time.Duration
	for _, field := range []string{fields[utime], fields[stime]} {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("CPU time in /proc: %w", err)
		}
		sum += time.Duration(ticks) * tick
	}
	return sum, nil
}

func procFile(pid int, name string) (string, error) {
	content, err := fs.ReadFile(os.DirFS("/proc"), path.Join(strconv.Itoa(pid), name))
	if err != nil {
		return "", fmt.Errorf("read process %d in /proc, which only Linux has: %w", pid, err)
	}
	return string(content), nil
}
