// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	outputs, names := map[string]bool{}, map[string]bool{}
	for _, tool := range all() {
		if output := tool.module + "/" + tool.output(); outputs[output] {
			t.Errorf("two binaries are built as %s", output)
		} else {
			outputs[output] = true
		}
		names[tool.name] = true
	}
	if len(names) != len(all()) {
		t.Errorf("%d names for %d binaries", len(names), len(all()))
	}
	if got := (tool{pkg: "go.etcd.io/etcd/server/v3"}).output(); got != "server" {
		t.Errorf("etcd is built as %q", got)
	}
	if _, err := selected([]string{"kube-dns"}); err == nil {
		t.Error("an unknown binary was selected")
	}
}

// TestModules: another version of Kubernetes is for control planes only, and each module under hack/tools is found.
func TestModules(t *testing.T) {
	b := &Builder{Karmada: "1.17", Kubernetes: "1.26"}
	for _, tool := range all() {
		want := tool.module
		switch tool.name {
		case KubeAPIServer, KubeControllerManager, KubeScheduler:
			want = "kubernetes-1.26"
		case KarmadaControllerManager, KarmadaScheduler, KarmadaWebhook, KarmadaAggregatedAPIServer, KarmadaAgent:
			want = "karmada-1.17"
		}
		if got := b.moduleOf(tool); got != want {
			t.Errorf("%s is built from %s, want %s", tool.name, got, want)
		}
	}
	repository, err := FindRepository()
	if err != nil {
		t.Fatal(err)
	}
	for what, found := range map[string]func(string) ([]string, error){"1.17": KarmadaVersions, "1.26": KubernetesVersions} {
		if versions, err := found(repository); err != nil || !slices.Contains(versions, what) {
			t.Errorf("version %s is not among %v: %v", what, versions, err)
		}
	}
}

// TestFollow verifies that downloads and compiled packages are counted and errors are returned.
func TestFollow(t *testing.T) {
	c := &compilation{}
	said, err := c.follow(strings.NewReader(strings.Join([]string{
		"go: downloading k8s.io/api v0.35.4", "go: downloading k8s.io/client-go v0.35.4",
	}, "\n")))
	if err != nil || said != "" || c.String() != "2 modules downloaded" {
		t.Errorf("said %q, %q: %v", said, c, err)
	}
	said, err = c.follow(strings.NewReader("internal/abi\nk8s.io/api/core/v1\n# example.com/broken\nmain.go:3:2: undefined: x\n"))
	if want := "# example.com/broken\nmain.go:3:2: undefined: x\n"; err != nil || said != want || c.String() != "2 packages compiled" {
		t.Errorf("said %q, %q: %v", said, c, err)
	}
	c.total.Store(8)
	if c.String() != "2 of 8 packages compiled" {
		t.Errorf("says %q", c)
	}
}

