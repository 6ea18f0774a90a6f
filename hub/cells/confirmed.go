// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Cities decides to which city a Cluster belongs: to the one of its label, if the namespace of its Works has the same
// label. The agents of cells in pull mode may create Clusters and change the labels of their own, and write no
// namespace. It is safe for concurrent use.
type Cities struct {
	// Namespaces reads the metadata of the namespaces with the label of a city, from a cache. See NewCities.
	Namespaces client.Reader
	// APIReader reads the hub without a cache.
	APIReader client.Reader
	// Writer writes to the hub.
	Writer client.Writer

	// cache has Namespaces, for Watch. Nil: Namespaces has no events.
	cache cache.Cache

	mu       sync.Mutex
	complete atomic.Bool
}

// Hub is a client of the hub to which each Cluster has a city only if it is confirmed. It writes no Cluster: an update
// would remove the label. It fails until the cache has the confirmations.
func (c *Cities) Hub(hub client.Client) client.Client { return &confirmedHub{Client: hub, cities: c} }

// confirmedHub hides the labels of cities that are not confirmed.
type confirmedHub struct {
	client.Client
	cities *Cities
}

// Get reads an object.
func (h *confirmedHub) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if err := h.Client.Get(ctx, key, object, options...); err != nil {
		return err
	}
	cluster, isCluster := object.(*clusterv1alpha1.Cluster)
	if !isCluster {
		return nil
	}
	confirmed, err := h.cities.confirmed(ctx)
	if err != nil {
		return err
	}
	hideUnconfirmed(cluster, confirmed)
	return nil
}

// List reads objects.
func (h *confirmedHub) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := h.Client.List(ctx, list, options...); err != nil {
		return err
	}
	clusters, areClusters := list.(*clusterv1alpha1.ClusterList)
	if !areClusters {
		return nil
	}
	// After the Clusters: a city that is withdrawn and confirmed for another Cluster of the name is never the earlier
	// one.
	confirmed, err := h.cities.confirmed(ctx)
	if err != nil {
		return err
	}
	for i := range clusters.Items {
		hideUnconfirmed(&clusters.Items[i], confirmed)
	}
	return nil
}

// hideUnconfirmed takes the label of a city that is not confirmed from a Cluster, and gives it the settings that its
// confirmation has. The Cluster may share its metadata with a cache.
func hideUnconfirmed(cluster *clusterv1alpha1.Cluster, confirmed map[string]confirmation) {
	city, found := cityOf(cluster), confirmed[karmadanames.GenerateExecutionSpaceName(cluster.Name)]
	if city != naming.ConfirmedCity(city, found.city) || foreignSecret(cluster) != "" {
		cluster.Labels = maps.Clone(cluster.Labels)
		delete(cluster.Labels, v1alpha.LabelTopologyCity)
	}
	// An agent may have written the annotations of the Cluster itself.
	for _, name := range settings {
		value := found.settings[name]
		if cluster.Annotations[name] == value {
			continue
		}
		cluster.Annotations = maps.Clone(cluster.Annotations)
		delete(cluster.Annotations, name)
		if value != "" {
			metav1.SetMetaDataAnnotation(&cluster.ObjectMeta, name, value)
		}
	}
}

// cityOf is the city of an object's label, in lower case; "": it has none.
func cityOf(object client.Object) string {
	return naming.CityLabel(object.GetLabels()[v1alpha.LabelTopologyCity])
}

// confirmation holds the settings of a Cluster that an operator has written at the namespace of its Works.
type confirmation struct {
	// city of the cell, in lower case.
	city string
	// settings are the annotations of the namespace. They are shared with the cache and must not be changed.
	settings map[string]string
}

func (c confirmation) equal(other confirmation) bool {
	return c.city == other.city && !slices.ContainsFunc(settings, func(name string) bool { return c.settings[name] != other.settings[name] })
}

// settings are the annotations with which an operator configures a cell.
var settings = []string{
	v1alpha.AnnotationForget, v1alpha.AnnotationLoadBalancer, v1alpha.AnnotationNodesOnDemand, v1alpha.AnnotationHoldCity,
}

// confirmed are the confirmations by the namespace of a cell's Works.
func (c *Cities) confirmed(ctx context.Context) (map[string]confirmation, error) {
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	return confirmationsOf(ctx, c.Namespaces)
}

func confirmationsOf(ctx context.Context, reader client.Reader) (map[string]confirmation, error) {
	namespaces := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NamespaceList"}}
	if err := reader.List(ctx, namespaces, client.HasLabels{v1alpha.LabelTopologyCity}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the hub's namespaces with the label of a city: %w", err)
	}
	confirmed := make(map[string]confirmation, len(namespaces.Items))
	for i := range namespaces.Items {
		if namespace := &namespaces.Items[i]; namespace.DeletionTimestamp.IsZero() {
			confirmed[namespace.Name] = confirmation{cityOf(namespace), namespace.Annotations}
		}
	}
	return confirmed, nil
}

// ready fails until the cache has the confirmations that the hub has: a cell that seems not to be confirmed loses its Instances.
func (c *Cities) ready(ctx context.Context) error {
	if c.complete.Load() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.complete.Load() {
		return nil
	}
	stored, err := confirmationsOf(ctx, c.APIReader)
	if err != nil {
		return err
	}
	cached, err := confirmationsOf(ctx, c.Namespaces)
	if err != nil {
		return err
	}
	if !maps.EqualFunc(stored, cached, confirmation.equal) {
		return errors.New("the cache does not have the labels of the cells' namespaces yet")
	}
	c.complete.Store(true)
	return nil
}
