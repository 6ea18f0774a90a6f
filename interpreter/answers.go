// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter

import (
	"encoding/json"
	"errors"
	"fmt"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	karmadainterpreter "github.com/karmada-io/karmada/pkg/webhook/interpreter"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/decode"
)

// answers are the supported operations. The map is never written to.
var answers = map[configv1alpha1.InterpreterOperation]func(*v1alpha.WorkloadDeployment, *karmadainterpreter.Request) karmadainterpreter.Response{
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
	observed, err := decode.WorkloadDeployment(request.ObservedObject.Raw)
	if err != nil {
		return refused(fmt.Errorf("decode the observed WorkloadDeployment: %w", err))
	}
	return patchReplicas(request.Object.Raw, desired, Retain(desired, observed))
}

func answerAggregation(object *v1alpha.WorkloadDeployment, request *karmadainterpreter.Request) karmadainterpreter.Response {
	status, err := AggregateStatus(object, request.AggregatedStatus)
	if err != nil {
		return refused(err)
	}
	return patchStatus(request.Object.Raw, status)
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
