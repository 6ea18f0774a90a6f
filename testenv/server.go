// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// A server must end with the tests, even if these are killed, which envtest does not support. So envtest starts the
// test binary itself, through a link with the server's name. That process asks the kernel to kill it when its parent
// ends, and then executes the server.

// serverVariable returns the environment variable with the path of the server's binary for such a process.
func serverVariable(name string) string { return "KARMADA_COMPUTE_TESTENV_" + name }

const ownerVariable = "KARMADA_COMPUTE_TESTENV_OWNER"

// serveBy makes envtest start servers that end with this process.
func serveBy(binaries map[string]string) error {
	own, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the test binary: %w", err)
	}
	if links, err = os.MkdirTemp("", "testenv-"); err != nil {
		return fmt.Errorf("create a folder for links: %w", err)
	}
	for _, name := range []string{tools.Etcd, tools.KubeAPIServer} {
		if err := os.Symlink(own, filepath.Join(links, name)); err != nil {
			return err
		}
		if err := os.Setenv(serverVariable(name), binaries[name]); err != nil {
			return err
		}
	}
	return os.Setenv(ownerVariable, fmt.Sprint(os.Getpid()))
}

// links is the folder of links, which Main removes.
var links string

// isServer reports whether this process must execute a server.
func isServer() bool { return os.Getenv(serverVariable(filepath.Base(os.Args[0]))) != "" }

// startServers starts the servers on a thread that lives as long as this process: the kernel treats the end of the
// thread that started a server as the end of the parent, and the runtime ends threads, for example when a goroutine
// returns that has locked its thread.
func startServers(e *envtest.Environment) (*rest.Config, error) {
	type result struct {
		config *rest.Config
		err    error
	}
	started := make(chan result)
	go func() {
		runtime.LockOSThread()
		config, err := e.Start()
		started <- result{config, err}
		select {}
	}()
	r := <-started
	return r.config, r.err
}

// becomeServer executes the server. It returns only on an error.
func becomeServer() error {
	name := filepath.Base(os.Args[0])
	// prctl sets the signal for the calling thread only.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("make %s end with the tests: %w", name, err)
	}
	if owner := os.Getenv(ownerVariable); owner != fmt.Sprint(os.Getppid()) {
		return fmt.Errorf("the tests that started %s have ended already", name)
	}
	signal.Reset()
	environ := append(os.Environ(), tools.Threads())
	return syscall.Exec(os.Getenv(serverVariable(name)), os.Args, environ) //nolint:gosec // It was built from this checkout.
}
