// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"os"
	"os/exec"
	"testing"
)

// TestEarlierVersion: upgrades begin with the last version before the commit, whatever other tags there are, and with
// the commit before it while no version is tagged.
func TestEarlierVersion(t *testing.T) {
	f := &Federation{}
	f.state.Repository = t.TempDir()
	git := func(args ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "git",
			append([]string{"-C", f.state.Repository, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	commit := func(tags ...string) {
		t.Helper()
		git("commit", "--quiet", "--allow-empty", "--no-gpg-sign", "-m", "commit")
		for _, tag := range tags {
			git("tag", tag)
		}
	}
	expect := func(want string) {
		t.Helper()
		if got := f.earlierVersion(t.Context()); got != want {
			t.Errorf("the version before is %s, want %s", got, want)
		}
	}
	git("init", "--quiet")
	commit()
	expect("HEAD^")
	commit("v0.1.0")
	expect("HEAD^")
	commit("a-demo")
	expect("v0.1.0")
	commit("v0.2.0")
	expect("v0.1.0")
	commit()
	expect("v0.2.0")
}
