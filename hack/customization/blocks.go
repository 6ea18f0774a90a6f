// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
)

// Karmada parses all of a script on each run, so a script has only what it needs: of the blocks of Lua between empty lines those
// that define a global function, and the locals that they reach. That a name means another thing somewhere at most keeps a block
// that is not needed.

var (
	comments = regexp.MustCompile(`(?m)^ *--.*\n`)
	texts    = regexp.MustCompile(`"[^"\n]*"`)
	names    = regexp.MustCompile(`(?:^|[^.\w])([A-Za-z_]\w*)`)
	local    = regexp.MustCompile(`^local (?:function )?(\w+(?:, \w+)*)`)
)

// readBlocks are the blocks of a file.
func readBlocks(path string) ([]string, error) {
	content, err := os.ReadFile(path) //nolint:gosec // a source of this repository
	return blocks(string(content)), err
}

// blocks are the parts of Lua between empty lines, without comments.
func blocks(lua string) []string {
	var result []string
	for block := range strings.SplitSeq(lua, "\n\n") {
		if code(block) != "" {
			result = append(result, strings.TrimSpace(block))
		}
	}
	return result
}

// reached are the blocks that the last one needs, in their order.
func reached(all []string) []string {
	var result []string
	needed := map[string]bool{}
	for _, block := range slices.Backward(all) {
		if defines := local.FindStringSubmatch(code(block)); defines != nil && !slices.ContainsFunc(strings.Split(defines[1], ", "), func(name string) bool { return needed[name] }) {
			continue
		}
		for _, name := range names.FindAllStringSubmatch(texts.ReplaceAllString(code(block), `""`), -1) {
			needed[name[1]] = true
		}
		result = append(result, block)
	}
	slices.Reverse(result)
	return result
}

func join(blocks []string) string { return strings.Join(blocks, "\n\n") + "\n" }

func code(block string) string { return strings.TrimSpace(comments.ReplaceAllString(block+"\n", "")) }
