// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
)

var (
	seed  = flag.Int64("seed", 1, "what random cases are made from")
	cases = flag.Int("cases", 200, "how many random cases each operation gets")
)

// operations are the operations that both Go and Lua support.
var operations = []configv1alpha1.InterpreterOperation{
	configv1alpha1.InterpreterOperationInterpretReplica,
	configv1alpha1.InterpreterOperationReviseReplica,
	configv1alpha1.InterpreterOperationRetain,
	configv1alpha1.InterpreterOperationInterpretStatus,
	configv1alpha1.InterpreterOperationAggregateStatus,
	configv1alpha1.InterpreterOperationInterpretHealth,
	configv1alpha1.InterpreterOperationInterpretDependency,
}

// TestGoAndLuaAgree checks on random objects that the functions, the handler and the customization return the same or
// all fail.
func TestGoAndLuaAgree(t *testing.T) {
	for i, operation := range operations {
		t.Run(string(operation), func(t *testing.T) {
			t.Logf("go test ./interpreter -run %s -args -seed %d -cases %d", t.Name(), *seed, *cases)
			g := newGenerator(*seed + int64(i))
			refused := 0
			for range *cases {
				c := g.question(t, operation)
				if !agree(t, operation, c) {
					refused++
				}
				if t.Failed() {
					t.Fatalf("object %s\nobserved %s\nreplicas %d\nitems %s", c.Object, c.Observed, *c.Replicas, encoded(t, c.Items))
				}
			}
			t.Logf("%d of %d were refused", refused, *cases)
			if refused > *cases/2 {
				t.Error("most of the cases are invalid")
			}
		})
	}
}

// TestTimes checks that Lua, which has no library for them, knows the times that Go knows.
func TestTimes(t *testing.T) {
	known := 0
	stamps := []string{
		"0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1900-02-29T00:00:00Z", "2000-02-29T08:09:07Z",
		"2023-02-29T00:00:00Z", "2024-04-31T00:00:00Z",
		"2024-00-01T00:00:00Z", "2024-01-00T00:00:00Z", "2024-13-01T00:00:00Z", "2024-12-31T24:00:00Z",
		"2024-12-31T23:60:00Z", "2024-12-31T23:59:60Z",
		"2024-12-31T23:59:59-08:09", "2025-01-01T00:00:00+08:09", "2024-02-28T23:00:00-24:60", "2024-03-01T00:00:00+24:00",
		"2024-03-01T00:00:00+25:00",
		"2024-03-01T00:00:00+00:61", "2024-03-01T00:00:00-00:00", "2024-03-01T00:00:00.999999999Z",
		"2024-03-01T00:00:00,5+00:01", "2024-03-01T00:00:00.Z",
		"2024-03-01T00:00:00z", "2024-03-01T00:00:00+0000", "2024-03-01t00:00:00Z", "2024-3-01T00:00:00Z", " 2024-03-01T00:00:00Z",
	}
	for _, stamp := range stamps {
		// Condition ReportValid about the status has the time.
		object := fmt.Sprintf(`{"metadata":{"creationTimestamp":%q},"status":{"replicas":"x"}}`, stamp)
		if agree(t, configv1alpha1.InterpreterOperationInterpretStatus, &golden{Object: []byte(object)}) {
			known++
		}
		if t.Failed() {
			t.Fatal(stamp)
		}
	}
	if known == 0 || known == len(stamps) {
		t.Errorf("%d of %d times are valid", known, len(stamps))
	}
}

// question is a case without the wanted answer.
func (g *generator) question(t testing.TB, operation configv1alpha1.InterpreterOperation) *golden {
	t.Helper()
	c := &golden{Object: g.deployment(t, operation), Replicas: new(pick(g, someReplicas))}
	if operation == configv1alpha1.InterpreterOperationRetain {
		c.Observed = g.deployment(t, operation)
	}
	if operation == configv1alpha1.InterpreterOperationAggregateStatus {
		c.Items = g.items(t)
	}
	return c
}

// agree compares the answers. It reports whether there was one.
func agree(t *testing.T, operation configv1alpha1.InterpreterOperation, c *golden) bool {
	t.Helper()
	want, wantErr := served(t, operation, c)
	got, err := scripted(t, operation, c)
	if (err == nil) != (wantErr == nil) {
		t.Errorf("Go's error is %v, Lua's %v", wantErr, err)
	}
	if err != nil || wantErr != nil {
		return false
	}
	wantKept, gotKept := kept(t, operation, want), kept(t, operation, got)
	if want["object"] != nil && bytes.Contains(c.Object, []byte(`:null`)) {
		// An object whose members are all null is empty in Lua, and Karmada drops it.
		wantKept, gotKept = withoutEmpty(wantKept), withoutEmpty(gotKept)
	}
	same(t, "customization", gotKept, wantKept)
	direct, err := direct(operation, c)
	if err != nil {
		t.Error(err)
	}
	if object, ok := want["object"].(json.RawMessage); ok {
		same(t, "function", direct, normalised(t, map[string]json.RawMessage{"object": object}))
	} else {
		same(t, "function", kept(t, operation, direct), wantKept)
	}
	return true
}

// same shows where answers differ, which are too long to be shown.
func same(t *testing.T, by string, got, want any) {
	t.Helper()
	if difference := cmp.Diff(plain(t, want), plain(t, got)); difference != "" {
		t.Errorf("%s (-want +got):\n%s", by, difference)
	}
}

// TestOperations checks that the webhook is registered for the operations that Lua supports.
func TestOperations(t *testing.T) {
	if registered := registeredOperations(t); !slices.Equal(slices.Sorted(slices.Values(registered)),
		slices.Sorted(slices.Values(operations))) {
		t.Errorf("the webhook is registered for %v, in Lua are %v", registered, operations)
	}
}
