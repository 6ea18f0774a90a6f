// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

const (
	own   = types.UID("83b43b77-d31f-4063-834c-d75e010dfdf2")
	other = types.UID("130b7a3d-36d3-400b-b657-f9f6804a7191")
)

var north = Origin{Project: "north", ProjectUID: "north-uid", Namespace: "default"}

// namespace returns a namespace on the hub with the labels of north, changed.
func namespace(name string, changes map[string]string) *corev1.Namespace {
	labels := north.Labels()
	maps.Copy(labels, changes)
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

func proved(uid types.UID) map[string]string {
	return map[string]string{v1alpha.LabelProjectNamespaceUID: string(uid)}
}

// TestOwns: a namespace on the hub is a project's only if both its labels and its name match.
func TestOwns(t *testing.T) {
	present := naming.HubNamespace("north-uid", string(own))
	tests := map[string]struct {
		namespace *corev1.Namespace
		// wantKnown is the expectation with the UID of the namespace in the project, wantProved without it, and
		// wantCreated for any project.
		wantKnown, wantProved, wantCreated bool
	}{
		"as it is created":              {namespace(present, proved(own)), true, true, true},
		"without its label":             {namespace(present, nil), true, false, false},
		"of a name by itself":           {namespace("ns-"+string(own), proved(own)), false, false, false},
		"of another namespace":          {namespace(naming.HubNamespace("north-uid", string(other)), proved(other)), false, true, true},
		"that claims another namespace": {namespace(present, proved(other)), false, false, false},
		"of another project": {
			namespace(naming.HubNamespace("south-uid", string(own)), map[string]string{
				v1alpha.LabelProjectUID: "south-uid", v1alpha.LabelProject: "cluster-south", v1alpha.LabelProjectNamespaceUID: string(own),
			}), false, false, true,
		},
		"of an earlier project": {namespace(naming.HubNamespace("earlier", string(own)), map[string]string{
			v1alpha.LabelProjectUID: "earlier", v1alpha.LabelProjectNamespaceUID: string(own),
		}), false, false, true},
		"of an operator, with all its labels": {namespace("victim", proved(own)), false, false, false},
		"of an operator, with its labels":     {namespace("victim", nil), false, false, false},
		"of its name, without labels":         {&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: present}}, false, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := north.Owns(test.namespace, own); got != test.wantKnown {
				t.Errorf("with the UID: %t", got)
			}
			if got := north.Owns(test.namespace, ""); got != test.wantProved {
				t.Errorf("by its labels: %t", got)
			}
			if got := IsHubNamespace(test.namespace); got != test.wantCreated {
				t.Errorf("of any project: %t", got)
			}
		})
	}
}
