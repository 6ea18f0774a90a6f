// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadainterpreter "github.com/karmada-io/karmada/pkg/webhook/interpreter"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// answer answers a request about an object.
type answer func(*v1alpha.WorkloadDeployment, *karmadainterpreter.Request) karmadainterpreter.Response

// answers are the supported operations. The map is never written to.
var answers = map[configv1alpha1.InterpreterOperation]answer{
	configv1alpha1.InterpreterOperationInterpretReplica:    answerReplica,
	configv1alpha1.InterpreterOperationReviseReplica:       answerRevision,
	configv1alpha1.InterpreterOperationInterpretStatus:     answerStatus,
	configv1alpha1.InterpreterOperationRetain:              answerRetain,
	configv1alpha1.InterpreterOperationAggregateStatus:     answerAggregation,
	configv1alpha1.InterpreterOperationInterpretHealth:     answerHealth,
	configv1alpha1.InterpreterOperationInterpretDependency: answerDependency,
}

func answerReplica(object *v1alpha.WorkloadDeployment, _ *karmadainterpreter.Request) karmadainterpreter.Response {
	replicas, requirements := InterpretReplica(object)
	response := karmadainterpreter.Succeeded("")
	response.Replicas, response.ReplicaRequirements = new(replicas), requirements
	return response
}

func answerRevision(object *v1alpha.WorkloadDeployment, request *karmadainterpreter.Request) karmadainterpreter.Response {
	if request.DesiredReplicas == nil || *request.DesiredReplicas < 0 {
		return refused(errors.New("replicas of the request must be 0 or more"))
	}
	return patchReplicas(request.Object.Raw, object, ReviseReplica(object, *request.DesiredReplicas))
}

func answerStatus(object *v1alpha.WorkloadDeployment, _ *karmadainterpreter.Request) karmadainterpreter.Response {
	reflected, err := InterpretStatus(object)
	if err != nil {
		return refused(err)
	}
	raw, err := json.Marshal(reflected)
	if err != nil {
		return failed(fmt.Errorf("encode the status: %w", err))
	}
	response := karmadainterpreter.Succeeded("")
	response.RawStatus = &runtime.RawExtension{Raw: raw}
	return response
}

func answerRetain(desired *v1alpha.WorkloadDeployment, request *karmadainterpreter.Request) karmadainterpreter.Response {
	if request.ObservedObject == nil {
		return refused(errors.New("observedObject of the request is missing: what the cell owns is retained from it"))
	}
	observed, err := wire.WorkloadDeployment(request.ObservedObject.Raw)
	if err != nil {
		return refused(fmt.Errorf("decode the observed WorkloadDeployment: %w", err))
	}
	return patchReplicas(request.Object.Raw, desired, Retain(desired, observed))
}

func answerAggregation(object *v1alpha.WorkloadDeployment, request *karmadainterpreter.Request) karmadainterpreter.Response {
	return patchStatus(request.Object.Raw, AggregateStatus(object, request.AggregatedStatus, metav1.Now()))
}

// AggregateStatus is the status of the object on the hub, from the reports of its cells, as wire.AggregateStatus is.
func AggregateStatus(
	onHub *v1alpha.WorkloadDeployment, items []workv1alpha2.AggregatedStatusItem, now metav1.Time,
) *v1alpha.WorkloadDeploymentStatus {
	reported := make([]wire.CellStatus, len(items))
	for i := range items {
		reported[i].Cell = items[i].ClusterName
		if items[i].Status != nil {
			reported[i].Report = wire.DecodeReport(items[i].Status.Raw)
		}
	}
	return wire.AggregateStatus(onHub, reported, now)
}

func answerHealth(object *v1alpha.WorkloadDeployment, _ *karmadainterpreter.Request) karmadainterpreter.Response {
	response := karmadainterpreter.Succeeded("")
	response.Healthy = new(InterpretHealth(object))
	return response
}

func answerDependency(object *v1alpha.WorkloadDeployment, _ *karmadainterpreter.Request) karmadainterpreter.Response {
	response := karmadainterpreter.Succeeded("")
	response.Dependencies = InterpretDependency(object)
	return response
}

