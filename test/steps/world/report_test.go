// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestSummary: the report of a failed scenario is short, and names the expectation, the found objects and the location
// of further details.
func TestSummary(t *testing.T) {
	var out bytes.Buffer
	report := NewReport(&out)
	var objects []found
	for i := range 20 {
		object := unstructured.Unstructured{Object: map[string]any{
			"kind": "Instance", "metadata": map[string]any{"name": fmt.Sprint("web-", i)},
			"status": map[string]any{
				"conditions": []any{map[string]any{"type": "Ready", "status": "False", "reason": "NoRoom", "message": strings.Repeat("long ", 1000)}},
			},
		}}
		objects = append(objects, found{"cell/dfw", object, problemsOf(&object)})
	}
	broken := &run{name: "cells.feature: A cell", folder: t.TempDir(), began: time.Now(), broken: `cell "dfw" runs 20 Instances`}
	report.failed(broken, errors.New("cell dfw runs 7 Instances"), objects)
	report.Summary()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) > 16 {
		t.Errorf("%d lines are too many", len(lines))
	}
	for _, want := range []string{
		"cells.feature: A cell", `expected: cell "dfw" runs 20 Instances`, "found:    cell dfw runs 7 Instances", "cell/dfw",
		"instance/web-0", "Ready=False (NoRoom: long", "and 12 more", broken.folder,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not said in\n%s", want, out.String())
		}
	}
	for _, line := range lines {
		if len(line) > shownText+200 {
			t.Errorf("a line has %d characters", len(line))
		}
	}
	if report.Failed() == nil {
		t.Error("the failure is forgotten")
	}
}
