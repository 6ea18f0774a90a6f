// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Names in AnnotationIntended, beside the names in sealed.
const (
	intendedTemplate  = "template"
	intendedPartition = "partition.template"
	intendedSchema    = "schema"
	intendedOverrides = "overrides"
)

// sealed are the fields of a spec that an override policy must not change in a cell, by name: the hub counts on them.
// The grants of quota, which hub/quota writes, have an annotation of their own.
var sealed = map[string]func(*v1alpha.WorkloadDeploymentSpec) any{
	"assignment":      func(s *v1alpha.WorkloadDeploymentSpec) any { return s.Assignment },
	"cityCode":        func(s *v1alpha.WorkloadDeploymentSpec) any { return s.CityCode },
	"floor":           func(s *v1alpha.WorkloadDeploymentSpec) any { return s.Floor },
	"minReadySeconds": func(s *v1alpha.WorkloadDeploymentSpec) any { return s.MinReadySeconds },
	intendedOverrides: func(s *v1alpha.WorkloadDeploymentSpec) any { return s.Overrides },
	"networks":        func(s *v1alpha.WorkloadDeploymentSpec) any { return s.Networks },
	"partition.index": func(s *v1alpha.WorkloadDeploymentSpec) any {
		if s.Partition == nil {
			return nil
		}
		return s.Partition.Index
	},
	"partition.indices": func(s *v1alpha.WorkloadDeploymentSpec) any {
		if s.Partition == nil {
			return nil
		}
		return s.Partition.Indices
	},
	"placementName":     func(s *v1alpha.WorkloadDeploymentSpec) any { return s.PlacementName },
	"rollout":           func(s *v1alpha.WorkloadDeploymentSpec) any { return s.Rollout },
	"scaleSettings":     func(s *v1alpha.WorkloadDeploymentSpec) any { return s.ScaleSettings },
	"service":           func(s *v1alpha.WorkloadDeploymentSpec) any { return s.Service },
	"serviceGeneration": func(s *v1alpha.WorkloadDeploymentSpec) any { return s.ServiceGeneration },
	"slices":            func(s *v1alpha.WorkloadDeploymentSpec) any { return s.Slices },
	"surge":             func(s *v1alpha.WorkloadDeploymentSpec) any { return s.Surge },
	"suspended":         func(s *v1alpha.WorkloadDeploymentSpec) any { return s.Suspended },
	"workloadRef":       func(s *v1alpha.WorkloadDeploymentSpec) any { return s.WorkloadRef },
}

// nothing are the texts of fields that are not set.
var nothing = []string{"null", "{}", "[]", `""`, "0", "false"}

// schema is a hash of the structure of a spec. Only a cell with the same structure compares the fields: an older one
// drops what a newer hub has written.
var schema = sync.OnceValue(func() string { return hashOf([]byte(structure(reflect.TypeFor[v1alpha.WorkloadDeploymentSpec]()))) })

// structure describes a type with the JSON names of its fields.
func structure(typ reflect.Type) string {
	switch typ.Kind() { //nolint:exhaustive // All others have no parts.
	case reflect.Pointer, reflect.Slice:
		return "*" + structure(typ.Elem())
	case reflect.Map:
		return "map " + structure(typ.Elem())
	case reflect.Struct:
		parts := make([]string, 0, typ.NumField())
		for field := range typ.Fields() {
			if field.IsExported() {
				parts = append(parts, field.Tag.Get("json")+" "+structure(field.Type))
			}
		}
		return "{" + strings.Join(parts, ";") + "}"
	}
	return typ.Kind().String()
}

// digests are hashes of the sealed fields, by name; "" for a field that is not set.
func digests(full *v1alpha.WorkloadDeploymentSpec) (map[string]string, error) {
	bare := *full
	bare.Template, bare.InstanceTypeResources, bare.Quota = v1alpha.InstanceTemplateSpec{}, nil, nil
	if full.Partition != nil {
		bare.Partition = &v1alpha.WorkloadDeploymentPartition{Index: full.Partition.Index, Indices: full.Partition.Indices}
	}
	spec := canonical(&bare)
	result := make(map[string]string, len(sealed))
	for name, field := range sealed {
		digest, err := digestOf(field(spec))
		if err != nil {
			return nil, fmt.Errorf("encode spec.%s to compare it: %w", name, err)
		}
		result[name] = digest
	}
	return result, nil
}

