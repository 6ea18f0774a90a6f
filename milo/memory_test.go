// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestProjectsDoNotFillTheCache: of a Project, a replica keeps what it reads, and of the objects in it bounded metadata; admission
// bounds the specs.
func TestProjectsDoNotFillTheCache(t *testing.T) {
	selector, err := labels.Parse("tier in (paid),!free")
	if err != nil {
		t.Fatal(err)
	}
	project := &Project{ObjectMeta: testenv.Stranger("tier", "free"), Status: ProjectStatus{Conditions: []metav1.Condition{
		{Type: ConditionReady, Status: metav1.ConditionTrue, Message: strings.Repeat("m", 32<<10)},
		{Type: "Other", Message: strings.Repeat("m", 32<<10)},
	}}}
	testenv.CheckTrims(t, trimProject(selector), project)
	kept, err := trimProject(selector)(project)
	trimmed, _ := kept.(*Project)
	if err != nil || !trimmed.IsReady() || trimmed.IsSuspended() || trimmed.Labels["free"] != "x" || trimmed.Name != "x" {
		t.Errorf("kept is %+v, %v", kept, err)
	}
	for _, object := range []client.Object{
		&v1alpha.Workload{ObjectMeta: testenv.Stranger()}, &v1alpha.WorkloadDeployment{ObjectMeta: testenv.Stranger()},
		&v1alpha.Instance{ObjectMeta: testenv.Stranger()}, &LocationBinding{ObjectMeta: testenv.Stranger()},
	} {
		testenv.CheckTrims(t, TrimOriginal, object)
	}
}
