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
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	// known are the identities of all objects.
	known map[identity]bool
	// named are the ConfigMaps and Secrets that Workloads name, with the names of their programs, and used the other objects that have
	// become a part of one.
	named map[identity][]string
	used  map[identity]bool
	// leftOut has what alone names a ConfigMap or Secret, and makers the objects from which a controller creates a Secret.
	leftOut, makers map[identity]string
	// accounts are the service accounts.
	accounts map[identity]source
	// hosts are the names that the cluster of the input resolves, and namespaces its namespaces.
	hosts      hosts
	namespaces map[string]bool
	// sole is the only namespace of an input that moves to the project's; objects without a namespace are in it.
	sole string
	// served are the converted objects by their Services.
	served map[hostKey]*converted
}

// converted is a Workload, and what it was converted from.
type converted struct {
	*conversion
	from identity
	// services are the Services of its Pods alone; the first one has become spec.service.
	services []*corev1.Service
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
	m := &manifests{
		Options: o, result: &Result{Problems: r.problems},
		known: map[identity]bool{}, named: map[identity][]string{}, used: map[identity]bool{},
		leftOut: map[identity]string{}, makers: map[identity]string{}, accounts: map[identity]source{},
		hosts: hosts{}, served: map[hostKey]*converted{}, namespaces: map[string]bool{"default": true},
	}
	m.sole = m.onlyNamespace(r.objects)
	m.objects = m.last(r.objects)
	for _, object := range m.objects {
		id := m.identify(object)
		m.known[id], m.namespaces[id.namespace] = true, true
		if id.kind == "ServiceAccount" {
			m.accounts[id] = object
		}
		if name := secretOf(object); name != "" {
			m.makers[identity{kind: "Secret", namespace: id.namespace, name: name}] = describe(object.Unstructured)
		}
	}
	for _, object := range m.objects {
		if err := m.refusal(object); err != nil {
			m.problem(object, err)
		} else {
			m.convert(object)
		}
	}
	if len(m.workloads) == 0 && len(m.result.Problems) == 0 {
		m.result.Problems = append(m.result.Problems, errors.New("there is no Deployment and no StatefulSet of apps/v1 to convert"))
	}
	m.rename()
	m.addBudgets()
	m.addAutoscalers()
	m.addServices()
	m.addFronts()
	m.listNodePorts()
	var missing []Loss
	for _, workload := range m.workloads {
		missing = append(missing, m.missing(workload)...)
	}
	m.listNamespaces()
	m.listHosts()
	for _, workload := range m.workloads {
		if err := workload.finish(); err != nil {
			return nil, err
		}
		m.result.Losses = append(m.result.Losses, workload.losses...)
	}
	m.result.Losses = append(m.result.Losses, missing...)
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
		if object.GetNamespace() != "" && m.Namespace != "" && object.GetNamespace() != m.Namespace {
			m.problem(object, fmt.Errorf("it is in namespace %s, and --namespace is %s; leave out --namespace",
				object.GetNamespace(), m.Namespace))
			continue
		}
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
	return identity{group, object.GetKind(), cmp.Or(object.GetNamespace(), m.Namespace, m.sole), object.GetName()}
}

func (m *manifests) lose(object, path, why string) {
	m.result.Losses = append(m.result.Losses, Loss{Object: object, Loss: podfields.Loss{Path: path, Why: why}})
}

func convertible(object *unstructured.Unstructured) bool {
	kind := object.GetKind()
	return object.GetAPIVersion() == appsv1.SchemeGroupVersion.String() && (kind == "Deployment" || kind == "StatefulSet")
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
			m.pullSecrets(&from.Spec.Template.Spec, object)
			c = fromDeployment(from, m.Options)
		}
	} else {
		from := &appsv1.StatefulSet{}
		if unknown, err = decode(object, from); err == nil {
			m.pullSecrets(&from.Spec.Template.Spec, object)
			c = fromStatefulSet(from, m.Options)
		}
	}
	switch {
	case err != nil:
		m.problem(object, err)
		return
	case object.GetName() == "":
		m.problem(object, errors.New("it has no name, and a Workload is applied by its name"))
		return
	case len(c.workload.Spec.Template.Spec.Runtime.Sandbox.Containers) == 0:
		m.problem(object, errors.New("spec.template.spec.containers: it has no container"))
		return
	}
	for _, field := range unknown {
		c.lose(podfields.Loss{Why: field.Error() + noVersion})
	}
	c.workload.Namespace = m.inProject(cmp.Or(c.workload.Namespace, m.Namespace))
	m.workloads = append(m.workloads, &converted{conversion: c, from: m.identify(object)})
}

