// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package planes

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

// Place is a namespace of a project.
type Place struct {
	ProjectUID, NamespaceUID string
	// HubNamespace is its namespace on the hub and in cells.
	HubNamespace string
}

// Place reads the identities of a project and of a namespace in it. Without Milo a project is a namespace of the hub.
func (p *Planes) Place(ctx context.Context, project, namespace string) (Place, error) {
	plane, kind := "milo", metav1.TypeMeta{APIVersion: "resourcemanager.miloapis.com/v1alpha1", Kind: "Project"}
	found := metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
	if p.Federation.WithoutMilo() {
		plane, kind = "hub", found.TypeMeta
	}
	owner := metav1.PartialObjectMetadata{TypeMeta: kind}
	if err := p.Client(plane, federation.Admin).Get(ctx, client.ObjectKey{Name: project}, &owner); err != nil {
		return Place{}, fmt.Errorf("read project %s: %w", project, err)
	}
	if err := p.Client("project/"+project, federation.Admin).Get(ctx, client.ObjectKey{Name: namespace}, &found); err != nil {
		return Place{}, fmt.Errorf("read namespace %s of project %s: %w", namespace, project, err)
	}
	return Place{
		ProjectUID: string(owner.UID), NamespaceUID: string(found.UID),
		HubNamespace: naming.HubNamespace(string(owner.UID), string(found.UID)),
	}, nil
}