// checkout creates a repository whose kwok is the given program.
func checkout(t *testing.T, program string) *Builder {
	t.Helper()
	b := &Builder{Repository: t.TempDir(), Cache: t.TempDir(), Printf: t.Logf}
	for path, content := range map[string]string{
		"go.mod":                                     "module example.com/checkout\n\ngo 1.26\n",
		"cmd/hello/main.go":                          "package main\n\nfunc main() { println(\"hello\") }\n",
		"test/go.mod":                                "module example.com/checkout/test\n\ngo 1.26\n",
		"test/cmd/other/main.go":                     "package main\n\nfunc main() {}\n",
		"hack/tools/kwok/go.mod":                     "module sigs.k8s.io/kwok\n\ngo 1.26\n",
		"hack/tools/kwok/go.sum":                     "",
		"hack/tools/kwok/cmd/kwok/main.go":           program,
		"hack/tools/prometheus/go.mod":               "module github.com/prometheus/prometheus\n\ngo 1.26\n",
		"hack/tools/prometheus/go.sum":               "",
		"hack/tools/prometheus/cmd/promtool/main.go": "//go:build remove_all_sd\n\npackage main\n\nfunc main() {}\n",
		"hack/tools/federation/go.mod":               "module example.com/federation\n\ngo 1.26\n",
		"hack/tools/federation/placeholder.go":       "package federation\n",
	} {
		path = filepath.Join(b.Repository, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func TestBuild(t *testing.T) {
	b := checkout(t, "package main\n\nfunc main() {}\n")
	first, err := b.Build(t.Context(), Kwok)
	if err != nil {
		t.Fatal(err)
	}
	built, err := os.Stat(first[Kwok])
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.Build(t.Context(), Kwok)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := os.Stat(second[Kwok]); err != nil || !os.SameFile(built, found) {
		t.Errorf("a cached binary was built again: %v", err)
	}
	if err := os.WriteFile(filepath.Join(b.Repository, "hack/tools/kwok/go.sum"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if third, err := b.Build(t.Context(), Kwok); err != nil || third[Kwok] == first[Kwok] {
		t.Errorf("a change of go.sum does not change the cache folder: %v", err)
	}
}

// TestTags: what a module is built with. Without its tag it has no program.
func TestTags(t *testing.T) {
	b := checkout(t, "package main\n")
	if _, err := b.Build(t.Context(), Promtool); err != nil {
		t.Error(err)
	}
}

// TestBrokenBuild verifies that the error has the compiler's message and that nothing gets into the cache.
func TestBrokenBuild(t *testing.T) {
	b := checkout(t, "package main\n\nfunc main() { undefinedFunction() }\n")
	if _, err := b.Build(t.Context(), Kwok); err == nil || !strings.Contains(err.Error(), "undefinedFunction") {
		t.Errorf("the error is %v", err)
	}
	if found, err := filepath.Glob(filepath.Join(b.Cache, "*", "*")); err != nil || len(found) != 1 || filepath.Base(found[0]) != "lock" {
		t.Errorf("the cache holds %v: %v", found, err)
	}
}

func TestInterruptedBuild(t *testing.T) {
	b := checkout(t, "package main\n\nfunc main() {}\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Build(ctx, Kwok); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// TestOwn builds a command of the repository, and one of a module inside it.
func TestOwn(t *testing.T) {
	b := checkout(t, "package main\n")
	built, err := b.Own(t.Context(), "./cmd/hello", "./test/cmd/other")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hello", "other"} {
		if info, err := os.Stat(built[name]); err != nil || info.Mode()&0o100 == 0 {
			t.Errorf("%s is not executable: %v", built[name], err)
		}
	}
}

func TestLockWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Lock(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("a lock was taken twice: %v", err)
	}
	unlock()
	if unlock, err = Lock(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	unlock()
}

// TestRevision: commands are built as they were at a revision, once, whatever the checkout has now.
func TestRevision(t *testing.T) {
	b := checkout(t, "package main\n")
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "first"},
	} {
		if _, err := b.git(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(b.Repository, "cmd/hello/main.go"),
		[]byte("package main\n\nfunc main() { broken() }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	first, err := b.Revision(t.Context(), "HEAD", "./cmd/hello")
	if err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), first["hello"]).CombinedOutput()
	if err != nil || string(said) != "hello\n" {
		t.Errorf("it says %q: %v", said, err)
	}
	built, err := os.Stat(first["hello"])
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Revision(t.Context(), "HEAD", "./cmd/hello")
	if err != nil {
		t.Fatal(err)
	}
	if found, err := os.Stat(again["hello"]); err != nil || !os.SameFile(built, found) {
		t.Errorf("a cached binary was built again: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(b.Cache, "*", "*-*")); err != nil || len(left) > 0 {
		t.Errorf("the build left %v: %v", left, err)
	}
	if _, err := b.Revision(t.Context(), "0123456", "./cmd/hello"); !errors.Is(err, ErrNoRevision) {
		t.Errorf("the error is %v", err)
	}
}

// TestCheckout: Karmada is also built from a checkout, and again after its sources have changed.
func TestCheckout(t *testing.T) {
	checkout := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(checkout, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, wrong := range []string{"karmada", checkout} {
		if err := CheckKarmadaSource(wrong); err == nil {
			t.Errorf("%s is taken for a checkout of Karmada", wrong)
		}
	}
	write("go.mod", "module example.com/other\n")
	if err := CheckKarmadaSource(checkout); err == nil {
		t.Error("another module is taken for Karmada")
	}
	write("go.mod", "module "+KarmadaModule+"\n\ngo 1.26\n")
	write("go.sum", "")
	if err := CheckKarmadaSource(checkout); err != nil {
		t.Error(err)
	}
	b := &Builder{Repository: "/repository", Cache: "/cache", Karmada: checkout}
	if got := b.module(b.moduleOf(tool{pkg: KarmadaModule + "/cmd/agent"})); got != checkout {
		t.Errorf("karmada-agent is built from %s", got)
	}
	if folder, err := b.KarmadaFolder(t.Context()); folder != checkout || err != nil {
		t.Errorf("CRDs are read from %s: %v", folder, err)
	}
	before, err := b.folder(checkout, "go1.26")
	if err != nil {
		t.Fatal(err)
	}
	write("main.go", "package main\n")
	after, err := b.folder(checkout, "go1.26")
	if err != nil {
		t.Fatal(err)
	}
	if before == after || filepath.Dir(after) != "/cache" {
		t.Errorf("after a change the binaries are in %s, before in %s", after, before)
	}
}
