// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/cli/convert/podfields"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// Result is the result of a conversion.
type Result struct {
	// Objects are the ConfigMaps and Secrets that the Workloads name, then the Workloads.
	Objects []any
	// Losses are the fields that a Workload does not have, with the consequences, and the fields that must be edited
	// before admission takes it.
	Losses []Loss
	// Problems are documents and objects that could not be read or converted. All others are.
	Problems []error
}

// manifests is the state of the conversion of all inputs.
type manifests struct {
	Options
	result  *Result
	objects []source
	// workloads are the converted objects, in their order.
	workloads []*converted
	// named are the ConfigMaps and Secrets that Workloads name, and used the other objects that have become a part of one.
	named, used map[identity]bool
}

// converted is a Workload, and what it was converted from.
type converted struct {
	*conversion
	from identity
}

// identity is the kind, namespace and name of an object.
type identity struct {
	group, kind, namespace, name string
}

// Manifests converts the Deployments and StatefulSets of the inputs, in YAML or JSON. It keeps the ConfigMaps and
// Secrets that they name. The result lists the other objects in Problems or Losses; an error is an input that cannot be
// read.
func Manifests(inputs []Input, o Options) (*Result, error) {
	r := &reader{}
	for _, in := range inputs {
		if err := r.read(in); err != nil {
			return nil, err
		}
	}
	m := &manifests{Options: o, result: &Result{Problems: r.problems}, named: map[identity]bool{}, used: map[identity]bool{}}
	m.objects = m.last(r.objects)
	for _, object := range m.objects {
		m.convert(object)
	}
	if len(m.workloads) == 0 && len(m.result.Problems) == 0 {
		return nil, errors.New("there is no Deployment and no StatefulSet of apps/v1 to convert")
	}
	m.addBudgets()
	m.addAutoscalers()
	for _, workload := range m.workloads {
		workload.finish(m.objects)
		m.result.Losses = append(m.result.Losses, workload.losses...)
		m.result.Losses = append(m.result.Losses, m.missing(workload)...)
	}
	m.keepData()
	for _, workload := range m.workloads {
		m.result.Objects = append(m.result.Objects, workload.workload)
	}
	return m.result, nil
}

// last returns the objects, of several with the same identity only the last one.
func (m *manifests) last(objects []source) []source {
	index := map[identity]int{}
	for i, object := range objects {
		index[m.identify(object)] = i
	}
	var kept []source
	for i, object := range objects {
		if object.GetName() != "" && index[m.identify(object)] != i {
			m.lose(describe(object.Unstructured), "", "is in the input more than once; the last one is converted")
			continue
		}
		kept = append(kept, object)
	}
	return kept
}

// identify returns the identity of an object. An object without a namespace is in the namespace of the options.
func (m *manifests) identify(object source) identity {
	group, _, found := strings.Cut(object.GetAPIVersion(), "/")
	if !found {
		group = ""
	}
	return identity{group, object.GetKind(), cmp.Or(object.GetNamespace(), m.Namespace), object.GetName()}
}

func (m *manifests) lose(object, path, why string) {
	m.result.Losses = append(m.result.Losses, Loss{Object: object, Loss: podfields.Loss{Path: path, Why: why}})
}

func convertible(object *unstructured.Unstructured) bool {
	return object.GetAPIVersion() == appsv1.SchemeGroupVersion.String() &&
		(object.GetKind() == "Deployment" || object.GetKind() == "StatefulSet")
}

// convert converts one object, unless it is of another kind.
func (m *manifests) convert(object source) {
	if !convertible(object.Unstructured) {
		return
	}
	var c *conversion
	var unknown []error
	var err error
	if object.GetKind() == "Deployment" {
		from := &appsv1.Deployment{}
		if unknown, err = decode(object, from); err == nil {
			c = fromDeployment(from, m.Options)
		}
	} else {
		from := &appsv1.StatefulSet{}
		if unknown, err = decode(object, from); err == nil {
			c = fromStatefulSet(from, m.Options)
		}
	}
	switch {
	case err != nil:
		m.problem(object, err)
		return
	case object.GetName() == "":
		m.problem(object, errors.New("it has no name"))
		return
	case len(c.workload.Spec.Template.Spec.Runtime.Sandbox.Containers) == 0:
		m.problem(object, errors.New("spec.template.spec.containers: it has no container"))
		return
	}
	for _, field := range unknown {
		c.lose(podfields.Loss{Why: field.Error() + ": no version of Kubernetes that this program knows has it"})
	}
	c.workload.Namespace = cmp.Or(c.workload.Namespace, m.Namespace)
	m.workloads = append(m.workloads, &converted{c, m.identify(object)})
}

