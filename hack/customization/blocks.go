// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
)

// Karmada compiles all of a script on each run, so a script has only what it needs: of the blocks of Lua between empty lines those
// that define a global function, and the locals that they reach. A local variable with the name of one of these keeps it, too, which
// only costs time.

var (
	comments = regexp.MustCompile(`(?m)^ *--.*$`)
	texts    = regexp.MustCompile(`"[^"\n]*"`)
	names    = regexp.MustCompile(`(?:^|[^.\w])([A-Za-z_]\w*)`)
	local    = regexp.MustCompile(`(?m)^local (?:function )?(\w+)`)
)

// readBlocks are the blocks of a file.
func readBlocks(path string) ([]string, error) {
	content, err := os.ReadFile(path) //nolint:gosec // a source of this repository
	return blocks(string(content)), err
}

// blocks are the parts of Lua between empty lines, without those that are comments alone.
func blocks(lua string) []string {
	var result []string
	for block := range strings.SplitSeq(lua, "\n\n") {
		if strings.TrimSpace(comments.ReplaceAllString(block, "")) != "" {
			result = append(result, strings.TrimSpace(block))
		}
	}
	return result
}

// reached are the blocks that define a global function, and those that they need, in their order. A block needs only earlier ones.
func reached(all []string) []string {
	var result []string
	needed := map[string]bool{}
	for _, block := range slices.Backward(all) {
		if defined := local.FindStringSubmatch(block); defined != nil && !needed[defined[1]] {
			continue
		}
		code := texts.ReplaceAllString(comments.ReplaceAllString(block, ""), `""`)
		for _, name := range names.FindAllStringSubmatch(code, -1) {
			needed[name[1]] = true
		}
		result = append(result, block)
	}
	slices.Reverse(result)
	return result
}
