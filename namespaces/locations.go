// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"fmt"
	"slices"
	"strings"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/milo"
)

// onlyCity keeps the city of a Cluster, and the fields that an informer needs.
func onlyCity(obj any) (any, error) {
	cell, ok := obj.(*clusterv1alpha1.Cluster)
	if !ok {
		return obj, nil
	}
	return &clusterv1alpha1.Cluster{TypeMeta: cell.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name: cell.Name, UID: cell.UID, ResourceVersion: cell.ResourceVersion,
		Labels: map[string]string{v1alpha.LabelTopologyCity: cell.Labels[v1alpha.LabelTopologyCity]},
	}}, nil
}

// listLocations lists the locations of a project as LocationBindings, which Milo has and a namespace cannot have: one
// for each city with a cell. A city of a deployment stays one, so that Instances outlive the moment in which the last
// cell of a city is registered again.
func listLocations(ctx context.Context, hub client.Reader, project string, list *milo.LocationBindingList) error {
	namespace := &corev1.Namespace{}
	if err := hub.Get(ctx, client.ObjectKey{Name: project}, namespace); err != nil {
		return fmt.Errorf("get namespace %s for its cities: %w", project, err)
	}
	var cells clusterv1alpha1.ClusterList
	if err := hub.List(ctx, &cells, client.HasLabels{v1alpha.LabelTopologyCity}); err != nil {
		return fmt.Errorf("list the Clusters for their cities: %w", err)
	}
	// After the Clusters, as in the controllers.
	confirmed, err := confirmedCities(ctx, hub)
	if err != nil {
		return err
	}
	var deployments v1alpha.WorkloadDeploymentList
	if err := hub.List(ctx, &deployments, client.InNamespace(project)); err != nil {
		return fmt.Errorf("list the WorkloadDeployments of namespace %s for their cities: %w", project, err)
	}
	var cities []string
	for i := range cells.Items {
		cell := &cells.Items[i]
		cities = append(cities, naming.ConfirmedCity(cityOf(cell), confirmed[karmadanames.GenerateExecutionSpaceName(cell.Name)]))
	}
	for i := range deployments.Items {
		cities = append(cities, naming.CityLabel(deployments.Items[i].Spec.CityCode))
	}
	slices.Sort(cities)
	allowed, isLimited := citiesOf(namespace)
	list.Items = nil
	for _, city := range slices.Compact(cities) {
		if city != "" && (!isLimited || slices.Contains(allowed, city)) {
			list.Items = append(list.Items, bindingOf(city))
		}
	}
	return nil
}

// confirmedCities are the cities of the labels of namespaces, by namespace.
func confirmedCities(ctx context.Context, hub client.Reader) (map[string]string, error) {
	var namespaces corev1.NamespaceList
	if err := hub.List(ctx, &namespaces, client.HasLabels{v1alpha.LabelTopologyCity}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the namespaces of cells for their confirmed cities: %w", err)
	}
	confirmed := make(map[string]string, len(namespaces.Items))
	for i := range namespaces.Items {
		if namespaces.Items[i].DeletionTimestamp.IsZero() {
			confirmed[namespaces.Items[i].Name] = cityOf(&namespaces.Items[i])
		}
	}
	return confirmed, nil
}

// citiesOf are the cities that the operator allows a project, in lower case. isLimited is false if all are allowed.
func citiesOf(namespace *corev1.Namespace) (cities []string, isLimited bool) {
	value, isLimited := namespace.Annotations[v1alpha.AnnotationCities]
	for city := range strings.SplitSeq(value, ",") {
		cities = append(cities, naming.CityLabel(strings.TrimSpace(city)))
	}
	return cities, isLimited
}

// bindingOf is a city as a location, whose name is the city's name in lower case.
func bindingOf(city string) milo.LocationBinding {
	return milo.LocationBinding{
		ObjectMeta: metav1.ObjectMeta{Name: city},
		Spec: milo.LocationBindingSpec{
			LocationRef: milo.LocationReference{Name: city}, Topology: map[string]string{milo.LabelCity: city},
		},
		Status: milo.LocationBindingStatus{Conditions: []metav1.Condition{{Type: milo.ConditionAvailable, Status: metav1.ConditionTrue}}},
	}
}
