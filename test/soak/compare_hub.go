// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

const (
	hubPlane  = "hub"
	miloPlane = "milo"
)

// hub compares the hub's namespace, copies, policies and bindings with the project's deployments.
func (c *comparison) hub() {
	c.hubNamespace()
	c.copies()
	c.policies()
	c.bindings()
}

// of returns the version of all Workloads together, for objects that serve all of them.
func (c *comparison) of() string {
	parts := make([]string, 0, len(c.expected))
	for _, e := range c.expected {
		parts = append(parts, e.of)
	}
	return strings.Join(parts, ",")
}

func (c *comparison) hubNamespace() {
	switch {
	case len(c.expected) > 0 && c.Namespace == nil:
		c.add(hubPlane, "Namespace", c.of(), missing)
	case len(c.expected) > 0 && c.Namespace.DeletionTimestamp != nil:
		c.add(hubPlane, "Namespace "+c.Namespace.Name, c.of(), deleting)
	case len(c.expected) == 0 && c.Namespace != nil:
		c.surplus(hubPlane, "Namespace "+c.Namespace.Name, c.Namespace)
	}
}

func (c *comparison) copies() {
	for e, d := range pairs(part{c, hubPlane, "WorkloadDeployment"}, byName(c.Copies), c.byObject(ownName)) {
		object := "WorkloadDeployment " + e.name
		if e.deployment == nil {
			continue
		}
		if d.Labels[v1alpha.LabelDeploymentUID] != string(e.deployment.UID) {
			c.add(hubPlane, object, e.of, "is the copy of another deployment")
			continue
		}
		e.copied = d
		if d.Annotations[v1alpha.AnnotationProjectGeneration] != strconv.FormatInt(e.deployment.Generation, 10) {
			c.add(hubPlane, object, e.of, "is the copy of an earlier generation")
		}
		c.sameSpec(hubPlane, e, d)
		if indices := e.assigned(); d.Spec.Assignment != nil && len(indices) != e.replicas {
			c.add(hubPlane, object, e.of, "assigns another number of Instances than its Workload wants")
		}
	}
}

func (c *comparison) policies() {
	expected := map[string]string{}
	for _, e := range c.expected {
		expected[naming.CityLabel(e.city)] = e.of
	}
	found := map[string]bool{}
	for i := range c.Policies {
		p := &c.Policies[i]
		city := p.Labels[v1alpha.LabelTopologyCity]
		if of, wanted := expected[city]; wanted {
			found[city] = true
			c.present(hubPlane, "PropagationPolicy "+p.Name, of, true, p.DeletionTimestamp)
			continue
		}
		c.surplus(hubPlane, "PropagationPolicy "+p.Name, p)
	}
	for city, of := range expected {
		if !found[city] {
			c.add(hubPlane, "PropagationPolicy of "+city, of, missing)
		}
	}
}

func (c *comparison) bindings() {
	found := byName(slices.DeleteFunc(slices.Clone(c.Bindings), func(b workv1alpha2.ResourceBinding) bool {
		return b.Spec.Resource.Kind != v1alpha.KindWorkloadDeployment
	}))
	expected := c.byObject(func(e *expectation) string {
		return karmadanames.GenerateBindingName(v1alpha.KindWorkloadDeployment, e.name)
	})
	for e, b := range pairs(part{c, hubPlane, "ResourceBinding"}, found, expected) {
		object := "ResourceBinding " + b.Name
		if e.copied != nil && (!ownedBy(b.OwnerReferences, string(e.copied.UID)) || b.Spec.Resource.UID != e.copied.UID) {
			c.add(hubPlane, object, e.of, "belongs to an earlier copy of its name")
		}
		c.scheduled(object, e, b)
	}
}

// scheduled compares a binding's cells with the city's cells, and its replicas with the scale.
func (c *comparison) scheduled(object string, e *expectation, b *workv1alpha2.ResourceBinding) {
	replicas := int32(0)
	for _, target := range b.Spec.Clusters {
		if !slices.Contains(c.Cities[e.city], target.Name) {
			c.add(hubPlane, object, e.of, "names cell "+target.Name+", which does not serve the city")
			continue
		}
		e.cells = append(e.cells, target.Name)
		replicas += target.Replicas
	}
	if len(e.cells) == 0 {
		c.add(hubPlane, object, e.of, "names no cell")
	} else if int(replicas) != e.replicas {
		c.add(hubPlane, object, e.of, "has another scale than its Workload")
	}
}

// works compares the Works of deployments with the bindings, and the Works of the namespace with the cities in use.
func (c *comparison) works() {
	for _, cell := range c.cells() {
		c.worksOf(cell)
	}
}

// inCell returns the deployments that a cell should have, by name.
func (c *comparison) inCell(cell string) map[string]*expectation {
	expected := map[string]*expectation{}
	for _, e := range c.expected {
		if slices.Contains(e.cells, cell) {
			expected[e.name] = e
		}
	}
	return expected
}

// serves returns the versions of the Workloads in the cities of a cell, and whether there are any.
func (c *comparison) serves(cell string) (string, bool) {
	var of []string
	for _, e := range c.expected {
		if slices.Contains(c.Cities[e.city], cell) {
			of = append(of, e.of)
		}
	}
	return strings.Join(of, ","), len(of) > 0
}

func (c *comparison) worksOf(cell string) {
	expected, found := c.inCell(cell), map[string]bool{}
	of, serves := c.serves(cell)
	for i := range c.Works[cell] {
		w := &c.Works[cell][i]
		object := fmt.Sprintf("Work of %s for cell %s", w.Carries, cell)
		var e *expectation
		switch {
		case w.Deployment != nil:
			e = expected[w.Deployment.Name]
		case serves && strings.HasPrefix(w.Carries, "Namespace "), len(expected) > 0 && w.carriesData():
			e = &expectation{of: of}
		}
		if e == nil {
			c.surplus(hubPlane, object, w)
			continue
		}
		found[w.Carries] = true
		if !c.present(hubPlane, object, e.of, true, w.DeletionTimestamp) {
			continue
		}
		if !meta.IsStatusConditionTrue(w.Status.Conditions, workv1alpha1.WorkApplied) {
			c.add(hubPlane, object, e.of, "is not Applied")
		}
		c.carries(object, e, w)
	}
	for name, e := range expected {
		if carried := v1alpha.KindWorkloadDeployment + " " + name; !found[carried] {
			c.add(hubPlane, fmt.Sprintf("Work of %s for cell %s", carried, cell), e.of, missing)
		}
	}
	if serves && c.Namespace != nil && !found["Namespace "+c.Namespace.Name] {
		c.add(hubPlane, fmt.Sprintf("Work of Namespace %s for cell %s", c.Namespace.Name, cell), of, missing)
	}
}

// carries compares the deployment in a Work with the copy on the hub.
func (c *comparison) carries(object string, e *expectation, w *Work) {
	if w.Deployment == nil || e.deployment == nil {
		return
	}
	if w.Deployment.Labels[v1alpha.LabelDeploymentUID] != string(e.deployment.UID) {
		c.add(hubPlane, object, e.of, "carries another deployment")
		return
	}
	if w.Deployment.Annotations[v1alpha.AnnotationProjectGeneration] != strconv.FormatInt(e.deployment.Generation, 10) {
		c.add(hubPlane, object, e.of, "carries an earlier generation")
	}
}
