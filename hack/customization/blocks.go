// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
)

// Karmada compiles the whole script on each run, so a script contains only what it needs: the blocks of Lua between
// empty lines that define a global function, and the locals that these blocks reach. A local variable with the name of
// a block keeps that block, too, which only costs time.

var (
	comments = regexp.MustCompile(`(?m)^ *--.*$`)
	texts    = regexp.MustCompile(`"[^"\n]*"`)
	names    = regexp.MustCompile(`(?:^|[^.\w])([A-Za-z_]\w*)`)
	local    = regexp.MustCompile(`(?m)^local (?:function )?(\w+)`)
)

// readBlocks returns the blocks of a file.
func readBlocks(path string) ([]string, error) {
	content, err := os.ReadFile(path) //nolint:gosec // a source of this repository
	return blocks(string(content)), err
}

// blocks returns the parts of Lua between empty lines, without parts that contain only comments.
func blocks(lua string) []string {
	var result []string
	for block := range strings.SplitSeq(lua, "\n\n") {
		if strings.TrimSpace(comments.ReplaceAllString(block, "")) != "" {
			result = append(result, strings.TrimSpace(block))
		}
	}
	return result
}

// reached returns the blocks that define a global function, and the blocks that they need, in their order. A block
// needs only earlier ones.
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
