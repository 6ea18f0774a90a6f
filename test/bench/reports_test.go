// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cellreport"
	"github.com/karmada-compute/karmada-compute/internal/indexing"
)

func TestMarks(t *testing.T) {
	deployment, err := newDeploymentSubject("bench", 2, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]subject{"StatefulSet": bareSubject{name: "bench"}, "WorkloadDeployment": deployment} {
		t.Run(name, func(t *testing.T) {
			if created := encode(t, s.object()); bytes.Contains(created, s.mark(0)) {
				t.Errorf("a mark is in what is created: %s", created)
			}
			report, err := s.report(12, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			encoded := encode(t, report[0])
			if !bytes.Contains(encoded, s.mark(12)) {
				t.Errorf("%s is not in %s", s.mark(12), encoded)
			}
			for _, other := range []int64{1, 2, 11, 13, 120} {
				if bytes.Contains(encoded, s.mark(other)) {
					t.Errorf("%s is in %s", s.mark(other), encoded)
				}
			}
		})
	}
}

func TestAnUpdateChangesOneInstance(t *testing.T) {
	s, err := newDeploymentSubject("bench", 3, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	before := reported(t, s, 1)
	if before.Status.ReadyReplicas != 2 || before.Status.Replicas != 3 || before.Status.CurrentReplicas != 3 {
		t.Errorf("counts after the first update: %+v", before.Status.ReplicaCounts)
	}
	for update := int64(2); update < 9; update++ {
		after := reported(t, s, update)
		var changed int
		for i, instance := range cellreport.Instances(after) {
			if !reflect.DeepEqual(cellreport.Instances(before)[i], instance) {
				changed++
			}
		}
		if changed != 1 {
			t.Errorf("update %d changes %d Instances", update, changed)
		}
		before = after
	}
}

// TestAnUpdateChangesOneSlice: the others are written once, and the deployment twice a second, as the cell does.
func TestAnUpdateChangesOneSlice(t *testing.T) {
	begin := time.Now()
	s, err := newDeploymentSubject("bench", mostInstances, begin)
	if err != nil {
		t.Fatal(err)
	}
	if beside := len(s.beside()); beside != indexing.SlicesFor(mostInstances-1) {
		t.Errorf("%d slices", beside)
	}
	written, summarized := map[string]int{}, 0
	for update := range int64(60) {
		objects, err := s.report(update, begin.Add(time.Duration(update)*100*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		if update == 0 {
			continue
		}
		if len(objects) > 2 || !bytes.Contains(encode(t, objects[0]), s.mark(update)) {
			t.Fatalf("update %d writes %d objects", update, len(objects))
		}
		written[objects[0].GetName()]++
		if len(objects) < 2 {
			continue
		}
		summarized++
		if d, ok := objects[1].(*v1alpha.WorkloadDeployment); !ok || d.Status.Replicas != mostInstances || bytes.Contains(encode(t, d), s.mark(update)) {
			t.Fatalf("update %d: the deployment is %+v", update, objects[1])
		}
	}
	if len(written) < 50 || summarized != 11 {
		t.Errorf("%d slices take turns, and the deployment is written %d times", len(written), summarized)
	}
}

func reported(t *testing.T, s *deploymentSubject, update int64) *v1alpha.WorkloadDeployment {
	t.Helper()
	objects, err := s.report(update, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	deployment, ok := objects[0].(*v1alpha.WorkloadDeployment)
	if !ok || len(objects) != 1 {
		t.Fatalf("they are %d, the first a %T", len(objects), objects[0])
	}
	return deployment
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}
