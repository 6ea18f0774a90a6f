// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// tool is one binary built from a tool module under hack/tools.
type tool struct {
	module string // folder under hack/tools
	pkg    string // main package
	name   string // file name of the binary
}

// heartbeat is how often a build that takes long says that it goes on.
const heartbeat = 15 * time.Second

func tools() []tool {
	const kubernetes, karmada = "k8s.io/kubernetes/cmd/", "github.com/karmada-io/karmada/cmd/"
	return []tool{
		{module: "etcd", pkg: "go.etcd.io/etcd/server/v3", name: "etcd"},
		{module: "kubernetes", pkg: kubernetes + "kube-apiserver", name: "kube-apiserver"},
		{module: "kubernetes", pkg: kubernetes + "kube-controller-manager", name: "kube-controller-manager"},
		{module: "kubernetes", pkg: kubernetes + "kube-scheduler", name: "kube-scheduler"},
		{module: "kwok", pkg: "sigs.k8s.io/kwok/cmd/kwok", name: "kwok"},
		{module: "karmada", pkg: karmada + "controller-manager", name: "karmada-controller-manager"},
		{module: "karmada", pkg: karmada + "scheduler", name: "karmada-scheduler"},
		{module: "karmada", pkg: karmada + "webhook", name: "karmada-webhook"},
		{module: "karmada", pkg: karmada + "aggregated-apiserver", name: "karmada-aggregated-apiserver"},
		{module: "karmada", pkg: karmada + "agent", name: karmadaAgent},
		{module: "karmada", pkg: karmada + "karmadactl", name: "karmadactl"},
	}
}

// builder builds tools of a repository into a cache.
type builder struct {
	repository string
	cache      string
	progress   *progress
	goVersion  string
}

// buildTools builds what the cache does not hold yet and returns the path of
// every binary by its name.
func buildTools(ctx context.Context, o Options, p *progress) (map[string]string, error) {
	goVersion, err := goCommand(ctx, o.Repository, "env", "GOVERSION")
	if err != nil {
		return nil, fmt.Errorf("no Go toolchain to build the federation's binaries with, put go into PATH: %w", err)
	}
	b := &builder{repository: o.Repository, cache: o.Cache, progress: p, goVersion: goVersion}
	paths := map[string]string{}
	for _, t := range tools() {
		path, err := b.build(ctx, t)
		if err != nil {
			return nil, fmt.Errorf("building %s: %w", t.name, err)
		}
		paths[t.name] = path
	}
	return paths, nil
}

// build returns the cached binary of t, or makes it. A file lock keeps two
// runs from building the same binary at once; the rename keeps a broken build
// out of the cache.
func (b *builder) build(ctx context.Context, t tool) (string, error) {
	started := time.Now()
	folder, err := b.folder(t.module)
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, t.name)
	if version, ok := moduleVersion(path); ok {
		b.progress.printf("%s %s cached", t.name, version)
		return path, nil
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", err
	}
	unlock, err := lockFile(ctx, path+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if version, ok := moduleVersion(path); ok {
		b.progress.printf("%s %s cached, by another run", t.name, version)
		return path, nil
	}
	temporary := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer func() { _ = os.Remove(temporary) }() // gone already when the build succeeded
	stop := b.beat(ctx, t.name)
	_, err = goCommand(ctx, filepath.Join(b.repository, "hack", "tools", t.module),
		"build", "-trimpath", "-ldflags", "-s -w", "-o", temporary, t.pkg)
	stop()
	if err != nil {
		return "", err
	}
	if err := os.Rename(temporary, path); err != nil {
		return "", err
	}
	version, _ := moduleVersion(path)
	b.progress.printf("%s %s built in %.1fs", t.name, version, time.Since(started).Seconds())
	return path, nil
}

// folder is the cache folder of a tool module, keyed by everything that
// decides what its binaries contain.
func (b *builder) folder(module string) (string, error) {
	hash := sha256.New()
	for _, file := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(b.repository, "hack", "tools", module, file))
		if err != nil {
			return "", err
		}
		hash.Write(content)
	}
	hash.Write([]byte(b.goVersion))
	return filepath.Join(b.cache, module+"-"+hex.EncodeToString(hash.Sum(nil))[:16]), nil
}

// beat reports every heartbeat that a build goes on, until the returned
// function is called.
func (b *builder) beat(ctx context.Context, name string) func() {
	ctx, stop := context.WithCancel(ctx)
	started := time.Now()
	b.progress.printf("building %s …", name)
	go func() {
		ticker := time.NewTicker(heartbeat)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				b.progress.printf("still building %s, %.0fs", name, time.Since(started).Seconds())
			}
		}
	}()
	return stop
}

// buildOwn builds main packages of the repository into folder.
func buildOwn(ctx context.Context, repository, folder string, packages ...string) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	args := append([]string{"build", "-o", folder + string(filepath.Separator)}, packages...)
	if _, err := goCommand(ctx, repository, args...); err != nil {
		return fmt.Errorf("building %s: %w", strings.Join(packages, " and "), err)
	}
	return nil
}

// goCommand runs the go command in folder and returns its trimmed output.
func goCommand(ctx context.Context, folder string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly -buildvcs=false", "GOWORK=off")
	cmd.WaitDelay = 5 * time.Second // compilers started by a killed go command hold its output open
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), folder, err, errOut.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// moduleVersion tells the version of the module a binary was built from, and
// whether the binary is there and readable.
func moduleVersion(path string) (string, bool) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "", false
	}
	for _, dep := range info.Deps {
		if dep.Path != "" && (info.Path == dep.Path || strings.HasPrefix(info.Path, dep.Path+"/")) {
			return dep.Version, true
		}
	}
	return info.Main.Version, true
}

// lockFile takes an exclusive lock on path, waiting until it is free or ctx
// ends. The lock goes with the process that holds it.
func lockFile(ctx context.Context, path string) (func(), error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(context.Context) (bool, error) {
		return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for the lock %s: %w", path, errors.Join(err, file.Close()))
	}
	return func() { _ = file.Close() }, nil // closing drops the lock
}
