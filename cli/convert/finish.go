// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/crds"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// finish lists what must be edited before an API server takes the Workload, by its schema and by admission's own rules.
func (c *converted) finish() error {
	bounds := validation.Bounds{TemplateBytes: validation.TemplateBytes}
	problems := append(validation.Workload(c.workload, nil), validation.Size(c.workload, nil, bounds)...)
	refused := map[string]bool{}
	for _, problem := range problems {
		refused[problem.Field] = true
		c.losses = append(c.losses, c.edit(problem))
	}
	tree, err := treeOf(c.workload)
	if err != nil {
		return err
	}
	schema, err := workloadSchema()
	if err != nil {
		return err
	}
	for _, problem := range validate.NewSchemaValidator(schema, nil, "", strfmt.Default).Validate(tree).Errors {
		path, why, _ := strings.Cut(problem.Error(), " in body ")
		if !refused[path] {
			invalid := &field.Error{Type: field.ErrorTypeInvalid, Field: path, BadValue: field.OmitValueType{}, Detail: why}
			c.losses = append(c.losses, c.edit(invalid))
		}
	}
	return nil
}

// edit is the loss of a field that must be edited.
func (c *converted) edit(problem *field.Error) Loss {
	loss := Loss{Object: "Workload " + c.workload.Name}
	loss.Path, loss.Why = problem.Field, "edit it, admission refuses it: "+problem.ErrorBody()
	return loss
}

// treeOf returns an object as a user would write it, without a status.
func treeOf(object any) (map[string]any, error) {
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode the object: %w", err)
	}
	tree := map[string]any{}
	if err := json.Unmarshal(encoded, &tree); err != nil {
		return nil, fmt.Errorf("decode the object: %w", err)
	}
	delete(tree, "status")
	dropNulls(tree)
	return tree, nil
}

// dropNulls removes fields without a value: some types of Kubernetes write them.
func dropNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			if field == nil {
				delete(value, key)
			}
			dropNulls(field)
		}
	case []any:
		for _, item := range value {
			dropNulls(item)
		}
	}
}

// workloadSchema is the schema of Workloads at API servers.
var workloadSchema = sync.OnceValues(func() (*spec.Schema, error) {
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(crds.Workloads, &definition); err != nil {
		return nil, fmt.Errorf("read the schema of Workloads: %w", err)
	}
	encoded, err := json.Marshal(definition.Spec.Versions[0].Schema.OpenAPIV3Schema)
	if err != nil {
		return nil, fmt.Errorf("encode the schema of Workloads: %w", err)
	}
	schema := &spec.Schema{}
	if err := json.Unmarshal(encoded, schema); err != nil {
		return nil, fmt.Errorf("decode the schema of Workloads: %w", err)
	}
	return schema, nil
})

// rename gives Workloads names of their own: a Deployment and a StatefulSet may have one name, and different names may
// become one.
func (m *manifests) rename() {
	taken := map[string]bool{}
	for _, c := range m.workloads {
		namespace, name := c.workload.Namespace, c.workload.Name
		for n := 2; taken[namespace+"/"+c.workload.Name]; n++ {
			suffix := fmt.Sprintf("-%d", n)
			c.workload.Name = workloadName(name[:min(len(name), mostName-len(suffix))]) + suffix
		}
		if c.workload.Name != name {
			c.losef("metadata.name", "another object has become Workload %s; it is %s here", name, c.workload.Name)
		}
		taken[namespace+"/"+c.workload.Name] = true
	}
}
