// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"fmt"
	"slices"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// ReadHub reads the objects of a summary. refused holds the kinds that the user may not read. If the user may read none
// of them, ReadHub returns an error.
func ReadHub(ctx context.Context, hub client.Reader, namespace string) (*HubObjects, []string, error) {
	leases, clusters := &coordinationv1.LeaseList{}, &clusterv1alpha1.ClusterList{}
	deployments, bindings := &v1alpha.WorkloadDeploymentList{}, &workv1alpha2.ResourceBindingList{}
	inventories, works := &workv1alpha1.WorkList{}, &metav1.PartialObjectMetadataList{}
	works.SetGroupVersionKind(schema.GroupVersion(workv1alpha1.GroupVersion).WithKind("WorkList"))
	records := &unstructured.UnstructuredList{}
	records.SetGroupVersionKind(reasons.RecordKind)
	reads := []struct {
		name    string
		list    client.ObjectList
		options []client.ListOption
	}{
		{"leases", leases, []client.ListOption{client.InNamespace(namespace)}},
		{"clusters", clusters, nil},
		{"workloaddeployments", deployments, nil},
		{"resourcebindings", bindings, nil},
		{"works", inventories, []client.ListOption{client.MatchingLabels{v1alpha.LabelInventory: v1alpha.InventoryCell}}},
		{"works", works, nil},
		{"dnsendpoints", records, []client.ListOption{client.InNamespace(namespace), client.HasLabels{v1alpha.LabelWorkloadUID}}},
	}
	var (
		refused []string
		last    error
		mayRead bool
	)
	for _, read := range reads {
		err := hub.List(ctx, read.list, read.options...)
		switch {
		case apierrors.IsForbidden(err):
			refused, last = append(refused, read.name), err
		case wire.IsUnserved(err) && read.list == client.ObjectList(records):
			// A hub without names need not serve the kind.
		case err != nil:
			return nil, nil, fmt.Errorf("list %s of the hub: %w", read.name, err)
		default:
			mayRead = true
		}
	}
	if !mayRead {
		return nil, nil, last
	}
	broad, err := reasons.BroadBindings(ctx, hub)
	switch {
	case apierrors.IsForbidden(err):
		refused = append(refused, "rolebindings")
	case err != nil:
		return nil, nil, fmt.Errorf("read the roles of consumers on the hub: %w", err)
	}
	foreign, err := reasons.ForeignObjects(ctx, hub)
	switch {
	case apierrors.IsForbidden(err):
		refused = append(refused, "policies")
	case err != nil:
		return nil, nil, err
	}
	// Without Milo the hub has the originals, too.
	deployments.Items = slices.DeleteFunc(deployments.Items, func(d v1alpha.WorkloadDeployment) bool {
		return !naming.IsHubNamespace(d.Namespace)
	})
	return &HubObjects{
		Leases: leases.Items, Clusters: clusters.Items, Deployments: deployments.Items, Bindings: bindings.Items,
		Inventories: inventories.Items, Works: works.Items, BroadBindings: broad, ForeignObjects: foreign, Records: records.Items,
	}, refused, nil
}
