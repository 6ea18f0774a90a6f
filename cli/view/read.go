// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"fmt"
	"maps"
	"slices"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util/names"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// Planes holds the planes that the user reaches. A nil plane is left out.
type Planes struct {
	// Project is the project control plane.
	Project client.Reader
	// Hub is the karmada-apiserver.
	Hub client.Reader
	// ProjectName is the name of the project in the labels of hub objects.
	ProjectName string
}

// NotFoundError reports that the Workload does not exist.
type NotFoundError struct{ Namespace, Name string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("workloads.compute.datumapis.com %q not found in namespace %q", e.Name, e.Namespace)
}

// Read reads the state of a Workload. Objects that the user may not read are left out; an error leaves nothing to show.
// The Workload is nil if it was deleted while objects of it are left.
func Read(ctx context.Context, p Planes, key types.NamespacedName) (*Snapshot, error) {
	s := &Snapshot{Project: p.ProjectName, Namespace: key.Namespace, Name: key.Name, Hidden: map[string]error{}}
	if p.Project != nil {
		if err := s.readProject(ctx, p.Project); err != nil {
			return nil, err
		}
	}
	if p.Hub != nil {
		if err := s.readHub(ctx, p); err != nil {
			return nil, err
		}
	}
	s.sort()
	return s, nil
}

// MustExist returns an error with the reason if no object of the Workload exists.
func (s *Snapshot) MustExist() error {
	if !s.Gone() {
		return nil
	}
	switch reason := s.Hidden["workloads"]; {
	case apierrors.IsForbidden(reason):
		return fmt.Errorf("you may not read Workload %q in namespace %q: %w", s.Name, s.Namespace, reason)
	case reason != nil:
		return fmt.Errorf("the API server does not serve Workloads; does the kubeconfig lead to the project? %w", reason)
	}
	return &NotFoundError{Namespace: s.Namespace, Name: s.Name}
}

// visible reports whether an answer counts. A refusal, or a kind that is not served, hides the resource.
func (s *Snapshot) visible(resource string, err error) (bool, error) {
	switch {
	case err == nil:
		return true, nil
	case IsHidden(err):
		s.Hidden[resource] = err
		return false, nil
	}
	return false, fmt.Errorf("read %s: %w", resource, err)
}

// IsHidden reports whether an error says that the user may not read a kind, or that the API server does not serve it.
func IsHidden(err error) bool { return apierrors.IsForbidden(err) || IsKindNotServed(err) }

// IsKindNotServed distinguishes a kind that the API server does not have from an object that does not exist.
func IsKindNotServed(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

func (s *Snapshot) readProject(ctx context.Context, project client.Reader) error {
	workload := &v1alpha.Workload{}
	err := project.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Name}, workload)
	if apierrors.IsNotFound(err) && !IsKindNotServed(err) {
		workload, err = nil, nil
	}
	seen, err := s.visible("workloads", err)
	if err != nil {
		return err
	}
	if seen {
		s.Workload = workload
	}
	deployments := &v1alpha.WorkloadDeploymentList{}
	if _, err := s.visible("workloaddeployments", project.List(ctx, deployments, client.InNamespace(s.Namespace))); err != nil {
		return err
	}
	for i := range deployments.Items {
		if deployments.Items[i].Spec.WorkloadRef.Name == s.Name {
			s.Deployments = append(s.Deployments, deployments.Items[i])
		}
	}
	instances := &v1alpha.InstanceList{}
	_, err = s.visible("instances", project.List(ctx, instances, client.InNamespace(s.Namespace),
		client.MatchingLabels{v1alpha.LabelWorkloadName: s.Name}))
	s.Instances = instances.Items
	if s.Workload != nil && (s.hasTemplates() || rolls(s.Workload)) {
		s.history, _ = ReadRevisions(ctx, project, s.Workload) // a template without a known revision is an earlier one
	}
	return err
}

// readHub reads the hub objects of every deployment of the project. If the user does not reach the project, readHub
// takes the deployments from the hub's copies.
func (s *Snapshot) readHub(ctx context.Context, p Planes) error {
	clusters := &clusterv1alpha1.ClusterList{}
	if _, err := s.visible("clusters", p.Hub.List(ctx, clusters)); err != nil {
		return err
	}
	s.Clusters = map[string]*clusterv1alpha1.Cluster{}
	for i := range clusters.Items {
		s.Clusters[clusters.Items[i].Name] = &clusters.Items[i]
	}
	s.Hub = map[string]*OnHub{}
	if p.Project == nil {
		if err := s.readCopies(ctx, p); err != nil {
			return err
		}
	}
	for i := range s.Deployments {
		d := &s.Deployments[i]
		if s.Hub[d.Name] == nil {
			s.Hub[d.Name] = &OnHub{Namespace: d.Annotations[v1alpha.AnnotationHubNamespace]}
		}
		if err := s.readWay(ctx, p.Hub, s.Hub[d.Name], d); err != nil {
			return err
		}
	}
	return nil
}

