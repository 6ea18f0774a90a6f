// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/karmada-compute/karmada-compute/test/federation/containers"
	"github.com/karmada-compute/karmada-compute/testenv/connections"
)

// Grace periods of the command and of the process that runs it: the command's is
// shorter, and both are shorter than stopTimeout.
const (
	commandGrace   = 10 * time.Second
	isolationGrace = 15 * time.Second
)

// NetworkNamespaces returns the reason why this user cannot create network namespaces on this machine, which cells in
// pull mode need, or nil if the user can.
func NetworkNamespaces() error {
	path, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	attributes := namespaced()
	// chroot, even to the same root, needs a capability, as bringing the loopback
	// up does: some systems allow the namespaces but no capability in them.
	attributes.Chroot, attributes.Pdeathsig = "/", 0
	cmd := exec.CommandContext(context.Background(), path)
	cmd.SysProcAttr = attributes
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("cannot create a network namespace: %w; %s", err, namespaceHint())
	}
	return nil
}

// namespaced returns the attributes of a process in a new user namespace, in
// which this user is root, and a new network namespace, which has only a
// loopback that is down.
func namespaced() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
}

// machine returns the attributes of a process that is root in the namespaces of a machine. When it ends, the kernel
// kills all processes in them.
func machine() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
	}
}

// namespaceHint names the settings that forbid namespaces.
func namespaceHint() string {
	forbidding := map[string]string{
		"user.max_user_namespaces":                     "0",
		"user.max_net_namespaces":                      "0",
		"kernel.unprivileged_userns_clone":             "0",
		"kernel.apparmor_restrict_unprivileged_userns": "1",
	}
	var found []string
	for name, value := range forbidding {
		content, err := os.ReadFile(filepath.Join("/proc/sys", strings.ReplaceAll(name, ".", "/")))
		if err == nil && strings.TrimSpace(string(content)) == value {
			found = append(found, fmt.Sprintf("sysctl %s is %s", name, value))
		}
	}
	if len(found) == 0 {
		return "no sysctl forbids it: in a container, the seccomp profile must allow clone with new namespaces (--security-opt " +
			"seccomp=unconfined)"
	}
	return strings.Join(found, ", ") + ": change this setting"
}

// Run runs the command in its own network namespace until ctx ends. Then the
// command gets SIGTERM, and SIGKILL after a grace period. If it ends earlier, Run
// returns an error.
func (i *Isolation) Run(ctx context.Context) error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	c := child{path: own, args: i.args(true), attributes: namespaced(), grace: isolationGrace}
	if i.Machine {
		c.attributes, c.started = machine(), containers.Link
	}
	err = i.run(ctx, c, false)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w; %s", err, namespaceHint())
	}
	return err
}

// RunInside is the body of the process that Run starts in the new namespaces.
func (i *Isolation) RunInside(ctx context.Context) error {
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("bring the loopback up: %w; %s", err, namespaceHint())
	}
	if len(i.Command) == 0 {
		return errors.New("no command to run")
	}
	attributes := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return i.run(ctx, child{path: i.Command[0], args: i.Command[1:], attributes: attributes, grace: commandGrace}, true)
}

// run forwards connections while the child runs.
func (i *Isolation) run(ctx context.Context, c child, inside bool) error {
	// Connections are forwarded until the child has ended, not only until it is
	// signalled.
	carrying, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	group, carrying := errgroup.WithContext(carrying)
	err := startForwards(carrying, group, i.Log, i.forwards(inside))
	if err == nil && inside {
		err = i.startProbe(carrying, group)
	}
	if err == nil {
		err = c.run(ctx, carrying)
	}
	stop()
	return errors.Join(err, group.Wait())
}

func (i *Isolation) startProbe(ctx context.Context, group *errgroup.Group) error {
	listener, err := endpoint{"unix", filepath.Join(i.Sockets, probeSocket)}.listen(ctx)
	if err != nil {
		return err
	}
	group.Go(func() error { return connections.Serve(ctx, listener, answerProbe) })
	return nil
}

// child is a process that does not outlive this one.
type child struct {
	path       string
	args       []string
	attributes *syscall.SysProcAttr
	// grace is the time between SIGTERM and SIGKILL.
	grace time.Duration
	// started is called with the pid of the process, which is killed when that fails. It may be nil.
	started func(ctx context.Context, pid int) error
}

// run runs the child until ctx or carrying ends. A child that ends earlier is an
// error.
func (c child) run(ctx, carrying context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(carrying, cancel)()
	// The kernel kills the child when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, c.path, c.args...)
	cmd.SysProcAttr, cmd.WaitDelay = c.attributes, c.grace
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	err := cmd.Start()
	if err == nil && c.started != nil {
		if err := c.started(ctx, cmd.Process.Pid); err != nil {
			return errors.Join(err, cmd.Process.Kill(), ignoreExit(cmd.Wait()))
		}
	}
	if err == nil {
		err = cmd.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case err == nil:
		return fmt.Errorf("%s has ended", c.path)
	}
	return fmt.Errorf("%s: %w", c.path, err)
}

// ignoreExit drops the error of a process that was killed.
func ignoreExit(err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil
	}
	return err
}

// loopbackUp brings up the loopback of this process's network namespace, which
// gives it its addresses.
func loopbackUp() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }() // nothing to do about it
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
}
