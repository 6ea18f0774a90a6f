// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

// A Workload that no operation changes, and that rolls out changes of ConfigMap dataName.
const dataWorkload, dataName, dataKey = "data", "settings", "greeting"

// exposures are the Workloads that have a name, and that no operation changes. It is never written to.
var exposures = map[string]v1alpha.ServiceExposure{
	"balanced": v1alpha.ServiceExposureLoadBalancer, "routed": v1alpha.ServiceExposureGateway,
}

// namedWorkloads are the Workloads that have a name, in an order that is always the same.
func namedWorkloads() []string { return slices.Sorted(maps.Keys(exposures)) }

// withName is a Workload with a name. Its containers answer requests.
func withName(namespace, name string, wanted *Wanted) *v1alpha.Workload {
	workload := wanted.Workload(namespace, name)
	container := &workload.Spec.Template.Spec.Runtime.Sandbox.Containers[0]
	container.Ports = []v1alpha.NamedPort{{Name: "http", Port: 8080}}
	container.ReadinessProbe = &corev1.Probe{
		PeriodSeconds: 1, TimeoutSeconds: 5,
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromInt32(8080)}},
	}
	port := intstr.FromString("http")
	workload.Spec.Service = &v1alpha.WorkloadService{
		Exposure: exposures[name], Ports: []v1alpha.ServicePort{{Port: 80, TargetPort: &port}},
	}
	return workload
}

// withData is the Workload whose data rolls out.
func withData(namespace string, wanted *Wanted) *v1alpha.Workload {
	workload := wanted.Workload(namespace, dataWorkload)
	workload.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Env = []corev1.EnvVar{{
		Name: "GREETING", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: dataName}, Key: dataKey,
		}},
	}}
	workload.Spec.Rollout = &v1alpha.WorkloadRollout{OnDataChange: &v1alpha.OnDataChange{Policy: v1alpha.DataRollout}}
	return workload
}

// settings is the ConfigMap that dataWorkload names.
func settings(namespace, greeting string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: dataName}, Data: map[string]string{dataKey: greeting},
	}
}

// serve creates these Workloads in the first project, with an Instance in each city.
func (y *Year) serve(ctx context.Context) error {
	project := y.Projects[0]
	namespace := y.namespaceIn(project)
	wanted := &Wanted{Image: federation.TestImage, Placements: []Placement{{Name: "main", Cities: y.Cities, Replicas: 1}}}
	objects := []client.Object{settings(namespace, "hello"), withData(namespace, wanted)}
	for _, name := range namedWorkloads() {
		objects = append(objects, withName(namespace, name, wanted))
	}
	for _, object := range objects {
		user := federation.Admin
		if _, isWorkload := object.(*v1alpha.Workload); isWorkload && y.Federation.WithoutMilo() {
			// The hub's administrator is no consumer: admission refuses its Workloads. In Milo, the consumer may not read ConfigMaps.
			user = federation.Consumer
		}
		c := y.Client("project/"+project, user)
		// Admission knows the instance types some seconds after they were created.
		if err := federation.Await(ctx, retryDelay, y.Patience, func(ctx context.Context) error {
			copied, _ := object.DeepCopyObject().(client.Object)
			return client.IgnoreAlreadyExists(c.Create(ctx, copied))
		}); err != nil {
			return fmt.Errorf("create %s: %w", object.GetName(), err)
		}
	}
	y.consumer.mu.Lock()
	defer y.consumer.mu.Unlock()
	for _, object := range objects[1:] {
		y.consumer.wanted[Name{project, object.GetName()}] = wanted
	}
	return nil
}

// nameOf returns the DNS name of a Workload.
func (y *Year) nameOf(workload string) string {
	project := y.Projects[0]
	return strings.NewReplacer("{workload}", workload, "{namespace}", y.namespaceIn(project), "{project}", project).
		Replace(federation.NamesPattern)
}

// startNames starts a DNS server, and the load balancers and the Gateway of each cell.
func (y *Year) startNames(ctx context.Context) error {
	var cells []string
	for _, cell := range y.Federation.Cells() {
		cells = append(cells, cell.Name)
	}
	y.names = &federation.Names{}
	if err := y.names.Start(ctx, y.Federation, cells); err != nil {
		return err
	}
	return y.names.StartGateways(ctx, y.Federation, cells)
}

// awaitNamed waits until each name has addresses of each city, and of nothing else.
func (y *Year) awaitNamed(ctx context.Context) error {
	return federation.Await(ctx, retryDelay, y.Patience, func(ctx context.Context) error {
		var failed []error
		for _, workload := range namedWorkloads() {
			failed = append(failed, y.hasAllCities(ctx, y.nameOf(workload)))
		}
		return errors.Join(failed...)
	})
}

func (y *Year) hasAllCities(ctx context.Context, name string) error {
	addresses, err := y.names.Resolve(ctx, name)
	if err != nil {
		return err
	}
	var cells []string
	for _, address := range addresses {
		cells = append(cells, y.names.CellOf(address))
	}
	return missingCities(name, cells, y.collector.cities)
}

// missingCities fails unless a name has the addresses of a cell of each city, and of no others.
func missingCities(name string, found []string, cities map[string][]string) error {
	left := slices.Clone(found)
	var missing []string
	for city, cells := range cities {
		of := func(cell string) bool { return slices.Contains(cells, cell) }
		if !slices.ContainsFunc(found, of) {
			missing = append(missing, city)
		}
		left = slices.DeleteFunc(left, of)
	}
	if slices.Sort(missing); len(missing) > 0 || len(left) > 0 {
		return fmt.Errorf("name %s has the addresses of cells %v: %v are missing, and %v is too much", name, found, missing, left)
	}
	return nil
}
