// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// file is one file of a volume.
type file struct {
	content []byte
	mode    os.FileMode
}

// payload holds the files of a volume by their path.
type payload map[string]file

// dataLink is the link to the folder with the current files of a volume, as in volumes that kubelet writes: programs
// watch it to notice a change.
const dataLink = "..data"

// write makes the content of a folder equal to these files. All of them change at once, by replacing a link.
func (p payload) write(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	link := filepath.Join(folder, dataLink)
	if p.equals(link) {
		return nil
	}
	old, err := os.Readlink(link)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	current, err := os.MkdirTemp(folder, "..data-")
	if err != nil {
		return err
	}
	if err := p.fill(current); err != nil {
		return err
	}
	next := filepath.Join(folder, "..data_tmp")
	if err := errors.Join(removeIfExists(next), os.Symlink(filepath.Base(current), next), os.Rename(next, link)); err != nil {
		return fmt.Errorf("exchange the files of %s: %w", folder, err)
	}
	if err := p.link(folder); err != nil {
		return err
	}
	if old == "" {
		return nil
	}
	return os.RemoveAll(filepath.Join(folder, old))
}

func (p payload) fill(folder string) error {
	for name, f := range p {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.content, f.mode); err != nil {
			return err
		}
	}
	return nil
}

// link links the files' first path elements to the current files, and removes leftover links.
func (p payload) link(folder string) error {
	var names []string
	for name := range p {
		first, _, _ := strings.Cut(filepath.ToSlash(name), "/")
		names = append(names, first)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		err := os.Symlink(filepath.Join(dataLink, name), filepath.Join(folder, name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), "..") && !slices.Contains(names, entry.Name()) {
			errs = append(errs, os.Remove(filepath.Join(folder, entry.Name())))
		}
	}
	return errors.Join(errs...)
}

// equals reports whether a folder already contains exactly these files.
func (p payload) equals(folder string) bool {
	found, same := 0, true
	files := os.DirFS(folder)
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if want, ok := p[filepath.FromSlash(name)]; err != nil || !ok || !bytes.Equal(content, want.content) {
			same = false
			return fs.SkipAll
		}
		found++
		return nil
	})
	return err == nil && same && found == len(p)
}

func removeIfExists(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
