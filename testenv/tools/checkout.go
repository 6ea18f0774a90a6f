// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckKarmadaSource returns an error unless a folder is a checkout of Karmada, by its absolute path.
func CheckKarmadaSource(folder string) error {
	if !filepath.IsAbs(folder) {
		return fmt.Errorf("the checkout of Karmada is named by an absolute path, not by %q", folder)
	}
	content, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return fmt.Errorf("%s is no checkout of Karmada: %w", folder, err)
	}
	if !bytes.Contains(content, []byte("module "+KarmadaModule+"\n")) {
		return fmt.Errorf("%s is no checkout of Karmada: its go.mod is the one of another module", folder)
	}
	return nil
}

// vendored returns the go flag for a module that brings its dependencies along; none for others.
func vendored(module string) []string {
	if _, err := os.Stat(filepath.Join(module, "vendor", "modules.txt")); err != nil {
		return nil
	}
	return []string{"-mod=vendor"}
}

// hashSources adds the path, size and time of each source of a checkout to a hash.
func hashSources(hash io.Writer, folder string) error {
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		info, err := entry.Info()
		if err == nil {
			_, err = fmt.Fprintln(hash, path, info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read the checkout of Karmada: %w", err)
	}
	return nil
}
