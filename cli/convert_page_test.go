// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestConvertPage runs the commands of docs/how-to/convert.md that need no API server, and compares what they print
// with the page. A scenario runs all of the page's commands against a federation.
func TestConvertPage(t *testing.T) {
	page, err := os.ReadFile("../docs/how-to/convert.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	plugin := fmt.Sprintf("#!/bin/sh\nshift\n%s=true exec %q \"$@\"\n", asCommand, os.Args[0])
	if err := os.WriteFile(filepath.Join(folder, "kubectl"), []byte(plugin), 0o700); err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?").FindAllStringSubmatch(string(page), -1)
	run := 0
	for _, block := range blocks {
		if strings.Contains(block[1], "kubectl apply") {
			continue
		}
		run++
		command := exec.CommandContext(t.Context(), "bash", "-ec", block[1])
		command.Dir = folder
		command.Env = append(os.Environ(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
		if printed, err := command.CombinedOutput(); err != nil || string(printed) != block[2] {
			t.Errorf("%v: the commands\n%s\nprint\n%s\nand the page has\n%s", err, block[1], printed, block[2])
		}
	}
	if run < 9 {
		t.Errorf("%d blocks are run", run)
	}
}