// InterpretDependency are the ConfigMaps and Secrets that the templates of a deployment name, each once, by kind and
// name, and its InstanceSlices. Optional ones are among them: they must be in the cell when they are on the hub. The
// slices are selected by their label: Karmada writes the dependencies into the binding, which each change of a status
// writes again.
func InterpretDependency(object *v1alpha.WorkloadDeployment) []configv1alpha1.DependentObjectReference {
	var dependencies []configv1alpha1.DependentObjectReference
	named := map[templates.DataObject]bool{}
	for _, template := range object.Spec.Templates() {
		for _, data := range slices.Concat(templates.DataObjects(&template.Spec)) {
			named[data] = true
		}
	}
	for _, data := range slices.SortedFunc(maps.Keys(named), templates.DataObject.Compare) {
		dependencies = append(dependencies, configv1alpha1.DependentObjectReference{
			APIVersion: "v1", Kind: data.Kind, Namespace: object.Namespace, Name: data.Name,
		})
	}
	if uid := object.Labels[v1alpha.LabelDeploymentUID]; object.Spec.Slices > 0 && uid != "" {
		dependencies = append(dependencies, configv1alpha1.DependentObjectReference{
			APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindInstanceSlice, Namespace: object.Namespace,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha.LabelDeploymentUID: uid}},
		})
	}
	// The order in which Karmada sorts the dependencies of the customization.
	slices.SortFunc(dependencies, func(a, b configv1alpha1.DependentObjectReference) int {
		return cmp.Or(cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return dependencies
}

// InterpretHealth reports whether all desired Instances of a deployment are Ready in its cell, and enough of them
// Available.
func InterpretHealth(observed *v1alpha.WorkloadDeployment) bool {
	status := &observed.Status
	return status.ObservedGeneration == observed.Generation &&
		status.ReadyReplicas >= status.DesiredReplicas &&
		meta.IsStatusConditionTrue(status.Conditions, v1alpha.ConditionAvailable)
}

// InterpretReplica returns the number of Instances of a deployment and the resources of each of them. The number is the
// value that ReviseReplica sets, so that Karmada reads its own value back, else minReplicas. Requirements are nil if
// the size is unknown, and without Instances: Karmada removes a deployment of no replicas with requirements from all
// cells, and leaves one without requirements in them.
func InterpretReplica(object *v1alpha.WorkloadDeployment) (int32, *workv1alpha2.ReplicaRequirements) {
	replicas := object.Spec.StatedReplicas()
	size := templates.InstanceSize(&object.Spec.Template.Spec, object.Spec.InstanceTypeResources)
	if len(size) == 0 || replicas == 0 {
		return replicas, nil
	}
	return replicas, &workv1alpha2.ReplicaRequirements{ResourceRequest: size}
}

// DecodeObserved decodes the object in a cell. A field of its status that has a wrong type or range is ignored, and
// condition ReportValid names it. Its time is always the same: the hub has the time of its own condition.
func DecodeObserved(raw []byte) (*v1alpha.WorkloadDeployment, error) {
	observed, err := wire.WorkloadDeployment(raw)
	var tree map[string]json.RawMessage
	if err == nil || json.Unmarshal(raw, &tree) != nil || tree["status"] == nil {
		return observed, err
	}
	status, faults := wire.Report[v1alpha.WorkloadDeploymentStatus](tree["status"], wire.ReportLists)
	delete(tree, "status")
	// Raw messages always encode.
	tail, _ := json.Marshal(tree)
	if observed, err = wire.WorkloadDeployment(tail); err != nil {
		return nil, err
	}
	since := observed.CreationTimestamp
	if since.IsZero() {
		since = metav1.Unix(0, 0)
	}
	if message := faults.Ignored(); message != "" {
		status.Conditions = slices.Insert(status.Conditions, 0, *wire.InvalidReport(message, since))
	}
	observed.Status = status
	return observed, nil
}

// InterpretStatus is the part of the object in a cell that is copied to the hub, truncated to a bounded size. It fails
// when Karmada's annotation with the generation is invalid.
func InterpretStatus(observed *v1alpha.WorkloadDeployment) (*wire.ReflectedStatus, error) {
	reflected := &wire.ReflectedStatus{WorkloadDeploymentStatus: *observed.Status.DeepCopy(), Generation: observed.Generation}
	// Only the autoscaler of the cell reads it.
	reflected.Selector = ""
	// Only projects have these.
	reflected.LastProgressTime, reflected.Suspended, reflected.AssignedReplicas, reflected.Endpoints = nil, false, 0, nil
	reflected.ReplicaCounts = wire.WithoutProject(reflected.ReplicaCounts)
	if text, set := observed.Annotations[workv1alpha2.ResourceTemplateGenerationAnnotationKey]; set {
		generation, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("annotation %s is no generation: %w", workv1alpha2.ResourceTemplateGenerationAnnotationKey, err)
		}
		reflected.ResourceTemplateGeneration = generation
	}
	wire.Bound(&reflected.WorkloadDeploymentStatus)
	return reflected, nil
}

// Retain is the desired object with the fields of the observed one that the cell owns: the replicas that an autoscaler
// in the cell has set. They are kept only where maxReplicas and metrics allow scaling, and moved to maxReplicas when
// they are above: lowering maxReplicas under load must not reduce the deployment to minReplicas. Below they stay, since
// a cell of several runs less than minReplicas; but not 0, which would switch the autoscaler off.
//
// Finalizers, owner references, labels and annotations of the cell are not retained here. Karmada's ObjectWatcher has
// done so before, and knows which annotations were removed on the hub.
func Retain(desired, observed *v1alpha.WorkloadDeployment) *v1alpha.WorkloadDeployment {
	retained := desired.DeepCopy()
	scale := &desired.Spec.ScaleSettings
	if observed.Spec.Replicas == nil || scale.MaxReplicas == nil || len(scale.Metrics) == 0 {
		return retained
	}
	retained.Spec.Replicas = new(max(1, min(*observed.Spec.Replicas, *scale.MaxReplicas)))
	return retained
}

// ReviseReplica is a deployment with a number of replicas for one cell. Karmada requests it wherever InterpretReplica
// is supported, also when every cell gets all replicas. The cell clamps the number to minReplicas and maxReplicas, so
// that a share below minReplicas has no effect.
func ReviseReplica(object *v1alpha.WorkloadDeployment, replicas int32) *v1alpha.WorkloadDeployment {
	revised := object.DeepCopy()
	revised.Spec.Replicas = new(replicas)
	return revised
}
