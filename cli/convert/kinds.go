// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// running has the reasons of kinds that run Pods and cannot become a Workload.
var running = map[string]string{
	"DaemonSet":             "a DaemonSet runs on each node, and a Workload in cities",
	"Job":                   "the containers of a Workload are always restarted",
	"CronJob":               "the containers of a Workload are always restarted",
	"Pod":                   "put it into a Deployment with one replica",
	"ReplicaSet":            "convert its Deployment",
	"ReplicationController": "write it as a Deployment",
	"DeploymentConfig":      "write it as a Deployment",
	"Rollout":               "write it as a Deployment; spec.rollout of a Workload has the steps",
}

// refusal is the reason why an object that runs Pods is not converted.
func (m *manifests) refusal(object source) error {
	group, kind := object.GroupVersionKind().Group, object.GetKind()
	switch reason := running[kind]; {
	case reason != "" && strings.HasPrefix(hookOf(object), "test"):
		return errors.New("it tests its chart, and is no part of what runs")
	case reason != "":
		return errors.New(reason + besidesHook(hookOf(object)))
	case (kind == "Deployment" || kind == "StatefulSet") && (group == "apps" || group == "extensions") && !convertible(object.Unstructured):
		return fmt.Errorf("Kubernetes serves %s no more; write apiVersion apps/v1", object.GetAPIVersion())
	case !convertible(object.Unstructured) && hasPods(object.Unstructured):
		return fmt.Errorf("it runs Pods by a controller of %s; write it as a Deployment", object.GetAPIVersion())
	default:
		return nil
	}
}

// hasPods reports whether an object has the template of a Pod, whatever its kind is.
func hasPods(object *unstructured.Unstructured) bool {
	containers, found, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	return err == nil && found && len(containers) > 0
}

// hookOf is when a chart runs an object; "" for one that is no hook.
func hookOf(object source) string { return object.GetAnnotations()["helm.sh/hook"] }

// besidesHook names what to do with a hook of a chart.
func besidesHook(hook string) string {
	before := strings.Contains(hook, "pre-install") || strings.Contains(hook, "pre-upgrade")
	after := strings.Contains(hook, "post-install") || strings.Contains(hook, "post-upgrade")
	when := "when you delete"
	switch {
	case before && after:
		when = "when you apply"
	case before:
		when = "before you apply"
	case after:
		when = "after you apply"
	}
	if hook == "" {
		return ""
	}
	return fmt.Sprintf("; as hook %s of its chart: run it by other means, %s the Workloads", hook, when)
}

// secretOf is the Secret that a controller creates from an object of another group; "" without one.
func secretOf(object source) string {
	path, known := map[string][]string{
		"ExternalSecret": {"target", "name"}, "SealedSecret": {"template", "metadata", "name"}, "Certificate": {"secretName"},
	}[object.GetKind()]
	if !known {
		return ""
	}
	name, _, _ := unstructured.NestedString(object.Object, append([]string{"spec"}, path...)...)
	return cmp.Or(name, object.GetName())
}

// Reasons that several kinds share.
const (
	noVolumes  = "cells attach configMap, secret and emptyDir volumes"
	noIdentity = "Instances have no identity in their cell, and no token"
	ofGateway  = "the operator has the Gateway of each cell; set exposure: Gateway and hostnames in spec.service"
	byNames    = "a Workload gets all paths of its names: set exposure: Gateway and hostnames in spec.service"
	byAddress  = "set exposure: LoadBalancer in spec.service"
	ofService  = "the Service of a Workload has its Instances"
)

// otherKinds has the reasons of kinds of Kubernetes that have no place in a Workload.
var otherKinds = map[string]string{
	"Kustomization":  "convert its folder with -k",
	"Namespace":      "the project has its namespaces",
	"ServiceAccount": noIdentity, "Role": noIdentity, "RoleBinding": noIdentity, "ClusterRole": noIdentity, "ClusterRoleBinding": noIdentity,
	"PersistentVolumeClaim": noVolumes, "PersistentVolume": noVolumes, "StorageClass": noVolumes,
	"NetworkPolicy": "networkInterfaces[].networkPolicy of a Workload has ingress rules with addresses",
	"IngressClass":  ofGateway, "Gateway": ofGateway, "GatewayClass": ofGateway,
	"GRPCRoute": byNames + ", and appProtocol: kubernetes.io/h2c at its port",
	"TLSRoute":  byAddress, "TCPRoute": byAddress, "UDPRoute": byAddress,
	"ResourceQuota":            "the operator of the platform sets the project's quota",
	"LimitRange":               "the instance type has the size of containers without limits",
	"CustomResourceDefinition": "projects have the kinds of their platform alone",
	"VerticalPodAutoscaler":    "the size of an Instance changes with its template alone",
	"Endpoints":                ofService, "EndpointSlice": ofService,
}

// foreignKinds has the reasons of kinds of other groups for which a Workload has something near.
var foreignKinds = map[string]string{
	"ScaledObject": "maxReplicas and metrics of a placement scale by cpu and memory; nothing stands for a schedule, for other triggers, " +
		"and for no Instances at all",
	"VirtualService": byNames, "IngressRoute": byNames, "HTTPProxy": byNames, "Route": byNames,
}

// reasonOf is the reason why an object that runs no Pods is not converted.
func reasonOf(object source, id identity) string {
	if id.group == v1alpha.GroupVersion.Group {
		return "it is one of the add-on already: apply it as it is"
	}
	ofKubernetes := !strings.Contains(id.group, ".") || strings.HasSuffix(id.group, ".k8s.io")
	switch secret := secretOf(object); {
	case ofKubernetes && otherKinds[id.kind] != "":
		return otherKinds[id.kind]
	case !ofKubernetes && foreignKinds[id.kind] != "":
		return foreignKinds[id.kind]
	case secret != "":
		return "create Secret " + secret + " in the project by other means"
	default:
		return "a Workload has nothing that stands for " + object.GetAPIVersion()
	}
}
