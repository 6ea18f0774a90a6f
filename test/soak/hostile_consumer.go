// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Kinds that parties write.
var (
	workloadKind   = v1alpha.GroupVersion.WithKind("Workload")
	deploymentKind = v1alpha.GroupVersion.WithKind(v1alpha.KindWorkloadDeployment)
	instanceKind   = v1alpha.GroupVersion.WithKind("Instance")
	sliceKind      = v1alpha.GroupVersion.WithKind("InstanceSlice")
	typeKind       = v1alpha.GroupVersion.WithKind("InstanceType")
	cellKind       = v1alpha.GroupVersion.WithKind("Cell")
	configMapKind  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	secretKind     = corev1.SchemeGroupVersion.WithKind("Secret")
	podKind        = corev1.SchemeGroupVersion.WithKind("Pod")
	namespaceKind  = corev1.SchemeGroupVersion.WithKind("Namespace")
	locationKind   = schema.GroupVersionKind{Group: "networking.datumapis.com", Version: "v1alpha", Kind: "LocationBinding"}
)

// otherResources are resources other than CPU and memory that a template may request.
var otherResources = []string{"nvidia.com/gpu", "ephemeral-storage", "hugepages-2Mi"}

// consumerNoise draws the writes of a hostile consumer.
type consumerNoise struct {
	*dice
	namespace     string
	names, cities []string
	// noLocations is true if the project has no LocationBindings, because it is a namespace of the hub.
	noLocations bool
}

// deployment returns the name of a deployment that may exist.
func (n *consumerNoise) deployment() string {
	return naming.DeploymentName(pick(n.dice, n.names...), pick(n.dice, "p0", "p0", "p0", "p1"), pick(n.dice, n.cities...))
}

func (n *consumerNoise) instance() string { return naming.InstanceName(n.deployment(), n.IntN(3)) }

// next draws a write.
func (n *consumerNoise) next() Write {
	switch chance := n.IntN(100); {
	case chance < 20:
		name := pick(n.dice, n.names...)
		return Write{Verb: "create", Kind: workloadKind, Namespace: n.namespace, Name: name, Body: n.workload(name)}
	case chance < 29:
		name := pick(n.dice, n.names...)
		return Write{Verb: "patch", Kind: workloadKind, Namespace: n.namespace, Name: name, Body: replacing(n.workload(name))}
	case chance < 33:
		return Write{Verb: "delete", Kind: workloadKind, Namespace: n.namespace, Name: pick(n.dice, n.names...), Policy: n.policy()}
	case chance < 38:
		return Write{Verb: "patch", Kind: deploymentKind, Namespace: n.namespace, Name: n.deployment(), MustFail: true, Body: fields{
			"metadata": fields{"annotations": fields{v1alpha.AnnotationHubNamespace: pick(n.dice, n.namespaces...)}},
		}}
	case chance < 58:
		return n.describe()
	case chance < 83:
		return n.owned()
	case chance < 95:
		return n.data()
	case n.noLocations:
		return n.open()
	default:
		return n.location()
	}
}

// open changes the cities that the namespace may use, but keeps the cities that the run needs.
func (n *consumerNoise) open() Write {
	cities := pick(n.dice, n.cities, append([]string{"XXX"}, n.cities...), append([]string{"", "*", n.text()}, n.cities...))
	return Write{Verb: "patch", Kind: namespaceKind, Name: n.namespace, Body: fields{
		"metadata": fields{"annotations": fields{v1alpha.AnnotationCities: strings.Join(cities, ",")}},
	}}
}

// describe patches the metadata of any object.
func (n *consumerNoise) describe() Write {
	w := Write{Verb: "patch", Namespace: n.namespace, Body: n.metadata()}
	switch n.IntN(8) {
	case 0, 1:
		w.Kind, w.Name = workloadKind, pick(n.dice, n.names...)
	case 2, 3, 4:
		w.Kind, w.Name = deploymentKind, n.deployment()
	case 5:
		w.Kind, w.Name = instanceKind, n.instance()
	case 6:
		w.Kind, w.Name = pick(n.dice, configMapKind, secretKind), pick(n.dice, "settings", "password")
	default:
		// Deleting a namespace, or holding it in deletion, would end the run.
		w.Kind, w.Name, w.Namespace = namespaceKind, n.namespace, ""
		label := pick(n.dice, ourLabels...)
		w.Body = fields{"metadata": fields{"labels": fields{label: n.value()}}}
		// The hub is the plane of the projects, and its namespaces are copied to the cells with their labels.
		w.MustFail = n.noLocations && strings.Contains(label, ".datumapis.com/")
	}
	return w
}

