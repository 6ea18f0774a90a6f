// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"slices"
	"strings"
	"testing"
)

// TestCellKubernetesVersion: versions without a module, and cells with newer kubelets, are refused.
func TestCellKubernetesVersion(t *testing.T) {
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"none":  {options: Options{Cells: []Cell{{Name: "dfw", City: "DFW"}}}},
		"known": {options: Options{CellKubernetesVersion: "1.26", Cells: []Cell{{Name: "dfw", City: "DFW"}}}},
		"unknown": {
			options: Options{CellKubernetesVersion: "1.2", Cells: []Cell{{Name: "dfw", City: "DFW"}}},
			want:    `version "1.2" of Kubernetes in cells is not known: choose one of`,
		},
		"containers": {
			options: Options{CellKubernetesVersion: "1.26", Cells: []Cell{{Name: "hou", City: "HOU", Containers: 1}}},
			want:    `cell "hou" cannot run containers with Kubernetes 1.26`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.options.Repository = "../.."
			err := test.options.validateVersions()
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}

// TestControllerNames: controllers have their former names in cells with an old version only.
func TestControllerNames(t *testing.T) {
	for name, test := range map[string]struct {
		plane, version string
		want           []string
	}{
		"hub": {
			planeHub, "1.26", []string{"taint-eviction-controller", "deployment-controller", "namespace-controller", "garbage-collector-controller"},
		},
		"cell": {
			planeCell + "dfw", "", []string{
				"taint-eviction-controller", "deployment-controller", "namespace-controller", "garbage-collector-controller",
			},
		},
		"old cell": {planeCell + "dfw", "1.26", []string{"deployment", "namespace", "garbagecollector"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &Federation{state: state{Options: Options{CellKubernetesVersion: test.version}}}
			got := f.controllerNames(controllerManager{
				plane: test.plane, controllers: []string{"taint-eviction-controller", "deployment-controller"},
			})
			if !slices.Equal(got, test.want) {
				t.Errorf("controllers %v, want %v", got, test.want)
			}
		})
	}
}
