// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/karmada-compute/karmada-compute/testenv/connections"
)

// systemdPath is the path of systemd on every distribution with a merged /usr, and with a link on others.
const systemdPath = "/lib/systemd/systemd"

// machine is a systemd that is process 1 of its own namespaces, with a root folder in memory. When it ends, the kernel
// ends all its processes and removes all its mounts.
type machine struct {
	*testing.T

	// pid is the process ID of systemd on the machine of the test.
	pid int
}

// missingForMachine returns the reason why this machine cannot run a systemd in namespaces, or an empty string.
func missingForMachine(ctx context.Context) string {
	if os.Geteuid() != 0 {
		return "process 1 of namespaces needs root"
	}
	if _, err := os.Stat(systemdPath); err != nil {
		return "systemd is not installed: " + err.Error()
	}
	for _, tool := range []string{"mount", "nsenter", "pivot_root", "systemctl", "unshare"} {
		if _, err := exec.LookPath(tool); err != nil {
			return err.Error()
		}
	}
	probe := exec.CommandContext(ctx, "true")
	probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: machineNamespaces}
	if err := probe.Run(); err != nil {
		return "systemd needs namespaces, in a container with --privileged: " + err.Error()
	}
	root, err := cgroupRoot()
	if err != nil {
		return err.Error()
	}
	cgroup, err := os.MkdirTemp(root, "karmada-compute-probe-")
	if err != nil {
		return "systemd needs a cgroup, in a container with --privileged: " + err.Error()
	}
	if err := os.Remove(cgroup); err != nil {
		return err.Error()
	}
	return ""
}

// machineNamespaces are the namespaces of a machine. It gets its cgroup namespace later, when it is in its cgroup.
const machineNamespaces = syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS

// cgroupRoot returns where cgroups of version 2 are mounted, with controllers or without.
func cgroupRoot() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[2] == "cgroup2" {
			return fields[1], nil
		}
	}
	return "", errors.New("systemd needs cgroups of version 2, which are not mounted")
}

// startMachine starts a systemd with units. /etc/karmada-compute is the configuration folder, and the binary is in
// /usr/local/bin. Of the units of the test's machine, it starts journald alone.
func startMachine(t *testing.T, binary, configuration string, units map[string]string) *machine {
	t.Helper()
	root, err := cgroupRoot()
	if err != nil {
		t.Fatal(err)
	}
	cgroup, err := os.MkdirTemp(root, "karmada-compute-unit-") //nolint:usetesting // a cgroup is a folder of the kernel's file system
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeCgroup(t, cgroup) })
	own := t.TempDir()
	for name, content := range units {
		if err := os.WriteFile(filepath.Join(own, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	handle, err := os.Open(cgroup)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = handle.Close() }() // only the start of the process needs it
	command := exec.CommandContext(context.WithoutCancel(t.Context()), "sh", "testdata/machine.sh", t.TempDir(), own, configuration, binary)
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: machineNamespaces, UseCgroupFD: true, CgroupFD: int(handle.Fd()), Pdeathsig: syscall.SIGKILL,
	}
	var out strings.Builder
	command.Stdout, command.Stderr = &out, &out
	end := startOnThread(t, command)
	t.Cleanup(func() {
		if end(); t.Failed() {
			t.Logf("systemd prints\n%s", out.String())
		}
	})
	m := &machine{T: t, pid: command.Process.Pid}
	m.awaitBoot()
	return m
}

// startOnThread starts a command, and returns a function that kills it and waits. The kernel kills the command when the
// thread that has started it ends, so that the thread is kept.
func startOnThread(t *testing.T, command *exec.Cmd) (end func()) {
	t.Helper()
	started, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			_ = command.Wait() // it was killed
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = command.Process.Kill() // it may have ended already
		<-ended
	}
}

// removeCgroup removes a cgroup and those below it. One that has a process cannot be removed.
func removeCgroup(t *testing.T, folder string) {
	t.Helper()
	var all []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			all = append([]string{path}, all...)
		}
		return err
	})
	for _, one := range all {
		err = errors.Join(err, syscall.Rmdir(one))
	}
	if err != nil {
		t.Errorf("the processes of the machine have not ended: %v", err)
	}
}

// awaitBoot waits until systemd has started its own units. Before process 1 is systemd, systemctl would find the
// systemd of the test's machine.
func (m *machine) awaitBoot() {
	m.Helper()
	m.await("systemd has started", func() (bool, string) {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", m.pid))
		if err != nil {
			m.Fatal(err)
		}
		if string(name) != "systemd\n" {
			return false, "process 1 is " + string(name)
		}
		out, err := m.command("systemctl", "is-system-running")
		return err == nil && out == "running\n", out
	})
}

// await waits until a condition is true. If it stays false, the test fails with the last observation.
func (m *machine) await(what string, condition func() (bool, string)) {
	m.Helper()
	var last string
	err := wait.PollUntilContextTimeout(m.Context(), 100*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		var done bool
		done, last = condition()
		return done, nil
	})
	if err != nil {
		m.Fatalf("%s: %v: %s", what, err, last)
	}
}

// command runs a program on the machine, and returns what it prints.
func (m *machine) command(program string, args ...string) (string, error) {
	args = append([]string{"--all", "--target=" + strconv.Itoa(m.pid), program}, args...)
	out, err := exec.CommandContext(m.Context(), "nsenter", args...).CombinedOutput()
	return string(out), err
}

func (m *machine) must(program string, args ...string) string {
	m.Helper()
	out, err := m.command(program, args...)
	if err != nil {
		m.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return out
}

// inNetwork runs a function on a thread in the network of the machine. Sockets stay in the network in which they were
// created. The thread ends with the goroutine, which does not unlock it.
func (m *machine) inNetwork(run func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		network, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", m.pid))
		if err != nil {
			result <- err
			return
		}
		defer func() { _ = network.Close() }() // it was only read
		if err := unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err != nil {
			result <- err
			return
		}
		result <- run()
	}()
	return <-result
}

// forward makes a server on the loopback of the test's machine reachable at the same address on the machine.
func (m *machine) forward(address string) {
	m.Helper()
	var listener net.Listener
	if err := m.inNetwork(func() (err error) {
		listener, err = (&net.ListenConfig{}).Listen(m.Context(), "tcp", address)
		return err
	}); err != nil {
		m.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(m.Context()))
	ended := make(chan error, 1)
	go func() {
		ended <- connections.Serve(ctx, listener, func(ctx context.Context, client net.Conn) {
			server, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
			if err != nil {
				return
			}
			defer func() { _ = server.Close() }() // it may be closed already
			connections.Join(ctx, client, server)
		})
	}()
	m.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			m.Error(err)
		}
	})
}

// get returns the status of an HTTP server on the machine.
func (m *machine) get(url string) (int, error) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, address string) (connection net.Conn, err error) {
			err = m.inNetwork(func() (err error) {
				connection, err = (&net.Dialer{}).DialContext(ctx, network, address)
				return err
			})
			return connection, err
		},
	}}
	request, err := http.NewRequestWithContext(m.Context(), http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