// owned creates, changes or deletes an object that only the add-on may write.
func (n *consumerNoise) owned() Write {
	w := Write{Verb: "patch", Namespace: n.namespace, Kind: deploymentKind, Name: n.deployment(), MustFail: true}
	switch n.IntN(9) {
	case 0:
		w.Subresource, w.Body = "scale", fields{"spec": fields{"replicas": pick(n.dice, 0, 1, 17, 5000)}}
	case 1:
		w.Subresource, w.Body = "status", fields{"status": n.deploymentStatus()}
	case 2:
		w.Kind, w.Name, w.Subresource = instanceKind, n.instance(), "status"
		w.Body = fields{"status": fields{"conditions": []any{n.condition()}}}
	case 3:
		w.Body = fields{"spec": pick(n.dice,
			fields{"suspended": true}, fields{"slices": 1000}, fields{"scaleSettings": fields{"minReplicas": 4999}},
			fields{"quota": fields{"granted": []any{fields{"first": 0, "last": 9999}}}},
			fields{"assignment": fields{"cells": []any{fields{"name": "dfw", "indices": []any{fields{"first": 0, "last": 9999}}}}}})}
	case 4:
		w.Kind, w.Name = instanceKind, n.instance()
		w.Body = fields{"spec": fields{"controller": fields{"templateHash": "x" + n.value()}}}
	case 5:
		w.Verb, w.Body = "create", n.madeUp(w.Name)
	case 6:
		w.Verb, w.Kind, w.Name = "create", instanceKind, n.instance()
		w.Body = n.madeUpInstance()
	case 7:
		w.Kind, w.Namespace, w.Name = typeKind, "", "datumcloud-d1-standard-2"
		w.Body = fields{"spec": fields{"resources": fields{"cpu": "1000", "memory": pick(n.dice, "1Ki", "4Ti")}}}
	default:
		w.MustFail, w.Verb, w.Policy = false, "delete", n.policy()
		if n.IntN(2) == 0 {
			w.Kind, w.Name = instanceKind, n.instance()
		}
	}
	return w
}

// madeUp returns a WorkloadDeployment that belongs to no Workload, or that a Workload is about to get.
func (d *dice) madeUp(name string) fields {
	//nolint:forcetypeassert // it has one
	template := asFields((&Wanted{Image: "image:made-up"}).Workload("", "x"))["spec"].(fields)["template"]
	return fields{
		"metadata": fields{
			"labels": fields{
				v1alpha.LabelProjectUID: pick(d, d.foreign...), v1alpha.LabelDeploymentUID: pick(d, d.foreign...), v1alpha.LabelHub: d.value(),
			},
			"annotations": fields{v1alpha.AnnotationHubNamespace: pick(d, d.namespaces...)},
		},
		"spec": fields{
			"workloadRef": fields{"name": name, "uid": pick(d, d.foreign...)}, "placementName": "p0", "cityCode": "DFW", "template": template,
			"scaleSettings": fields{"minReplicas": pick(d, 1, 40, 5000)},
		},
	}
}

func (d *dice) madeUpInstance() fields {
	spec := d.madeUp("x")["spec"].(fields)["template"].(fields)["spec"] //nolint:forcetypeassert // it has one
	return fields{
		"metadata": fields{
			"labels": fields{v1alpha.LabelDeploymentUID: pick(d, d.foreign...), v1alpha.LabelInstanceIndex: pick(d, "0", "9999", "-1", "x")},
		},
		"spec": spec,
	}
}

// data writes ConfigMaps and Secrets that Workloads name, and InstanceSlices, which have no effect in a project.
func (n *consumerNoise) data() Write {
	w := Write{Namespace: n.namespace, Kind: pick(n.dice, configMapKind, secretKind), Name: pick(n.dice, "settings", "password", "new")}
	switch n.IntN(4) {
	case 0:
		w.Verb, w.Policy = "delete", n.policy()
	case 1:
		w.Kind, w.Verb, w.Name = sliceKind, "create", n.deployment()+"-16"
		w.Body = fields{"spec": fields{"deployment": n.deployment(), "first": 16, "last": 9999}}
	default:
		w.Verb = pick(n.dice, "create", "patch")
		w.Body = fields{
			"metadata": n.metadata()["metadata"], pick(n.dice, "data", "stringData"): fields{
				"KEY": pick(n.dice, "", "dmFsdWU=", strings.Repeat("Q", 400_000)),
			},
		}
	}
	return w
}

