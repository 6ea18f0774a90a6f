// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	env := map[string]string{"A": "1", "B": "$(A)"}
	for input, want := range map[string]string{
		"": "", "a": "a", "$(A)": "1", "x$(A)y$(A)": "x1y1", "$(B)": "$(A)", "$$(A)": "$(A)", "$$$(A)": "$1",
		"$(C)": "$(C)", "$(A": "$(A", "$": "$", "a$": "a$", "$A": "$A", "$()": "$()", "$$": "$",
	} {
		if got := expand(input, env); got != want {
			t.Errorf("expand(%q) = %q, want %q", input, got, want)
		}
	}
}

func TestRewrite(t *testing.T) {
	m := mounts{{"/etc/a", "/x/a"}, {"/etc/a/b", "/x/b"}, {"/tmp", "/x/tmp"}}.sorted()
	for input, want := range map[string]string{
		"": "", "/etc/a": "/x/a", "/etc/a/": "/x/a/", "/etc/a/b": "/x/b", "/etc/a/bc": "/x/a/bc", "/etc/ab": "/etc/ab", "/etc/a-b": "/etc/a-b",
		"--f=/etc/a/c,/tmp": "--f=/x/a/c,/x/tmp", "https://host/tmp": "https://host/tmp", "/var/tmp": "/var/tmp",
		"file:/tmp/y:z":  "file:/x/tmp/y:z",
		`{"p":"/etc/a"}`: `{"p":"/x/a"}`, "tmp": "tmp", "//tmp": "//tmp",
	} {
		if got := m.rewrite(input); got != want {
			t.Errorf("rewrite(%q) = %q, want %q", input, got, want)
		}
	}
}

func TestImages(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(binary, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	o := &Options{
		Images: map[string]string{"app": binary, "host:5000/x/other:v2@sha256:00": binary, "text": "/dev/null", "gone": "/not/there"},
	}
	for image, want := range map[string]string{
		"app": "", "app:v1": "", "host:5000/a/b/app:v1": "", "a/app@sha256:00": "", "a/app:v1@sha256:00": "",
		"host:5000/x/other:v2@sha256:00": "",
		"other":                          "--images=other=", "app/x": "no binary", "text": "not executable", "gone": "no such file",
	} {
		got, err := o.binary(image)
		if want == "" && (err != nil || got != binary) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("binary(%q) = %q, %v; want an error with %q", image, got, err, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	seen := map[string]bool{}
	for range 300 {
		a, err := reserveAddress()
		if err != nil {
			t.Fatal(err)
		}
		defer a.release()
		if seen[a.Pod] {
			t.Fatalf("%s is reserved twice", a.Pod)
		}
		seen[a.Pod] = true
		if local, err := Local(a.Pod); err != nil || local != a.Local || !strings.HasPrefix(local, "127.") || local[3:] != a.Pod[2:] {
			t.Errorf("Local(%s) = %s, %v", a.Pod, local, err)
		}
	}
	for _, wrong := range []string{"", "192.0.2.1", "127.0.0.1", "fd00::1"} {
		if _, err := Local(wrong); err == nil {
			t.Errorf("%q is taken for the IP of a Pod", wrong)
		}
	}
}

func TestLockFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := lockFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockFile(path); err == nil {
		t.Error("a file is locked twice")
	}
	release()
	again, err := lockFile(path)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestPayload(t *testing.T) {
	folder := t.TempDir()
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return "-"
		}
		return string(content)
	}
	f := func(text string) file { return file{content: []byte(text), mode: 0o600} }
	for i, step := range []struct {
		files payload
		want  string
	}{
		{payload{}, "---"},
		{payload{"a": f("1"), "b/c": f("2")}, "12-"},
		{payload{"a": f("1"), "b/c": f("2")}, "12-"},
		{payload{"a": f("3"), "d": f("4")}, "3-4"},
		{payload{"d": f("4")}, "--4"},
	} {
		before, _ := os.Readlink(filepath.Join(folder, dataLink))
		same := step.files.equals(filepath.Join(folder, dataLink)) && before != ""
		if err := step.files.write(folder); err != nil {
			t.Fatal(err)
		}
		if got := read("a") + read("b/c") + read("d"); got != step.want {
			t.Errorf("step %d: %s, want %s", i, got, step.want)
		}
		after, _ := os.Readlink(filepath.Join(folder, dataLink))
		if same != (before == after) {
			t.Errorf("step %d: the folder of the files changes from %q to %q", i, before, after)
		}
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 3 { // ..data, its folder, d
		t.Errorf("left over: %v", entries)
	}
}