// pullSecrets gives Pods without pull secrets the ones of their service account, as Kubernetes does.
func (m *manifests) pullSecrets(pod *corev1.PodSpec, from source) {
	wanted := m.identify(from)
	wanted.group, wanted.kind = "", "ServiceAccount"
	wanted.name = cmp.Or(pod.ServiceAccountName, pod.DeprecatedServiceAccount, "default")
	if account, known := m.accounts[wanted]; known && len(pod.ImagePullSecrets) == 0 {
		decoded := &corev1.ServiceAccount{}
		if _, err := decode(account, decoded); err == nil {
			pod.ImagePullSecrets = decoded.ImagePullSecrets
		}
	}
}

// problem adds the reason why an object is not converted.
func (m *manifests) problem(object source, err error) {
	m.result.Problems = append(m.result.Problems,
		fmt.Errorf("%s: %s is not converted: %w", object.input, describe(object.Unstructured), err))
}

// rootCA is the ConfigMap with the certificates of its cluster, which each namespace has.
const rootCA = "kube-root-ca.crt"

// missing notes the ConfigMaps and Secrets that a Workload names, and returns a Loss for each that no input contains.
func (m *manifests) missing(c *converted) []Loss {
	var losses []Loss
	needed, optional := templates.DataObjects(&c.workload.Spec.Template.Spec)
	for i, data := range append(needed, optional...) {
		wanted := identity{kind: data.Kind, namespace: c.from.namespace, name: data.Name}
		m.named[wanted] = append(m.named[wanted], c.names()...)
		if wanted.kind == templates.KindConfigMap && wanted.name == rootCA {
			losses = append(losses, Loss{Object: "ConfigMap " + rootCA, Loss: podfields.Loss{Why: "each cluster has its own, which " +
				"is not copied to cells: name a ConfigMap of your own"}})
			continue
		}
		if m.known[wanted] || i >= len(needed) {
			continue
		}
		where := ""
		if namespace := m.inProject(wanted.namespace); namespace != "" {
			where = " in namespace " + namespace
		}
		why := fmt.Sprintf("is not in the input%s; create it in the project before Workload %s", where, c.workload.Name)
		if maker := m.makers[wanted]; maker != "" {
			why += ": " + maker + " makes it in a cluster alone"
		}
		losses = append(losses, Loss{Object: data.Kind + " " + data.Name, Loss: podfields.Loss{Why: why}})
	}
	return losses
}

// keepData adds the ConfigMaps and Secrets that Workloads name, and lists what has become of no Workload.
func (m *manifests) keepData() {
	kept := map[identity]map[string]any{}
	for _, object := range m.objects {
		id := m.identify(object)
		switch {
		case m.named[id] != nil:
			data := withoutServerFields(object.Unstructured)
			if namespace := m.inProject(id.namespace); namespace != "" {
				data.SetNamespace(namespace)
			}
			for _, loss := range append(dropTracking(data), dropOwners(object)...) {
				m.lose(describe(object.Unstructured), loss.Path, loss.Why)
			}
			place := identity{kind: id.kind, namespace: data.GetNamespace(), name: id.name}
			if same := kept[place]; same == nil {
				kept[place] = data.Object
				m.result.Objects = append(m.result.Objects, data.Object)
			} else if !equality.Semantic.DeepEqual(same, data.Object) {
				m.problem(object, fmt.Errorf("another %s %s moves to namespace %s, too; rename one", id.kind, id.name, place.namespace))
			}
		case convertible(object.Unstructured) || m.used[id] || m.refusal(object) != nil:
		case m.leftOut[id] != "":
			m.lose(describe(object.Unstructured), "", "is left out with "+m.leftOut[id])
		case id.group == "" && (id.kind == "ConfigMap" || id.kind == "Secret"):
			m.lose(describe(object.Unstructured), "", "is left out: no converted object in its namespace names it"+m.inOther(id))
		default:
			m.lose(describe(object.Unstructured), "", "is not converted: "+reasonOf(object, id))
		}
	}
}

// inOther is the advice about data without a namespace that an object in another namespace names.
func (m *manifests) inOther(id identity) string {
	for other := range m.named {
		if id.namespace == "" && other.kind == id.kind && other.name == id.name {
			return nameNamespace
		}
	}
	return ""
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
	return object.GetKind() + " " + cmp.Or(object.GetName(), object.GetGenerateName())
}

// Print prints the objects without a status, as a user would write them: as YAML documents, or as a List in JSON.
func (r *Result) Print(out io.Writer, format string) error {
	trees := make([]any, 0, len(r.Objects))
	for _, object := range r.Objects {
		tree, err := treeOf(object)
		if err != nil {
			return err
		}
		trees = append(trees, tree)
	}
	if format == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "    ")
		return encoder.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": trees})
	}
	for i, tree := range trees {
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