// problem adds the reason why an object is not converted.
func (m *manifests) problem(object source, err error) {
	m.result.Problems = append(m.result.Problems,
		fmt.Errorf("%s: %s is not converted: %w", object.input, describe(object.Unstructured), err))
}

// decode decodes an object. Fields of the status that the type does not have are of no interest; the others are
// returned.
func decode(object source, into any) (unknown []error, err error) {
	tree := object.DeepCopy()
	delete(tree.Object, "status")
	unstructured.RemoveNestedField(tree.Object, "metadata", "managedFields")
	raw, err := tree.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return sigsjson.UnmarshalStrict(raw, into, sigsjson.DisallowUnknownFields)
}

// missing notes the ConfigMaps and Secrets that a Workload names, and returns a Loss for each that no input contains.
func (m *manifests) missing(c *converted) []Loss {
	var losses []Loss
	needed, optional := templates.DataObjects(&c.workload.Spec.Template.Spec)
	for i, data := range append(needed, optional...) {
		wanted := identity{kind: data.Kind, namespace: c.workload.Namespace, name: data.Name}
		m.named[wanted] = true
		if m.has(wanted) || i >= len(needed) {
			continue
		}
		where := ""
		if wanted.namespace != "" {
			where = " in namespace " + wanted.namespace
		}
		losses = append(losses, Loss{Object: data.Kind + " " + data.Name, Loss: podfields.Loss{
			Why: fmt.Sprintf("is not in the input%s; create it in the project before Workload %s", where, c.workload.Name),
		}})
	}
	return losses
}

func (m *manifests) has(wanted identity) bool {
	for _, object := range m.objects {
		if m.identify(object) == wanted {
			return true
		}
	}
	return false
}

// keepData adds the ConfigMaps and Secrets that Workloads name, and lists what has become of no Workload.
func (m *manifests) keepData() {
	for _, object := range m.objects {
		id := m.identify(object)
		switch {
		case m.named[id]:
			kept := withoutServerFields(object.Unstructured)
			if kept.GetNamespace() == "" && m.Namespace != "" {
				kept.SetNamespace(m.Namespace)
			}
			for _, loss := range dropTracking(kept) {
				m.lose(describe(object.Unstructured), loss.Path, loss.Why)
			}
			m.result.Objects = append(m.result.Objects, kept.Object)
		case convertible(object.Unstructured) || m.used[id]:
		default:
			m.lose(describe(object.Unstructured), "", cmp.Or(otherKinds[id.kind],
				"is not converted: no Workload stands for it, and no converted object in its namespace names it"))
		}
	}
}

// otherKinds has the reasons of kinds that have no place in a Workload.
var otherKinds = map[string]string{
	"DaemonSet":               "is not converted: a DaemonSet runs on each node, and a Workload in cities",
	"Job":                     "is not converted: the containers of a Workload are always restarted",
	"CronJob":                 "is not converted: the containers of a Workload are always restarted",
	"Pod":                     "is not converted: put it into a Deployment with one replica",
	"ReplicaSet":              "is not converted: convert its Deployment",
	"Namespace":               "is not converted: the project has its namespaces",
	"Service":                 "is not converted: a Workload has no Service; what reaches it by this name must be changed",
	"Ingress":                 "is not converted: a Workload has no Service that it could name",
	"ServiceAccount":          "is not converted: Instances have no identity in their cell, and no token",
	"Role":                    "is not converted: Instances have no identity in their cell, and no token",
	"RoleBinding":             "is not converted: Instances have no identity in their cell, and no token",
	"ClusterRole":             "is not converted: Instances have no identity in their cell, and no token",
	"ClusterRoleBinding":      "is not converted: Instances have no identity in their cell, and no token",
	"PersistentVolumeClaim":   "is not converted: cells attach configMap, secret and emptyDir volumes",
	"NetworkPolicy":           "is not converted: networkInterfaces[].networkPolicy of a Workload has ingress rules with addresses",
	"PodDisruptionBudget":     "is not converted: it selects no converted object alone, or has a selector with expressions",
	"HorizontalPodAutoscaler": "is not converted: it scales no converted object",
}

// withoutServerFields returns an object without the fields that an API server sets.
func withoutServerFields(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	for _, name := range []string{
		"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation", "selfLink", "ownerReferences", "finalizers",
	} {
		unstructured.RemoveNestedField(object.Object, "metadata", name)
	}
	return object
}

func describe(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}

// Print prints the objects as YAML documents without a status, as a user would write them.
func (r *Result) Print(out io.Writer) error {
	for i, object := range r.Objects {
		encoded, err := json.Marshal(object)
		if err != nil {
			return err
		}
		tree := map[string]any{}
		if err := json.Unmarshal(encoded, &tree); err != nil {
			return err
		}
		delete(tree, "status")
		text, err := yaml.Marshal(tree)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(out, "---")
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	return nil
}
