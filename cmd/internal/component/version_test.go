// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"bytes"
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"

	apimachineryversion "k8s.io/apimachinery/pkg/version"
)

func TestVersionOf(t *testing.T) {
	stamped := &debug.BuildInfo{
		Main: debug.Module{Version: "v1.2.3-0.20260101000000-abc"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-01T00:00:00Z"}, {Key: "vcs.modified", Value: "true"},
		},
	}
	tests := map[string]struct {
		version, commit, date string
		recorded              *debug.BuildInfo
		want                  apimachineryversion.Info
	}{
		"nothing is known": {recorded: &debug.BuildInfo{}, want: apimachineryversion.Info{GitVersion: "v0.0.0-devel", GitCommit: "unknown"}},
		"a checkout without its commit": {
			recorded: &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}},
			want:     apimachineryversion.Info{GitVersion: "v0.0.0-devel", GitCommit: "unknown"},
		},
		"go install of a version": {
			recorded: &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}},
			want:     apimachineryversion.Info{GitVersion: "v1.2.3", GitCommit: "unknown"},
		},
		"a checkout": {
			recorded: stamped,
			want: apimachineryversion.Info{
				GitVersion: "v1.2.3-0.20260101000000-abc", GitCommit: "abc", GitTreeState: "dirty", BuildDate: "2026-01-01T00:00:00Z",
			},
		},
		"an image": {
			version: "v2.0.0", commit: "def", date: "2026-02-02T00:00:00Z", recorded: stamped,
			want: apimachineryversion.Info{GitVersion: "v2.0.0", GitCommit: "def", GitTreeState: "dirty", BuildDate: "2026-02-02T00:00:00Z"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			version, commit, date = test.version, test.commit, test.date
			t.Cleanup(func() { version, commit, date = "", "", "" })
			got := versionOf(test.recorded)
			if got.GoVersion == "" || got.Compiler == "" || !strings.Contains(got.Platform, "/") {
				t.Errorf("what compiled it is missing: %+v", got)
			}
			got.GoVersion, got.Compiler, got.Platform = "", "", ""
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestVersionFlag(t *testing.T) {
	built := apimachineryversion.Info{GitVersion: "v1.2.3", GitCommit: "abc", GoVersion: "go1.26", Platform: "linux/arm64"}
	raw, err := json.MarshalIndent(built, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		"true": "name v1.2.3 (commit abc, go1.26, linux/arm64)\n",
		"1":    "name v1.2.3 (commit abc, go1.26, linux/arm64)\n",
		"json": string(raw) + "\n",
		"raw":  "version.Info{Major:\"\", ",
	} {
		flag := versionFlag(versionFalse)
		var out bytes.Buffer
		if err := flag.Set(value); err != nil || !flag.requested() {
			t.Errorf("--version=%s: %v", value, err)
		}
		if err := flag.print(&out, "name", built); err != nil || !strings.HasPrefix(out.String(), want) {
			t.Errorf("--version=%s prints %q, %v", value, out.String(), err)
		}
	}
	flag := versionFlag(versionTrue)
	if err := flag.Set("false"); err != nil || flag.requested() {
		t.Errorf("--version=false: %v", err)
	}
	if err := flag.Set("yaml"); err == nil || !strings.Contains(err.Error(), "json") {
		t.Errorf("--version=yaml: %v", err)
	}
}
