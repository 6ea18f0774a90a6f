// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"slices"
	"strings"
)

// mounts are the mount paths of a container and the folders that stand for them, the longest path first.
type mounts []mount

type mount struct{ path, folder string }

func (m mounts) sorted() mounts {
	slices.SortFunc(m, func(a, b mount) int { return cmp.Compare(len(b.path), len(a.path)) })
	return m
}

// rewrite replaces mount paths in an argument or in the value of a variable. A mount path is found where a path can
// begin and where its last element ends: /etc/config is in --file=/etc/config/a, but not in /etc/config-2 or
// https://host/etc/config.
func (m mounts) rewrite(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		found := mount{}
		if text[i] == '/' && (i == 0 || !inPath(text[i-1])) {
			found = m.at(text[i:])
		}
		if found.path == "" {
			out.WriteByte(text[i])
			i++
			continue
		}
		out.WriteString(found.folder)
		i += len(found.path)
	}
	return out.String()
}

// at returns the mount with which text begins.
func (m mounts) at(text string) mount {
	for _, one := range m {
		rest, ok := strings.CutPrefix(text, one.path)
		if ok && (rest == "" || rest[0] == '/' || !inPath(rest[0])) {
			return one
		}
	}
	return mount{}
}

// inPath reports whether a byte continues a path.
func inPath(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("/._-~", b) >= 0
}