// readCopies finds the copies of a project's Workload, and uses their reports in the place of the project's objects.
func (s *Snapshot) readCopies(ctx context.Context, p Planes) error {
	copies := &v1alpha.WorkloadDeploymentList{}
	_, err := s.visible("workloaddeployments of the hub", p.Hub.List(ctx, copies, client.MatchingLabels{
		v1alpha.LabelProject: naming.ProjectLabel(p.ProjectName), v1alpha.LabelProjectNamespace: s.Namespace,
	}))
	if err != nil {
		return err
	}
	for i := range copies.Items {
		copied := &copies.Items[i]
		if copied.Spec.WorkloadRef.Name != s.Name {
			continue
		}
		s.Hub[copied.Name] = &OnHub{Namespace: copied.Namespace, Copy: copied}
		shown := *copied.DeepCopy()
		shown.Namespace = s.Namespace
		s.Deployments = append(s.Deployments, shown)
		s.Instances = append(s.Instances, reported(&shown, wire.Instances(&shown))...)
		if err := s.readSlices(ctx, p.Hub, copied); err != nil {
			return err
		}
	}
	return nil
}

// readSlices reads the Instances that a copy reports in slices, from the ResourceBindings of the slices.
func (s *Snapshot) readSlices(ctx context.Context, hub client.Reader, copied *v1alpha.WorkloadDeployment) error {
	shown := *copied
	shown.Namespace = s.Namespace
	for number := range int(copied.Spec.Slices) {
		binding := &workv1alpha2.ResourceBinding{}
		key := client.ObjectKey{
			Namespace: copied.Namespace, Name: names.GenerateBindingName(v1alpha.KindInstanceSlice, naming.SliceName(copied.Name, number)),
		}
		seen, err := s.get(ctx, hub, key, binding)
		if err != nil {
			return err
		}
		if !seen {
			continue
		}
		var reports []v1alpha.InstanceReport
		for i := range binding.Status.AggregatedStatus {
			item := &binding.Status.AggregatedStatus[i]
			if item.Status == nil {
				continue
			}
			if report, ok := wire.DecodeSlice(item.ClusterName, item.Status.Raw); ok {
				reports = append(reports, report)
			}
		}
		s.Instances = append(s.Instances, reported(&shown, wire.InstancesIn(copied, reports, naming.SliceRange(number)))...)
	}
	return nil
}

// reported returns the Instances of a copy's entries, as the project shows them.
func reported(d *v1alpha.WorkloadDeployment, entries []wire.Instance) []v1alpha.Instance {
	instances := make([]v1alpha.Instance, 0, len(entries))
	for i := range entries {
		entry := &entries[i]
		index, _ := naming.InstanceIndex(d.Name, entry.Name)
		instances = append(instances, v1alpha.Instance{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: d.Namespace, Name: entry.Name, Labels: naming.InstanceLabels(d, index),
				OwnerReferences: []metav1.OwnerReference{d.ControllerReference()},
			},
			Spec: v1alpha.InstanceSpec{Controller: &v1alpha.InstanceController{
				TemplateHash: entry.TemplateHash, SchedulingGates: entry.SchedulingGates,
			}},
			Status: v1alpha.InstanceStatus{
				Conditions: entry.Conditions, NetworkInterfaces: entry.NetworkInterfaces,
				Controller: &v1alpha.InstanceControllerStatus{ObservedTemplateHash: entry.ObservedTemplateHash, DataHash: entry.DataHash},
			},
		})
	}
	return instances
}

// readWay reads the copy, its ResourceBinding and its Works.
func (s *Snapshot) readWay(ctx context.Context, hub client.Reader, way *OnHub, d *v1alpha.WorkloadDeployment) error {
	name := d.Name
	if way.Namespace == "" {
		return nil // nothing has been written to the hub yet
	}
	if way.Copy == nil {
		found := &v1alpha.WorkloadDeployment{}
		if seen, err := s.get(ctx, hub, client.ObjectKey{Namespace: way.Namespace, Name: d.Name}, found); err != nil {
			return err
		} else if seen {
			way.Copy = found
		}
		if way.Copy != nil && way.Copy.Labels[v1alpha.LabelDeploymentUID] != string(d.UID) {
			// A consumer may edit the annotation that names the hub namespace.
			way.Copy, way.Namespace = nil, ""
			return nil
		}
	}
	binding := &workv1alpha2.ResourceBinding{}
	key := client.ObjectKey{Namespace: way.Namespace, Name: names.GenerateBindingName(v1alpha.KindWorkloadDeployment, name)}
	if seen, err := s.get(ctx, hub, key, binding); err != nil {
		return err
	} else if seen {
		way.Binding = binding
	}
	way.Works = map[string]*workv1alpha1.Work{}
	for _, cell := range way.Cells() {
		work := &workv1alpha1.Work{}
		key := client.ObjectKey{
			Namespace: names.GenerateExecutionSpaceName(cell), Name: names.GenerateWorkName(v1alpha.KindWorkloadDeployment, name, way.Namespace),
		}
		if seen, err := s.get(ctx, hub, key, work); err != nil {
			return err
		} else if seen && work.Labels[v1alpha.LabelInventory] == "" {
			way.Works[cell] = work
		}
	}
	return nil
}

// get returns false if the object does not exist or the user may not read it.
func (s *Snapshot) get(ctx context.Context, hub client.Reader, key client.ObjectKey, object client.Object) (bool, error) {
	err := hub.Get(ctx, key, object)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return s.visible(fmt.Sprintf("%T of the hub", object)[1:], err)
}

// HiddenKinds returns the kinds that the user may not read, by name.
func (s *Snapshot) HiddenKinds() []string { return slices.Sorted(maps.Keys(s.Hidden)) }
