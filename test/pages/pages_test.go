// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const example = "# A page\n\n## First\n\n```sh\nname=web\n```\n\ntext\n\n```sh\necho $name\n```\n\n```text\nweb\n```\n\n" +
	"## Second\n\n<!-- not run: it\ntakes long -->\n```sh\nfalse\n```\n\n<!-- another comment " +
	"-->\n```sh\ntrue\n```\n\n```yaml\nkey: value\n```\n"

func TestParse(t *testing.T) {
	prints := "web\n"
	want := []Block{
		{Line: 6, Heading: "First", Commands: "name=web\n"},
		{Line: 12, Heading: "First", Commands: "echo $name\n", Prints: &prints},
		{Line: 24, Heading: "Second", Commands: "false\n", NotRun: "it takes long"},
		{Line: 29, Heading: "Second", Commands: "true\n"},
	}
	page := parse("page.md", []byte(example))
	if diff := cmp.Diff(want, page.Blocks); diff != "" {
		t.Error(diff)
	}
	if got := page.Summary(); !strings.HasPrefix(got, "page.md: 3 of 4 command blocks are run\n  line 24 is not run: it") {
		t.Errorf("summary %q", got)
	}
}

func TestMatches(t *testing.T) {
	for name, c := range map[string]struct {
		page, printed string
		want          bool
	}{
		"the same":      {"a\nb\n", "a\nb\n", true},
		"another line":  {"a\nb\n", "a\nc\n", false},
		"a line more":   {"a\n", "a\nb\n", false},
		"a line less":   {"a\nb\n", "a\n", false},
		"nothing":       {"a\n", "", false},
		"wider columns": {"NAME  AGE\nweb   5s\n", "NAME       AGE\nweb        3m20s\n", true},
		"another address and UID": {
			"10.0.0.1 83b43b77-d31f-4063-834c-d75e010dfdf2\n", "10.1.2.3 00000000-d31f-4063-834c-d75e010dfdf2\n", true,
		},
		"an address that is missing":   {"web 10.0.0.1\n", "web\n", false},
		"any text":                     {"web-... ready\n", "web-5fd8 ready\n", true},
		"any text, not the rest":       {"web-... ready\n", "web-5fd8 lost\n", false},
		"any lines":                    {"a\n...\nd\n", "a\nb\nc\nd\n", true},
		"any lines, none":              {"a\n...\nd\n", "a\nd\n", true},
		"no expression":                {"a.c (x)*\n", "abc (x)*\n", false},
		"a number is no age":           {"web 2\n", "web 3\n", false},
		"colours":                      {"Ready\n", "\x1b[32mReady\x1b[0m\n", true},
		"a word that begins otherwise": {"Ready\n", "NotReady\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Matches(c.page, c.printed); got != c.want {
				t.Errorf("Matches = %t", got)
			}
		})
	}
}

func runExample(t *testing.T, source string, eventually Eventually) error {
	t.Helper()
	shell, err := NewShell(t.Context(), t.TempDir(), map[string]string{"GIVEN": "given"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := shell.Close(); err != nil {
			t.Error(err)
		}
	}()
	return parse("page.md", []byte(source)).Run(t.Context(), shell, eventually, nil)
}

// thrice tries three times.
func thrice(ctx context.Context, check func(context.Context) error) error {
	var err error
	for range 3 {
		if err = check(ctx); err == nil {
			return nil
		}
	}
	return err
}

func TestRun(t *testing.T) {
	for name, c := range map[string]struct{ page, wantErr string }{
		"variables stay":            {example, ""},
		"variables are given":       {"```sh\necho $GIVEN\n```\n\n```text\ngiven\n```\n", ""},
		"until it prints that":      {"```sh\ntries=$((tries+1)); echo $tries\n```\n\n```text\n3\n```\n", ""},
		"it never prints that":      {"```sh\ntries=$((tries+1)); echo $tries\n```\n\n```text\n4\n```\n", "page.md:2: the commands print\n3\n"},
		"a command fails":           {"```sh\nfalse\ntrue\n```\n", "page.md:2: exit code 1"},
		"a command of a pipe fails": {"```sh\nfalse | cat\n```\n", "exit code 1"},
		"what a failed command says": {
			"```sh\nls /nowhere || true; cat /nowhere\n```\n\n```text\n...\ncat: /nowhere: No such file or directory\n```\n", "",
		},
		"the shell is ended":          {"```sh\nexit 3\n```\n", "the shell has ended"},
		"nobody answers its question": {"```sh\nread answer || echo none\n```\n\n```text\nnone\n```\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := runExample(t, c.page, thrice)
			if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestShellEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	shell, err := NewShell(ctx, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := shell.Run(t.Context(), "sleep 60"); err == nil {
		t.Error("commands are run after the end of the context")
	}
	if err := shell.Close(); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

func TestCommandsThatDoNotEnd(t *testing.T) {
	shell, err := NewShell(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := shell.Run(ctx, "sleep 60\n"); err == nil || !strings.Contains(err.Error(), "the shell has ended") {
		t.Errorf("error %v", err)
	}
	if err := shell.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

func TestBrokenLinks(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"a.md": "# The `--flag` of a, and more\n\n## Twice\n\n## Twice\n\n[1](b.md) [2](b.md#b_c-2) " +
			"[3](#the---flag-of-a-and-more) [4](#twice-1) [5](https://example.com/x)\n" +
			"[6](c.md) [7](b.md#d) [8](#twice-2) | ![9](d.png) [r]\n\n`[no link](e.md)`\n\n[r]: f.md\n",
		"b.md": "# B_C 2!\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	broken, err := BrokenLinks(filepath.Join(folder, "a.md"))
	if want := []string{"c.md", "b.md#d", "#twice-2", "d.png", "f.md"}; err != nil || !slices.Equal(broken, want) {
		t.Errorf("broken %q, %v", broken, err)
	}
}
