// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// A kube-apiserver that starts with an empty etcd writes its roles and namespaces, and then checks the long schemas and
// rules of our kinds. That takes it longer than many packages have tests. So each etcd starts with a copy of the data of
// one to which a kube-apiserver has written all this before: the base. The cache of binaries keeps it.

// basePatience is how long a base is kept that no test uses.
const basePatience = 7 * 24 * time.Hour

// base copies the base of the checkout into a folder. It is created first if it is not in the cache.
func base(ctx context.Context, repository, cache string, binaries map[string]string, into string) error {
	crds := os.DirFS(filepath.Join(repository, "api", "crds"))
	hash := sha256.New()
	for _, name := range []string{tools.Etcd, tools.KubeAPIServer} {
		fmt.Fprintln(hash, binaries[name]) // the path has a hash of the binary's sources
	}
	files, err := fs.Glob(crds, "*.yaml")
	if err != nil {
		return err
	}
	for _, file := range files {
		content, err := fs.ReadFile(crds, file)
		if err != nil {
			return err
		}
		hash.Write(content)
	}
	bases := filepath.Join(filepath.Dir(cache), "bases")
	if err := os.MkdirAll(bases, 0o700); err != nil {
		return err
	}
	unlock, err := tools.Lock(ctx, filepath.Join(bases, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	stored := filepath.Join(bases, fmt.Sprintf("%x", hash.Sum(nil)[:8]))
	if _, err := os.Stat(stored); errors.Is(err, fs.ErrNotExist) {
		if err := createBase(stored, filepath.Join(repository, "api", "crds")); err != nil {
			return fmt.Errorf("create the data with which the tests' API servers start: %w", err)
		}
	}
	now := time.Now()
	return errors.Join(os.Chtimes(stored, now, now), removeUnused(bases, now), os.CopyFS(into, os.DirFS(stored)))
}

// createBase starts the servers with our kinds, stops them, and keeps the data of etcd.
func createBase(path, crds string) error {
	data, err := os.MkdirTemp(filepath.Dir(path), "new-")
	if err != nil {
		return err
	}
	e := newEnvironment()
	e.CRDDirectoryPaths, e.ControlPlane.Etcd.DataDir = []string{crds}, data
	_, err = startServers(e)
	if err := errors.Join(err, e.Stop()); err != nil {
		return err
	}
	return os.Rename(data, path)
}

// removeUnused removes what no test has used for long.
func removeUnused(bases string, now time.Time) error {
	entries, err := os.ReadDir(bases)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && entry.IsDir() && now.Sub(info.ModTime()) > basePatience {
			if err := os.RemoveAll(filepath.Join(bases, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// serves waits until a kube-apiserver that has started with the base serves our kinds.
func serves(ctx context.Context, config *rest.Config, repository string) error {
	files, err := filepath.Glob(filepath.Join(repository, "api", "crds", "*.yaml"))
	if err != nil {
		return err
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		list, err := kinds.ServerResourcesForGroupVersion(v1alpha.GroupVersion.String())
		if err != nil {
			return false, client.IgnoreNotFound(err)
		}
		served := 0
		for i := range list.APIResources {
			if !strings.Contains(list.APIResources[i].Name, "/") {
				served++
			}
		}
		return served == len(files), nil
	})
}
