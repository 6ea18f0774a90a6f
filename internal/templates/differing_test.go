// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"fmt"
	"testing"

	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// TestDifferingData: the hub finds in the message of a cell the objects that the cell has named, and no others.
func TestDifferingData(t *testing.T) {
	var objects []templates.DataObject
	for i := range 7 {
		objects = append(objects, templates.DataObject{Kind: "Secret", Name: fmt.Sprintf("s%d", i)})
	}
	message := templates.DifferingData(objects)
	for i, object := range objects {
		if got := templates.DiffersIn(message, object); got != (i < 5) {
			t.Errorf("%s names %s: %t", message, object.Name, got)
		}
	}
	for _, other := range []templates.DataObject{{Kind: "ConfigMap", Name: "s0"}, {Kind: "Secret", Name: "s"}} {
		if templates.DiffersIn(message, other) {
			t.Errorf("%s names %s", message, other)
		}
	}
	if templates.DiffersIn("Secret s0", objects[0]) {
		t.Error("another message names an object")
	}
}
