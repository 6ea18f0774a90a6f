// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"regexp"
	"strings"
)

// image is an image reference, taken apart.
type image struct {
	host, tag, digest string
}

// imagePattern is the grammar of image references as registries and container runtimes have it: name, tag, digest.
var imagePattern = regexp.MustCompile(`^(?:(` + hostPattern + `)/)?` + pathPattern + `(?:/` + pathPattern + `)*` +
	`(?::([\w][\w.-]{0,127}))?` +
	`(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`)

const (
	labelPattern = `[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?`
	// A first component is a host only if it looks like one: docker.io, registry:5000, localhost, [::1]:5000.
	hostPattern = `(?:` + labelPattern + `(?:\.` + labelPattern + `)+|localhost|\[[a-fA-F0-9:]+\])(?::[0-9]+)?|` + labelPattern + `:[0-9]+`
	pathPattern = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`
)

// parseImage takes an image reference apart, if it is one.
func parseImage(text string) (image, bool) {
	match := imagePattern.FindStringSubmatch(text)
	if match == nil {
		return image{}, false
	}
	parsed := image{host: match[1], tag: match[2], digest: match[3]}
	name, _, _ := strings.Cut(text, "@")
	name = strings.TrimSuffix(name, ":"+parsed.tag)
	return parsed, len(name) <= 255
}
