// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// cell compares the namespace and the deployments of a cell with the bindings.
func (c *comparison) cell(name string) {
	plane, v := "cell/"+name, c.Cells[name]
	of, serves := c.serves(name)
	switch {
	case serves && v.Namespace == nil:
		c.add(plane, "Namespace", of, missing)
	case serves && v.Namespace.DeletionTimestamp != nil:
		c.add(plane, "Namespace "+v.Namespace.Name, of, deleting)
	case !serves && v.Namespace != nil:
		c.surplus(plane, "Namespace "+v.Namespace.Name, v.Namespace)
	}
	for e, d := range pairs(part{c, plane, "WorkloadDeployment"}, byName(v.Deployments), c.inCell(name)) {
		object := "WorkloadDeployment " + e.name
		if e.deployment == nil {
			continue
		}
		if d.Labels[v1alpha.LabelDeploymentUID] != string(e.deployment.UID) {
			c.add(plane, object, e.of, "is the copy of another deployment")
			continue
		}
		if d.Annotations[v1alpha.AnnotationProjectGeneration] != strconv.FormatInt(e.deployment.Generation, 10) {
			c.add(plane, object, e.of, "is the copy of an earlier generation")
		}
		if d.Status.ObservedGeneration != d.Generation {
			c.add(plane, object, e.of, "has a status of an earlier generation")
		}
	}
	c.pods(plane, v)
}

// pods compares the Pods of a cell with its Instances.
func (c *comparison) pods(plane string, v *CellView) {
	found := byName(v.Pods)
	instances := byName(v.Instances)
	for name, i := range instances {
		object, pod := "Pod "+name, found[name]
		if pod == nil {
			c.add(plane, object, string(i.UID), missing)
			continue
		}
		if !ownedBy(pod.OwnerReferences, string(i.UID)) {
			c.add(plane, object, string(i.UID), "belongs to an earlier Instance of its name")
			continue
		}
		if c.present(plane, object, string(i.UID), true, pod.DeletionTimestamp) && !podReady(pod) {
			c.add(plane, object, string(i.UID), "is not Ready")
		}
	}
	for name, pod := range found {
		if instances[name] == nil {
			c.surplus(plane, "Pod "+name, pod)
		}
	}
}

func podReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// running compares the Instances of all cells with the Workloads: each runs in one cell, which has its deployment.
func (c *comparison) running() {
	expected := c.byInstance()
	where := map[string]string{}
	for _, cell := range c.cells() {
		plane, v := "cell/"+cell, c.Cells[cell]
		owners := byName(v.Deployments)
		for i := range v.Instances {
			instance := &v.Instances[i]
			object, e := "Instance "+instance.Name, expected[instance.Name]
			if e == nil {
				c.surplus(plane, object, instance)
				continue
			}
			if other := where[instance.Name]; other != "" {
				c.add(plane, object, e.of, "runs in cell "+other+" as well")
			}
			where[instance.Name] = cell
			if !c.present(plane, object, e.of, true, instance.DeletionTimestamp) {
				continue
			}
			if owner := owners[e.name]; owner == nil || !ownedBy(instance.OwnerReferences, string(owner.UID)) {
				c.add(plane, object, e.of, "is owned by another deployment")
			}
			c.instance(plane, e, instance)
		}
	}
	for name, e := range expected {
		if where[name] == "" {
			c.add("cells of "+e.city, "Instance "+name, e.of, missing)
		}
	}
}