// location changes the bindings of its cities without making them unusable, and the binding of a city without a cell in
// any way.
func (n *consumerNoise) location() Write {
	w := Write{Verb: "patch", Kind: locationKind, Name: "location-" + naming.CityLabel(pick(n.dice, n.cities...))}
	w.Body = fields{"metadata": fields{"labels": fields{pick(n.dice, ourLabels...): n.value()}}}
	if n.IntN(2) == 0 {
		return w
	}
	w.Name = "location-xxx"
	switch n.IntN(4) {
	case 0:
		w.Verb, w.Policy = "delete", metav1.DeletePropagationBackground
	case 1:
		w.Body = n.metadata()
	case 2:
		w.Subresource, w.Body = "status", fields{"status": fields{"conditions": []any{n.condition()}}}
	default:
		w.Verb, w.Body = "create", fields{"spec": fields{
			"locationRef": fields{"name": w.Name}, "locationClassName": "datum-managed", "displayName": "XXX",
			"topology": fields{v1alpha.LabelTopologyCity: "XXX"},
		}}
	}
	return w
}

// workload returns a Workload with up to two unexpected values.
func (n *consumerNoise) workload(name string) fields {
	wanted := &Wanted{Image: fmt.Sprintf("docker.io/library/nginx:1.%d", n.IntN(3))}
	for i := range 1 + n.IntN(2) {
		wanted.Placements = append(wanted.Placements, Placement{
			Name: fmt.Sprintf("p%d", i), Cities: n.cities[:1+n.IntN(len(n.cities))], Replicas: 1 + n.IntN(2),
		})
	}
	workload := asFields(wanted.Workload(n.namespace, name))
	spec := workload["spec"].(fields) //nolint:forcetypeassert // built above
	if n.IntN(4) == 0 {
		// The Workload has no other fault, so no other check refuses it.
		runtime := spec["template"].(fields)["spec"].(fields)["runtime"].(fields)     //nolint:forcetypeassert // built above
		runtime["resources"].(fields)["requests"] = fields{"cpu": "0", "memory": "0"} //nolint:forcetypeassert // built above
		return workload
	}
	for range n.IntN(3) {
		if n.IntN(3) == 0 {
			n.changePlacement(spec["placements"].([]any)[0].(fields)) //nolint:forcetypeassert // built above
		} else {
			n.changeTemplate(spec["template"].(fields)) //nolint:forcetypeassert // built above
		}
	}
	return workload
}

func (n *consumerNoise) changePlacement(placement fields) {
	scale := placement["scaleSettings"].(fields) //nolint:forcetypeassert // every placement has one
	switch n.IntN(6) {
	case 0:
		scale["minReplicas"] = n.number()
	case 1:
		scale["minReplicas"], scale["instanceManagementPolicy"] = 25, "Parallel"
	case 2:
		// Instances start one after the other. A whole city of them delays all later changes, so it is drawn rarely.
		scale["minReplicas"] = pick(n.dice, 2, 3, 3, 5000)
	case 3:
		placement["cityCodes"] = []any{pick(n.dice, "XXX", strings.ToLower(n.cities[0]), "", strings.Repeat("C", 17), "*")}
	case 4:
		delete(placement, "cityCodes")
		placement["locationSelector"] = pick(n.dice, fields{}, fields{"matchLabels": fields{v1alpha.LabelTopologyCity: n.value()}})
	default:
		scale["maxReplicas"], scale["metrics"] = 5000, []any{fields{"resource": fields{"name": "cpu", "target": fields{"averageUtilization": 1}}}}
	}
}

// replacing returns a patch to the spec of a Workload that removes what an earlier write requested.
func replacing(workload fields) fields {
	spec := workload["spec"].(fields)                                         //nolint:forcetypeassert // every Workload has one
	runtime := spec["template"].(fields)["spec"].(fields)["runtime"].(fields) //nolint:forcetypeassert // every template has one
	if requests, ok := runtime["resources"].(fields)["requests"].(fields); ok {
		for _, other := range otherResources {
			if _, requested := requests[other]; !requested {
				requests[other] = nil
			}
		}
	}
	return fields{"spec": spec}
}

