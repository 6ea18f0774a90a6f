// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Axe returns the script of axe-core, in the version and with the checksum of hack/tools/axe. npm installs it into the cache once.
func (b *Builder) Axe(ctx context.Context) (string, error) {
	lock, err := os.ReadFile(filepath.Join(b.module("axe"), "package-lock.json"))
	if err != nil {
		return "", fmt.Errorf("read the version of axe-core: %w", err)
	}
	hash := sha256.Sum256(lock)
	folder := filepath.Join(b.Cache, "axe-"+hex.EncodeToString(hash[:8]))
	packages := filepath.Join(folder, "node_modules")
	script := filepath.Join(packages, "axe-core", "axe.min.js")
	if _, err := os.Stat(script); err == nil {
		return script, nil
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", fmt.Errorf("create a folder for axe-core: %w", err)
	}
	unlock, err := Lock(ctx, filepath.Join(folder, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(script); err == nil {
		return script, nil // another process installed it while this one waited for the lock
	}
	temporary, err := os.MkdirTemp(folder, "install-")
	if err != nil {
		return "", fmt.Errorf("create a folder to install in: %w", err)
	}
	defer func() { _ = os.RemoveAll(temporary) }() // what is installed has been renamed
	if err := os.CopyFS(temporary, os.DirFS(b.module("axe"))); err != nil {
		return "", fmt.Errorf("copy the version of axe-core: %w", err)
	}
	install := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = temporary
	if said, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("install axe-core with npm: %w\n%s", err, said)
	}
	if err := os.Rename(filepath.Join(temporary, "node_modules"), packages); err != nil {
		return "", fmt.Errorf("move axe-core into the cache: %w", err)
	}
	return script, nil
}
