// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/podfields"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// Result is the result of a conversion.
type Result struct {
	// Objects are the ConfigMaps and Secrets that the Workloads name, then the Workloads.
	Objects []any
	// Losses are the fields that a Workload does not have.
	Losses []Loss
}

// Manifests converts the Deployments and StatefulSets in a YAML or JSON file. It keeps the ConfigMaps and Secrets in the file
// that they name.
func Manifests(in io.Reader, o Options) (*Result, error) {
	objects, err := read(in)
	if err != nil {
		return nil, err
	}
	result, workloads, named := &Result{}, []any{}, map[reference]bool{}
	for _, object := range objects {
		workload, losses, err := convert(object, o)
		if err != nil {
			return nil, err
		}
		if workload == nil {
			continue
		}
		workloads = append(workloads, workload)
		result.Losses = append(result.Losses, losses...)
		result.Losses = append(result.Losses, missing(workload, objects, named)...)
	}
	if len(workloads) == 0 {
		return nil, errors.New("there is no Deployment and no StatefulSet of apps/v1 to convert")
	}
	for _, object := range objects {
		switch {
		case named[referenceOf(object)]:
			result.Objects = append(result.Objects, withoutServerFields(object).Object)
		case !convertible(object):
			result.Losses = append(result.Losses, Loss{Object: describe(object), Loss: podfields.Loss{
				Why: "is not converted: no Workload stands for it, and no converted object names it",
			}})
		}
	}
	result.Objects = append(result.Objects, workloads...)
	return result, nil
}

// read returns the objects of a file, including each item of a List.
func read(in io.Reader) ([]*unstructured.Unstructured, error) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(in))
	var objects []*unstructured.Unstructured
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read a document: %w", err)
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			return nil, fmt.Errorf("document %d is no YAML: %w", len(objects)+1, err)
		}
		switch {
		case len(object.Object) == 0:
		case object.IsList():
			if err := object.EachListItem(func(item runtime.Object) error {
				if typed, ok := item.(*unstructured.Unstructured); ok {
					objects = append(objects, typed)
				}
				return nil
			}); err != nil {
				return nil, fmt.Errorf("read the items of a list: %w", err)
			}
		default:
			objects = append(objects, object)
		}
	}
}

func convertible(object *unstructured.Unstructured) bool {
	return object.GetAPIVersion() == appsv1.SchemeGroupVersion.String() && (object.GetKind() == "Deployment" || object.GetKind() == "StatefulSet")
}

// convert converts one object. The Workload is nil for an object of another kind.
func convert(object *unstructured.Unstructured, o Options) (*v1alpha.Workload, []Loss, error) {
	if !convertible(object) {
		return nil, nil, nil
	}
	raw, err := object.MarshalJSON()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", describe(object), err)
	}
	if object.GetKind() == "Deployment" {
		from := &appsv1.Deployment{}
		if err := yaml.UnmarshalStrict(raw, from); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", describe(object), err)
		}
		workload, losses := FromDeployment(from, o)
		return workload, losses, nil
	}
	from := &appsv1.StatefulSet{}
	if err := yaml.UnmarshalStrict(raw, from); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", describe(object), err)
	}
	workload, losses := FromStatefulSet(from, o)
	return workload, losses, nil
}

// reference identifies a ConfigMap or Secret.
type reference struct {
	namespace string
	templates.DataObject
}

func referenceOf(object *unstructured.Unstructured) reference {
	if object.GetAPIVersion() != "v1" {
		return reference{}
	}
	return reference{object.GetNamespace(), templates.DataObject{Kind: object.GetKind(), Name: object.GetName()}}
}

// missing adds the objects that a Workload names to named, and returns a Loss for each that the file does not contain.
func missing(workload *v1alpha.Workload, objects []*unstructured.Unstructured, named map[reference]bool) []Loss {
	present := map[reference]bool{}
	for _, object := range objects {
		present[referenceOf(object)] = true
	}
	var losses []Loss
	needed, optional := templates.DataObjects(&workload.Spec.Template.Spec)
	for i, data := range append(needed, optional...) {
		wanted := reference{workload.Namespace, data}
		named[wanted] = true
		if !present[wanted] && i < len(needed) {
			losses = append(losses, Loss{Object: data.Kind + " " + data.Name, Loss: podfields.Loss{
				Why: fmt.Sprintf("is not in the file; create it in the project before Workload %s", workload.Name),
			}})
		}
	}
	return losses
}

// withoutServerFields returns an object without the fields that an API server sets.
func withoutServerFields(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	for _, name := range []string{"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation", "selfLink", "ownerReferences", "finalizers"} {
		unstructured.RemoveNestedField(object.Object, "metadata", name)
	}
	unstructured.RemoveNestedField(object.Object, "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")
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
