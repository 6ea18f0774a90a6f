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
			encoded := encode(t, report)
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
	if before.ReadyReplicas != 2 || before.Replicas != 3 || before.CurrentReplicas != 3 {
		t.Errorf("counts after the first update: %+v", before.ReplicaCounts)
	}
	for update := int64(2); update < 9; update++ {
		after := reported(t, s, update)
		var changed int
		for i := range after.Instances {
			if !reflect.DeepEqual(before.Instances[i], after.Instances[i]) {
				changed++
			}
		}
		if changed != 1 {
			t.Errorf("update %d changes %d Instances", update, changed)
		}
		before = after
	}
}

func TestAThousandInstances(t *testing.T) {
	s, err := newDeploymentSubject("bench", mostInstances, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for update := range int64(2*changing + 1) {
		status := reported(t, s, update)
		if status.Replicas != mostInstances {
			t.Fatalf("%d Instances are counted", status.Replicas)
		}
		// The report has no room for all Instances. It must have the one that changes, or the update would never arrive.
		if update%50 == 0 && !bytes.Contains(encode(t, status), s.mark(update)) {
			t.Errorf("update %d is not in a report of %d Instances", update, len(status.Instances))
		}
	}
}

func reported(t *testing.T, s *deploymentSubject, update int64) v1alpha.WorkloadDeploymentStatus {
	t.Helper()
	object, err := s.report(update, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	deployment, ok := object.(*v1alpha.WorkloadDeployment)
	if !ok {
		t.Fatalf("it is a %T", object)
	}
	return deployment.Status
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}