func digestOf(field any) (string, error) {
	encoded, err := json.Marshal(field)
	if err != nil || slices.Contains(nothing, string(encoded)) {
		return "", err
	}
	return hashOf(encoded), nil
}

// Intended is the value of AnnotationIntended for a copy with this spec.
func Intended(spec *v1alpha.WorkloadDeploymentSpec) (string, error) {
	values, err := digests(spec)
	if err != nil {
		return "", err
	}
	values[intendedSchema] = schema()
	if values[intendedTemplate], err = Hash(&spec.Template); err != nil {
		return "", err
	}
	if spec.Partition != nil {
		if values[intendedPartition], err = Hash(&spec.Partition.Template); err != nil {
			return "", err
		}
	}
	entries := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		entries = append(entries, name+"="+values[name])
	}
	return strings.Join(entries, ","), nil
}

// IntendedQuota is the value of AnnotationIntendedQuota for a copy with this quota.
func IntendedQuota(quota *v1alpha.WorkloadDeploymentQuota) (string, error) {
	encoded, err := json.Marshal(quota)
	if err != nil {
		return "", fmt.Errorf("encode spec.quota to compare it: %w", err)
	}
	return schema() + " " + hashOf(encoded), nil
}

// maxIntended is the longest annotation that is read, in bytes.
const maxIntended = 2048

// intended reads AnnotationIntended. An earlier version of the hub did not write it.
func intended(d *v1alpha.WorkloadDeployment) map[string]string {
	text := d.Annotations[v1alpha.AnnotationIntended]
	if text == "" || len(text) > maxIntended {
		return nil
	}
	result := map[string]string{}
	for entry := range strings.SplitSeq(text, ",") {
		if name, value, ok := strings.Cut(entry, "="); ok {
			result[name] = value
		}
	}
	return result
}

// IntendedHashes returns the hashes of the template and of the partition's template as the hub has sent them; "" if they
// are not known.
func IntendedHashes(d *v1alpha.WorkloadDeployment) (template, partition string) {
	values := intended(d)
	return values[intendedTemplate], values[intendedPartition]
}

// HasTurns reports whether the hub gives cells turns for templates that override policies have changed. An earlier
// version of the hub does not know them.
func HasTurns(d *v1alpha.WorkloadDeployment) bool {
	_, known := intended(d)[intendedOverrides]
	return known
}

// OverriddenFields are the fields of the spec that differ from what the hub has sent and that no override policy may
// change, sorted.
func OverriddenFields(d *v1alpha.WorkloadDeployment) []string {
	var result []string
	if sent := d.Annotations[v1alpha.AnnotationIntendedQuota]; strings.HasPrefix(sent, schema()) && d.Spec.Quota != nil {
		if now, err := IntendedQuota(d.Spec.Quota); err != nil || now != sent {
			result = append(result, "quota")
		}
	}
	values := intended(d)
	if values[intendedSchema] != schema() {
		return result
	}
	now, err := digests(&d.Spec)
	for name := range sealed {
		if sent, known := values[name]; known && (err != nil || now[name] != sent) {
			result = append(result, name)
		}
	}
	slices.Sort(result)
	return result
}

// overriddenMark separates, in the hash of an Instance whose template an override policy has changed, the hash of the
// template that the hub has sent from the hash of the template that the cell has received.
const overriddenMark = "-"

// Content returns the part of an Instance's hash that is of the template that it runs.
func Content(hash string) string {
	if _, content, overridden := strings.Cut(hash, overriddenMark); overridden {
		return content
	}
	return hash
}

// Sent returns the part of an Instance's hash that is of the template that the hub has sent.
func Sent(hash string) string {
	sent, _, _ := strings.Cut(hash, overriddenMark)
	return sent
}

// IsOverridden reports whether an Instance has a template that an override policy has changed.
func IsOverridden(hash string) bool { return strings.Contains(hash, overriddenMark) }

// NameOf returns the hash of new Instances with a template of this version, which the hub has sent as the template with
// hash sent. Existing are the hashes of the Instances that exist: one that has the template is not replaced, whatever
// the hub calls it.
func (v Version) NameOf(sent string, existing map[string]bool) string {
	for _, hash := range slices.Sorted(maps.Keys(existing)) {
		if v.Is(hash) {
			return hash
		}
	}
	if sent == "" || v.Is(sent) {
		return v.Hash
	}
	return sent + overriddenMark + v.Hash
}
