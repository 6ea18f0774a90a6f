// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"regexp"
	"strings"
)

// image is a parsed image reference.
type image struct {
	host, tag, digest string
}

// imagePattern is the grammar of image references in registries and container runtimes: name, tag, digest.
var imagePattern = regexp.MustCompile(`^(?:(` + hostPattern + `)/)?` + pathPattern + `(?:/` + pathPattern + `)*` +
	`(?::([\w][\w.-]{0,127}))?` +
	`(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`)

const (
	labelPattern = `[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?`
	// A first component is a registry only if it has the form of an address: docker.io, registry:5000, localhost, [::1]:5000.
	hostPattern = `(?:` + labelPattern + `(?:\.` + labelPattern + `)+|localhost|\[[a-fA-F0-9:]+\])(?::[0-9]+)?|` + labelPattern + `:[0-9]+`
	pathPattern = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`
)

// parseImage parses an image reference. It returns false if the text is not an image reference.
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
