// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/milo"
)

const (
	earlierUID      = types.UID("11111111-2222-4333-8444-555555555555")
	earlierWorkload = types.UID("66666666-2222-4333-8444-555555555555")
)

// adopt notes on a namespace that it takes over the project of an earlier hub.
func (h *hub) adopt(t *testing.T, namespace *corev1.Namespace, own types.UID) {
	t.Helper()
	record, err := json.Marshal(wire.Adoption{Namespace: own, Project: earlierUID, Workloads: map[string]types.UID{
		"web": earlierWorkload, "forged": "../of/another",
	}})
	if err != nil {
		t.Fatal(err)
	}
	h.change(t, namespace, func(n *corev1.Namespace) {
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, v1alpha.AnnotationAdopted, string(record))
	})
}

// TestAnAdoptedProject: a namespace that takes over what an earlier hub ran has the identity that it had there, for everything that
// asks, and with any other annotations.
func TestAnAdoptedProject(t *testing.T) {
	h := newHub(t)
	namespace := h.project(t)
	eventually(t, "the namespace is seen", func() bool { return h.seen.project(namespace.Name) != nil })
	own := namespace.UID
	h.adopt(t, namespace, own)
	eventually(t, "it has the earlier identity", func() bool {
		p := h.seen.project(namespace.Name)
		return p != nil && p.UID == earlierUID
	})
	project := &milo.Project{}
	if err := h.Root().Get(t.Context(), client.ObjectKey{Name: namespace.Name}, project); err != nil || project.UID != earlierUID {
		t.Errorf("the Project has UID %s, %v", project.UID, err)
	}
	inProject, err := h.Client(namespace.Name)
	if err != nil {
		t.Fatal(err)
	}
	metadata := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
	for _, found := range []client.Object{&corev1.Namespace{}, metadata} {
		if err := inProject.Get(t.Context(), client.ObjectKey{Name: namespace.Name}, found); err != nil || found.GetUID() != earlierUID {
			t.Errorf("the namespace in the project has UID %s, %v", found.GetUID(), err)
		}
	}
	plane := newPlane(h.Planes, namespace.Name)
	for name, want := range map[string]types.UID{"web": earlierWorkload, "forged": "", "new": ""} {
		if got, err := plane.AdoptedWorkload(t.Context(), name); err != nil || got != want {
			t.Errorf("Workload %s takes over %q, %v", name, got, err)
		}
	}

	h.change(t, namespace, func(n *corev1.Namespace) { n.Annotations["much"] = strings.Repeat("x", 20<<10) })
	marker := h.project(t)
	eventually(t, "the cache has more", func() bool { return h.seen.project(marker.Name) != nil })
	if got, err := plane.AdoptedWorkload(t.Context(), "web"); err != nil || got != earlierWorkload {
		t.Errorf("with a large annotation Workload web takes over %q, %v", got, err)
	}
}

// TestARecordOfAnotherNamespace: a record that was copied to a namespace, or to the next one of the name, adopts nothing.
func TestARecordOfAnotherNamespace(t *testing.T) {
	h := newHub(t)
	namespace := h.project(t)
	h.adopt(t, namespace, "00000000-2222-4333-8444-555555555555")
	project := &milo.Project{}
	if err := h.Root().Get(t.Context(), client.ObjectKey{Name: namespace.Name}, project); err != nil || project.UID != namespace.UID {
		t.Errorf("the Project has UID %s, %v", project.UID, err)
	}
	if got, err := newPlane(h.Planes, namespace.Name).AdoptedWorkload(t.Context(), "web"); err != nil || got != "" {
		t.Errorf("Workload web takes over %q, %v", got, err)
	}
}
