// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// TestRuns: the binary of an image runs with nothing but the image's files, as the image's user.
func TestRuns(t *testing.T) {
	for _, b := range all(t) {
		root := unpack(t, b.images[0].image)
		out, _, err := runIn(t, root, "/"+b.component.name, "--version")
		if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
			t.Skipf("neither root nor allowed to create a user namespace (in a container: --security-opt seccomp=unconfined): %v", err)
		}
		if err != nil || !strings.HasPrefix(out, b.component.name+" v1.2.3 (commit c0ffee, go1.") || !strings.Contains(out, here().String()) {
			t.Errorf("%s --version: %q, %v", b.component.name, out, err)
		}
		// Further than its flags: it looks for its API server.
		_, errOut, err := runIn(t, root, "/"+b.component.name, "--kubeconfig=/missing", "--logging-format=json")
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(errOut, "/missing") && !strings.Contains(errOut, "--milo-kubeconfig") {
			t.Errorf("%s without its API server: %q, %v", b.component.name, errOut, err)
		}
	}
}

// runIn runs a command with root as its root folder, as user 65532: as root by chroot, else in a user namespace in which this
// user is that user.
func runIn(t *testing.T, root string, args ...string) (out, errOut string, err error) {
	t.Helper()
	const nonroot = 65532
	command := exec.CommandContext(t.Context(), args[0], args[1:]...)
	command.Dir, command.Env = "/", []string{"PATH=/"}
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: nonroot, Gid: nonroot}
	} else {
		command.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: nonroot, HostID: os.Getuid(), Size: 1}}
		command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: nonroot, HostID: os.Getgid(), Size: 1}}
	}
	// Not through the path of the test: the file exists only below root.
	command.Path, command.Err = args[0], nil
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err = command.Run()
	return stdout.String(), stderr.String(), err
}

// unpack writes the files of an image into a folder.
func unpack(t *testing.T, image v1.Image) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	flat := mutate.Extract(image)
	defer func() { _ = flat.Close() }()
	reader := tar.NewReader(flat)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return root
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, filepath.Clean("/"+header.Name))
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			var content []byte
			if content, err = io.ReadAll(reader); err == nil {
				err = os.WriteFile(path, content, header.FileInfo().Mode())
			}
		}
		if err := errors.Join(err, os.Chmod(path, header.FileInfo().Mode())); err != nil {
			t.Fatal(err)
		}
	}
}
