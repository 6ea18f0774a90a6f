// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// labelMetered is on the projects whose Instances need quota.
const labelMetered = "features.karmada-compute.dev/quota"

func addQuotaSteps(sc sentences) {
	sc.Step(`^a project of its own with quota for (\d+) Instances$`, func(ctx context.Context, instances int) error {
		s := from(ctx)
		if err := s.registerQuota(ctx); err != nil {
			return err
		}
		if err := s.addProject(ctx, nil); err != nil {
			return err
		}
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{%q:"yes"}}}`, labelMetered))
		if err := s.client("milo", admin).Patch(ctx, newProject(s.project), patch); err != nil {
			return err
		}
		return s.grantQuota(ctx, instances)
	})
	sc.Step(`^the project gets quota for (\d+) Instances$`, func(ctx context.Context, instances int) error {
		return from(ctx).grantQuota(ctx, instances)
	})
}

// perInstance is what each Instance may take of each resource type.
var perInstance = map[string]int64{
	"compute.datumapis.com/instances": 1, "compute.datumapis.com/vcpus": 4000, "compute.datumapis.com/memory": 8192,
}

func quotaObject(kind string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "quota.miloapis.com", Version: "v1alpha1", Kind: kind})
	return object
}

// registerQuota lets the resource types be claimed. It does nothing to projects whose Instances need no quota.
func (s *scenario) registerQuota(ctx context.Context) error {
	for resourceType := range perInstance {
		registration := quotaObject("ResourceRegistration")
		registration.SetName("compute-" + resourceType[len("compute.datumapis.com/"):])
		registration.Object["spec"] = map[string]any{
			"consumerType": map[string]any{"apiGroup": "resourcemanager.miloapis.com", "kind": "Project"},
			"type":         "Allocation", "resourceType": resourceType, "baseUnit": "unit", "displayUnit": "unit", "unitConversionFactor": int64(1),
			"claimingResources": []any{map[string]any{"apiGroup": "compute.datumapis.com", "kind": "Instance"}},
		}
		if err := s.client("milo", admin).Create(ctx, registration); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// grantQuota does what Milo's operators do when a project gets quota.
func (s *scenario) grantQuota(ctx context.Context, instances int) error {
	var allowances []any
	for resourceType, amount := range perInstance {
		allowances = append(allowances, map[string]any{
			"resourceType": resourceType, "buckets": []any{map[string]any{"amount": amount * int64(instances)}},
		})
	}
	grant := quotaObject("ResourceGrant")
	grant.SetNamespace(s.namespace)
	grant.SetName("features")
	grant.Object["spec"] = map[string]any{
		"consumerRef": map[string]any{"apiGroup": "resourcemanager.miloapis.com", "kind": "Project", "name": s.project},
		"allowances":  allowances,
	}
	return s.client("project/"+s.project, admin).Apply(ctx, client.ApplyConfigurationFromUnstructured(grant), client.FieldOwner("features"), client.ForceOwnership)
}
