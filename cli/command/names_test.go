// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import "testing"

func TestBare(t *testing.T) {
	for argument, want := range map[string]string{
		"web": "web", "wl/web": "web", "workload/web": "web", "workloads/web": "web", "workload.compute.datumapis.com/web": "web",
		"inst/web-0": "web-0", "Instance/web-0": "web-0", "instance.compute.datumapis.com/web-0": "web-0",
		"pod/web": "pod/web", "workload.example/web": "workload.example/web",
	} {
		if got := Bare(argument); got != want {
			t.Errorf("%s names %s, want %s", argument, got, want)
		}
	}
}