func (n *consumerNoise) changeTemplate(template fields) {
	spec := template["spec"].(fields)     //nolint:forcetypeassert // every template has one
	runtime := spec["runtime"].(fields)   //nolint:forcetypeassert // every spec has one
	size := runtime["resources"].(fields) //nolint:forcetypeassert // every runtime has them
	sandbox, _ := runtime["sandbox"].(fields)
	if sandbox == nil {
		return // a virtual machine
	}
	container := sandbox["containers"].([]any)[0].(fields) //nolint:forcetypeassert // every sandbox has one
	switch n.IntN(13) {
	case 11, 12:
		n.changePod(sandbox, container)
	case 0:
		size["requests"] = fields{"cpu": "0", "memory": "0"}
	case 1:
		size["requests"] = fields{pick(n.dice, append(otherResources, "cpu")...): n.quantity()}
	case 2:
		container["resources"] = fields{"limits": fields{"cpu": n.quantity()}, "requests": fields{"memory": n.quantity()}}
	case 3:
		container["env"] = []any{fields{"name": "BIG", "value": strings.Repeat("v", pick(n.dice, 100, 10_000, 60_000, 900_000))}}
	case 4:
		container["envFrom"] = []any{
			fields{"configMapRef": fields{"name": pick(n.dice, "settings", "new", "kube-root-ca.crt", "none"), "optional": n.IntN(2) == 0}},
			fields{"secretRef": fields{"name": pick(n.dice, "password", "new", "none"), "optional": n.IntN(2) == 0}},
		}
	case 5:
		template["metadata"] = fields{
			"labels": fields{pick(n.dice, append(ourLabels, "propagationpolicy.karmada.io/permanent-id", "karmada.io/managed")...): n.value()},
		}
	case 6:
		template["metadata"] = fields{"annotations": fields{pick(n.dice, ourAnnotations...): n.text()}}
	case 7:
		spec["networkInterfaces"] = []any{fields{"network": fields{"name": "other", "namespace": pick(n.dice, n.namespaces...)}}}
	case 8:
		delete(runtime, "sandbox")
		spec["volumes"] = []any{fields{"name": "boot", "disk": fields{"template": fields{"spec": fields{"type": "pd-standard"}}}}}
		runtime["virtualMachine"] = fields{"volumeAttachments": []any{fields{"name": "boot"}}}
	case 9:
		size["instanceType"] = pick(n.dice, "none", "datumcloud-d1-standard-2", strings.Repeat("t", 128))
		runtime["class"] = pick(n.dice, "gvisor", "x")
	default:
		spec["controller"] = fields{"templateHash": n.value(), "schedulingGates": []any{fields{"name": "Quota"}}}
		spec["location"] = fields{"name": n.value() + "x", "namespace": pick(n.dice, n.namespaces...)}
	}
}

// changePod changes a template's fields for its Pod, except the image.
func (n *consumerNoise) changePod(sandbox, container fields) {
	switch n.IntN(6) {
	case 0:
		sandbox["initContainers"] = []any{fields{
			"name": pick(n.dice, "app", "first"), "image": "docker.io/library/nginx:1.27", "restartPolicy": pick(n.dice, "Always", "Never"),
			"resources": fields{"limits": fields{"cpu": n.quantity()}},
		}}
	case 1:
		container["readinessProbe"] = fields{
			"httpGet": fields{"host": pick(n.dice, "169.254.169.254", ""), "port": pick[any](n.dice, 80, "none")}, "periodSeconds": n.number(),
		}
	case 2:
		container["livenessProbe"] = fields{"exec": fields{"command": []any{"sh", "-c", strings.Repeat("x", pick(n.dice, 10, 20_000))}}}
	case 3:
		sandbox["terminationGracePeriodSeconds"] = pick(n.dice, 0, 600, 86400, -1)
		sandbox["securityContext"] = fields{
			"runAsUser": n.number(), "fsGroup": n.number(), "sysctls": []any{fields{"name": "kernel.msgmax", "value": "1"}},
		}
	case 4:
		container["securityContext"] = fields{
			"privileged": true, "allowPrivilegeEscalation": true, "runAsNonRoot": n.IntN(2) == 0, "runAsUser": 0,
		}
	default:
		container["env"] = []any{fields{"name": "NODE", "valueFrom": fields{"fieldRef": fields{
			"fieldPath": pick(n.dice, "spec.nodeName", "status.hostIP", "metadata.namespace",
				"metadata.annotations['"+v1alpha.AnnotationProjectName+"']"),
		}}}}
	}
}
