// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
)

// unreleased is the section of the changelog with what no version has yet. Pre-releases have it.
const unreleased = "Unreleased"

var (
	// section is the heading of a version: ## v0.1.0, ## 0.1.0 or ## [0.1.0] - 2026-01-02.
	section = regexp.MustCompile(`(?m)^## \[?v?([^\]\s]+)\]?.*$`)
	// relativeLink is a link to a file of the repository.
	relativeLink = regexp.MustCompile(`\]\(([^)#][^):]*)\)`)
)

// Notes returns the section of a version in a changelog. Links to files of the repository become links to the files at
// the tag.
func Notes(changelog, version, repository string) (string, error) {
	wanted := strings.TrimPrefix(version, "v")
	body, found := cut(changelog, wanted)
	if !found && semver.Prerelease(version) != "" {
		body, found = cut(changelog, unreleased)
	}
	if !found {
		return "", fmt.Errorf("CHANGELOG.md has no section for %s: name the section %q \"%s\" and commit that before the tag", version,
			unreleased, wanted)
	}
	if body == "" {
		return "", fmt.Errorf("CHANGELOG.md says nothing about %s: describe the version there before the tag", version)
	}
	return relativeLink.ReplaceAllString(body, "]("+repository+"/blob/"+version+"/$1)") + "\n", nil
}

// cut returns what is below the heading of a section.
func cut(changelog, name string) (body string, found bool) {
	headings := section.FindAllStringSubmatchIndex(changelog, -1)
	for i, heading := range headings {
		if changelog[heading[2]:heading[3]] != name {
			continue
		}
		end := len(changelog)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		return strings.TrimSpace(changelog[heading[1]:end]), true
	}
	return "", false
}
