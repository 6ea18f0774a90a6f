// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
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
		root := newRoot(t, b.images[0].image)
		out, _, err := root.run(t, "--version")
		if isForbidden(err) {
			t.Skipf("this user may neither chroot nor create a user namespace to do so (in a container: --security-opt seccomp=unconfined): %v", err)
		}
		if err != nil || !strings.HasPrefix(out, b.component.name+" v1.2.3 (commit c0ffee, go1.") || !strings.Contains(out, here().String()) {
			t.Errorf("%s --version: %q, %v", b.component.name, out, err)
		}
		// Further than its flags: it looks for its API server.
		args := []string{"--kubeconfig=/missing"}
		if b.component.name == "karmada-compute" {
			args = append(args, "--milo-kubeconfig=/missing")
		}
		_, errOut, err := root.run(t, args...)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(errOut, "stat /missing: no such file") {
			t.Errorf("%s without its API server: %q, %v", b.component.name, errOut, err)
		}
	}
}

// root is an image that is unpacked.
type root struct {
	folder     string
	entrypoint string
	uid, gid   int
}

func newRoot(t *testing.T, image v1.Image) *root {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	r := &root{folder: unpack(t, image), entrypoint: config.Config.Entrypoint[0]}
	if _, err := fmt.Sscanf(config.Config.User, "%d:%d", &r.uid, &r.gid); err != nil {
		t.Fatalf("user %q: %v", config.Config.User, err)
	}
	return r
}

// run runs the entrypoint with the folder as its root folder and as the image's user: by chroot, which root may, else
// in a user namespace in which the user of the test is that user.
func (r *root) run(t *testing.T, args ...string) (out, errOut string, err error) {
	t.Helper()
	direct := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(r.uid), Gid: uint32(r.gid)}}
	namespaced := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: r.uid, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: r.gid, HostID: os.Getgid(), Size: 1}},
	}
	for _, attributes := range []*syscall.SysProcAttr{direct, namespaced} {
		attributes.Chroot, attributes.Pdeathsig = r.folder, syscall.SIGKILL
		command := exec.CommandContext(t.Context(), r.entrypoint, args...)
		command.Dir, command.Env, command.SysProcAttr = "/", []string{"PATH=/"}, attributes
		var stdout, stderr bytes.Buffer
		command.Stdout, command.Stderr = &stdout, &stderr
		err = command.Run()
		if out, errOut = stdout.String(), stderr.String(); !isForbidden(err) {
			return out, errOut, err
		}
	}
	return out, errOut, err
}

func isForbidden(err error) bool {
	return errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL)
}

// unpack writes the files of an image into a folder.
func unpack(t *testing.T, image v1.Image) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	flat := mutate.Extract(image)
	defer func() { _ = flat.Close() }()
	reader := tar.NewReader(flat)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return folder
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, filepath.Clean("/"+header.Name))
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
