// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/rollup"
	"github.com/karmada-compute/karmada-compute/internal/coalesce"
	"github.com/karmada-compute/karmada-compute/internal/conditions"
	"github.com/karmada-compute/karmada-compute/internal/indexing"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// subject is an object on the hub whose status is reported by a cell. The numbers of its updates ascend, and are unique among
// all subjects.
type subject interface {
	// object is what is created on the hub, and its kind.
	object() client.Object
	// beside are what is created on the hub with it, which belongs to it, once it was created.
	beside() []client.Object
	// report is the object of the cell with the status after an update, and others whose status differs then.
	report(update int64, now time.Time) ([]client.Object, error)
	// mark is the part of the JSON by which an update in the status is recognized. It is in the object on the hub, or in the
	// ResourceBinding of one beside it.
	mark(update int64) []byte
}

// bareSubject is a StatefulSet, which Karmada interprets itself. In these cells no controller writes its status.
type bareSubject struct{ name string }

func (b bareSubject) object() client.Object {
	labels := map[string]string{"app": b.name}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: carriedNamespace, Name: b.name},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: b.name, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "registry.example.com/app:1"}}},
			},
		},
	}
}

func (b bareSubject) beside() []client.Object { return nil }

func (b bareSubject) report(update int64, _ time.Time) ([]client.Object, error) {
	count := int32(update) //nolint:gosec // a run makes some thousands of updates
	return []client.Object{&appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: carriedNamespace, Name: b.name},
		Status: appsv1.StatefulSetStatus{
			ObservedGeneration: 1, Replicas: count, ReadyReplicas: count, CurrentReplicas: count, UpdatedReplicas: count, AvailableReplicas: count,
		},
	}}, nil
}

// mark is a number that only a status has. Another one follows it.
func (b bareSubject) mark(update int64) []byte {
	return fmt.Appendf(nil, `"currentReplicas":%d,`, update)
}

// deploymentSubject is a WorkloadDeployment whose Instances change one after the other: where it has slices, those in slices.
type deploymentSubject struct {
	deployment *v1alpha.WorkloadDeployment
	instances  []v1alpha.Instance
	// versions are those of the Instances when their slices were written last.
	versions map[int]string
	// summarized is when the status of the deployment was written last.
	summarized time.Time
	turn       int
}

// newDeploymentSubject has Instances that are all Ready.
func newDeploymentSubject(name string, instances int, now time.Time) (*deploymentSubject, error) {
	workload := sampleWorkload(city)
	d := &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: carriedNamespace, Name: name, Generation: 1,
			Labels: map[string]string{v1alpha.LabelTopologyCity: naming.CityLabel(city), v1alpha.LabelDeploymentUID: name},
		},
		Spec: v1alpha.WorkloadDeploymentSpec{
			WorkloadRef:   v1alpha.WorkloadReference{Name: workload.Name, UID: "bench"},
			PlacementName: workload.Spec.Placements[0].Name, CityCode: city, Template: workload.Spec.Template,
			ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: int32(instances)}, //nolint:gosec // at most mostInstances
			Slices:        int32(indexing.SlicesFor(instances - 1)),                       //nolint:gosec // at most MaxSlices
		},
	}
	hash, err := templates.Hash(&d.Spec.Template)
	if err != nil {
		return nil, err
	}
	s := &deploymentSubject{deployment: d, versions: map[int]string{}}
	for i := range instances {
		s.instances = append(s.instances, servingInstance(naming.InstanceName(name, i), hash, i, now))
	}
	return s, nil
}

