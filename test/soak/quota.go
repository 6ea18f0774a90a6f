// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// LabelMetered is on the Projects whose Instances need quota.
const LabelMetered = "features.karmada-compute.dev/quota"

// QuotaArgs are the arguments of the hub binary with which the Instances of projects with LabelMetered need quota.
var QuotaArgs = []string{"--quota", "--quota-projects=" + LabelMetered}

// perInstance is the largest amount of each resource type that one Instance takes.
var perInstance = map[string]int64{
	"compute.datumapis.com/instances": 1, "compute.datumapis.com/vcpus": 4000, "compute.datumapis.com/memory": 8192,
}

// quotaInstances is the quota of a metered project, in Instances.
const quotaInstances = 100

func quotaObject(kind string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: fields{}}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "quota.miloapis.com", Version: "v1alpha1", Kind: kind})
	return object
}

// RegisterQuota registers the resource types of Instances at Milo's root.
func RegisterQuota(ctx context.Context, milo client.Client) error {
	for resourceType := range perInstance {
		registration := quotaObject("ResourceRegistration")
		registration.SetName("compute-" + resourceType[len("compute.datumapis.com/"):])
		registration.Object["spec"] = fields{
			"consumerType": fields{"apiGroup": "resourcemanager.miloapis.com", "kind": "Project"},
			"type":         "Allocation", "resourceType": resourceType, "baseUnit": "unit", "displayUnit": "unit", "unitConversionFactor": int64(1),
			"claimingResources": []any{fields{"apiGroup": "compute.datumapis.com", "kind": "Instance"}},
		}
		if err := milo.Create(ctx, registration); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("register resource type %s: %w", resourceType, err)
		}
	}
	return nil
}

// MeterProject labels a Project at Milo's root: its Instances need quota.
func MeterProject(ctx context.Context, milo client.Client, name string) error {
	project := &unstructured.Unstructured{}
	project.SetGroupVersionKind(schema.GroupVersionKind{Group: "resourcemanager.miloapis.com", Version: "v1alpha1", Kind: "Project"})
	project.SetName(name)
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"yes"}}}`, LabelMetered)
	if err := milo.Patch(ctx, project, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		return fmt.Errorf("label project %s as metered: %w", name, err)
	}
	return nil
}

// GrantQuota grants a project quota for Instances, as Milo's operators do.
func GrantQuota(ctx context.Context, project client.Client, name, namespace string, instances int64) error {
	var allowances []any
	for _, resourceType := range slices.Sorted(maps.Keys(perInstance)) {
		allowances = append(allowances, fields{
			"resourceType": resourceType, "buckets": []any{fields{"amount": perInstance[resourceType] * instances}},
		})
	}
	grant := quotaObject("ResourceGrant")
	grant.SetNamespace(namespace)
	grant.SetName("features")
	grant.Object["spec"] = fields{
		"consumerRef": fields{"apiGroup": "resourcemanager.miloapis.com", "kind": "Project", "name": name},
		"allowances":  allowances,
	}
	if err := project.Apply(ctx, client.ApplyConfigurationFromUnstructured(grant), client.FieldOwner("features"),
		client.ForceOwnership); err != nil {
		return fmt.Errorf("grant quota to project %s: %w", name, err)
	}
	return nil
}

// meter requires quota for the Instances of a project: then reports of cells decide which of its claims are deleted.
func (s *Soak) meter(ctx context.Context, project string) error {
	milo := s.collector.planes[miloPlane]
	if err := RegisterQuota(ctx, milo); err != nil {
		return err
	}
	if err := MeterProject(ctx, milo, project); err != nil {
		return err
	}
	return GrantQuota(ctx, s.collector.planes["project/"+project], project, s.namespaceIn(project), quotaInstances)
}
