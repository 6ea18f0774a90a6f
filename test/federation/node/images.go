// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// binary returns the path of the binary that stands for an image: the one of the full reference, or else of the last
// element of the repository, without registry, tag and digest.
func (o *Options) binary(image string) (string, error) {
	file, ok := o.Images[image]
	if !ok {
		file, ok = o.Images[shortName(image)]
	}
	if !ok {
		return "", fmt.Errorf("this node has no binary for image %q, only for %s: start it with --images=%s=<path>",
			image, strings.Join(slices.Sorted(maps.Keys(o.Images)), ", "), shortName(image))
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("the binary of image %q: %w", image, err)
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return "", fmt.Errorf("the binary of image %q is not executable: %s", image, file)
	}
	return file, nil
}

func shortName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name := path.Base(image)
	name, _, _ = strings.Cut(name, ":")
	return name
}