// servingInstance is a Ready Instance as the cell's controllers write it.
func servingInstance(name, hash string, index int, now time.Time) v1alpha.Instance {
	condition := func(name, reason, message string) metav1.Condition {
		return metav1.Condition{Type: name, Status: metav1.ConditionTrue, Reason: reason, Message: message}
	}
	return v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{Namespace: carriedNamespace, Name: name},
		Spec:       v1alpha.InstanceSpec{Controller: &v1alpha.InstanceController{TemplateHash: hash}},
		Status: v1alpha.InstanceStatus{
			Conditions: conditions.Stamped(nil, conditions.Stamp{Generation: 1, Now: now},
				condition(v1alpha.ConditionReady, v1alpha.ReasonAvailable, "the Instance serves"),
				condition(v1alpha.ConditionAvailable, v1alpha.ReasonAvailable, ""),
				condition(v1alpha.ConditionProgrammed, v1alpha.ReasonProgrammed, "the Pod has a node"),
				condition(v1alpha.ConditionQuotaGranted, v1alpha.ReasonQuotaAvailable, "the quota of the project is granted")),
			Controller:        &v1alpha.InstanceControllerStatus{ObservedTemplateHash: hash},
			NetworkInterfaces: []v1alpha.InstanceNetworkInterfaceStatus{{Assignments: v1alpha.InstanceNetworkAssignments{NetworkIP: new(fmt.Sprintf("10.0.%d.%d", index/250, index%250+1))}}},
		},
	}
}

func (s *deploymentSubject) object() client.Object { return s.deployment.DeepCopy() }

func (s *deploymentSubject) beside() []client.Object {
	var objects []client.Object
	for number := range int(s.deployment.Spec.Slices) {
		objects = append(objects, &v1alpha.InstanceSlice{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: carriedNamespace, Name: indexing.SliceName(s.deployment.Name, number),
				Labels: map[string]string{v1alpha.LabelDeploymentUID: s.deployment.Name},
			},
			Spec: v1alpha.InstanceSliceSpec{Deployment: s.deployment.Name, IndexRange: indexing.SliceRange(number)},
		})
	}
	return objects
}

// next is the Instance that changes.
func (s *deploymentSubject) next() *v1alpha.Instance {
	first := 0
	if s.deployment.Spec.Slices > 0 {
		first = indexing.InlineInstances
	}
	// Far apart, so that the slices take turns.
	const stride = indexing.SliceInstances + 1
	s.turn++
	return &s.instances[first+(s.turn-1)*stride%(len(s.instances)-first)]
}

// report changes the condition Ready of the next Instance and makes the reports with the cell's own code.
func (s *deploymentSubject) report(update int64, now time.Time) ([]client.Object, error) {
	instance := s.next()
	ready := metav1.Condition{
		Type: v1alpha.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonAvailable, Message: message(update),
	}
	if instance.Status.Conditions[0].Status == metav1.ConditionTrue {
		ready.Status, ready.Reason = metav1.ConditionFalse, v1alpha.ReasonProvisioning
	}
	instance.ResourceVersion = strconv.FormatInt(update, 10)
	instance.Status.Conditions[0] = conditions.Stamped(instance.Status.Conditions, conditions.Stamp{Generation: 1, Now: now}, ready)[0]
	made, err := rollup.Report(s.deployment, s.instances, nil, now)
	if err != nil {
		return nil, err
	}
	s.deployment.Status = made.Status
	var objects []client.Object
	for number := range made.Slices() {
		version := made.Version(number)
		if s.versions[number] == version {
			continue
		}
		s.versions[number] = version
		objects = append(objects, &v1alpha.InstanceSlice{
			ObjectMeta: metav1.ObjectMeta{Namespace: carriedNamespace, Name: indexing.SliceName(s.deployment.Name, number)},
			Status:     v1alpha.InstanceSliceStatus{ObservedGeneration: 1, InstanceReport: made.Slice(number)},
		})
	}
	if s.deployment.Spec.Slices > 0 && now.Sub(s.summarized) < coalesce.Limit {
		// So does the cell: what sums up the slices follows them.
		return objects, nil
	}
	s.summarized = now
	return append(objects, &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: carriedNamespace, Name: s.deployment.Name},
		Status:     *made.Status.DeepCopy(),
	}), nil
}

func message(update int64) string { return fmt.Sprintf("changed by update %d", update) }

// mark is the end of a message. It is one of a condition of an Instance, which has its type before it: the deployment repeats the
// message of the Instance that needs a user most.
func (s *deploymentSubject) mark(update int64) []byte {
	return []byte(`"message":"` + message(update) + `"`)
}
