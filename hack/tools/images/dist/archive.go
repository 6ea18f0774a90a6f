// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"slices"
	"time"
)

// File is an entry of an archive.
type File struct {
	Name    string
	Mode    int64
	Content []byte
}

// TarGz returns an archive of the files, sorted by name. Every file belongs to root and has the time of the commit: the
// owner and the time of a build would make every archive another one.
func TarGz(modified time.Time, files ...File) ([]byte, error) {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	writer := tar.NewWriter(compressed)
	for _, file := range slices.SortedFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Name, b.Name) }) {
		header := &tar.Header{
			Format: tar.FormatUSTAR, Typeflag: tar.TypeReg, Name: file.Name, Mode: file.Mode, Size: int64(len(file.Content)),
			ModTime: modified.UTC().Truncate(time.Second),
		}
		if err := writer.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("add %s to an archive: %w", file.Name, err)
		}
		if _, err := writer.Write(file.Content); err != nil {
			return nil, fmt.Errorf("add %s to an archive: %w", file.Name, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	if err := compressed.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Command returns the archive of a command: its binary, the licence and, for the plugin, the executable that completes
// its arguments.
func Command(modified time.Time, name string, binary, license []byte) ([]byte, error) {
	files := []File{{Name: name, Mode: 0o755, Content: binary}, {Name: "LICENSE", Mode: 0o644, Content: license}}
	if name == PluginBinary {
		files = append(files, File{Name: PluginCompletion, Mode: 0o755, Content: pluginCompletion})
	}
	return TarGz(modified, files...)
}
