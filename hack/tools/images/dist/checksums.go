// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ChecksumsFile has the SHA-256 of the files of a release, as sha256sum reads it.
const ChecksumsFile = "SHA256SUMS"

// Checksums are the SHA-256 of files, by their names.
type Checksums map[string]string

// Sum returns the checksums of files in a folder.
func Sum(folder string, names []string) (Checksums, error) {
	sums := Checksums{}
	for _, name := range names {
		sum, err := sumFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		sums[name] = sum
	}
	return sums, nil
}

func sumFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it is only read
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// Names returns the files, sorted.
func (c Checksums) Names() []string {
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// String is the content of ChecksumsFile.
func (c Checksums) String() string {
	var out strings.Builder
	for _, name := range c.Names() {
		out.WriteString(c[name] + "  " + name + "\n")
	}
	return out.String()
}
