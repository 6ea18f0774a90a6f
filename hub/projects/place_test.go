// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

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
	present, earlier := naming.HubNamespace("north-uid", string(own)), naming.EarlierHubNamespace(string(own))
	tests := map[string]struct {
		namespace *corev1.Namespace
		// wantKnown is the expectation with the UID of the namespace in the project, wantProved without it, and
		// wantCreated for any project.
		wantKnown, wantProved, wantCreated bool
	}{
		"as it is created":              {namespace(present, proved(own)), true, true, true},
		"of an earlier version":         {namespace(earlier, nil), true, false, true},
		"of an earlier version, proved": {namespace(earlier, proved(own)), true, true, true},
		"of another namespace":          {namespace(naming.HubNamespace("north-uid", string(other)), proved(other)), false, true, true},
		"that claims another namespace": {namespace(present, proved(other)), false, false, false},
		"of another project": {
			namespace(earlier, map[string]string{v1alpha.LabelProjectUID: "south-uid", v1alpha.LabelProject: "cluster-south"}), false, false, true,
		},
		"of an earlier project":               {namespace(earlier, map[string]string{v1alpha.LabelProjectUID: "earlier"}), false, false, true},
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

// TestFindPlace: an earlier version's hub namespace is kept if it is the project's; otherwise the project gets its own.
func TestFindPlace(t *testing.T) {
	present, earlier := naming.HubNamespace("north-uid", string(own)), naming.EarlierHubNamespace(string(own))
	now := metav1.Now()
	ending := namespace(earlier, nil)
	ending.DeletionTimestamp, ending.Finalizers = &now, []string{"kubernetes"}
	tests := map[string]struct {
		onHub, inCache []client.Object
		want           Place
	}{
		"nothing":                            {nil, nil, Place{Name: present}},
		"its own":                            {[]client.Object{namespace(present, proved(own))}, nil, Place{Name: present}},
		"that of an earlier version":         {[]client.Object{namespace(earlier, nil)}, nil, Place{Name: earlier}},
		"one that the cache does not have":   {[]client.Object{namespace(earlier, nil)}, []client.Object{}, Place{Name: earlier}},
		"both":                               {[]client.Object{namespace(present, proved(own)), namespace(earlier, proved(own))}, nil, Place{present, earlier}},
		"that of an earlier project":         {[]client.Object{namespace(earlier, map[string]string{v1alpha.LabelProjectUID: "earlier"})}, nil, Place{Name: present}},
		"one that is being deleted":          {[]client.Object{ending}, nil, Place{Name: present}},
		"an operator's, of the earlier name": {[]client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: earlier}}}, nil, Place{Name: present}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.inCache == nil {
				test.inCache = test.onHub
			}
			api, hub := fake.NewClientBuilder().WithObjects(test.onHub...).Build(), fake.NewClientBuilder().WithObjects(test.inCache...).Build()
			got, err := north.FindPlace(t.Context(), hub, api, own)
			if err != nil || got != test.want {
				t.Errorf("got %+v, %v, want %+v", got, err, test.want)
			}
		})
	}
}
