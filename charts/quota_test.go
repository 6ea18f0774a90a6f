// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/milo/quota"
)

// registrationSchema is the schema of ResourceRegistrations of the local federation's Milo.
func registrationSchema(t *testing.T) validation.SchemaValidator {
	t.Helper()
	crd := documents(t, "../milo/crds/quota.miloapis.com_resourceregistrations.yaml")[0]
	var typed apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(crd.Object, &typed); err != nil {
		t.Fatal(err)
	}
	var schema apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(typed.Spec.Versions[0].Schema.OpenAPIV3Schema,
		&schema, nil); err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(&schema)
	if err != nil {
		t.Fatal(err)
	}
	return validator
}

// TestQuotaManifests: the add-on's resource types are registered for the kind that claims them, and granted to every
// project; Workloads are counted by Milo, where that is turned on.
func TestQuotaManifests(t *testing.T) {
	schema := registrationSchema(t)
	types := []string{quota.ResourceTypeInstances, quota.ResourceTypeMemory, quota.ResourceTypeVCPUs}
	for _, workloads := range []bool{false, true} {
		t.Run(fmt.Sprintf("workloads %t", workloads), func(t *testing.T) {
			objects := render(t, parts["milo"], set{
				"milo.quota.enabled": true, "milo.quota.workloads": workloads, "milo.quota.grant.instances": 20_000_000,
			})
			want := slices.Clone(types)
			if workloads {
				want = append(want, "compute.datumapis.com/workloads")
			}
			slices.Sort(want)
			var got []string
			for _, object := range objects {
				if object.GetKind() != "ResourceRegistration" {
					continue
				}
				if problems := validation.ValidateCustomResource(nil, object.Object, schema); len(problems) > 0 {
					t.Errorf("%s: %v", id(object), problems)
				}
				resource := query(t, objects, id(object), "{.spec.resourceType}")
				got = append(got, resource)
				claiming, wantKind := query(t, objects, id(object), "{.spec.consumerType.kind} {.spec.claimingResources[*].kind}"), "Project Instance"
				if strings.HasSuffix(resource, "/workloads") {
					wantKind = "Project Workload"
				}
				if claiming != wantKind {
					t.Errorf("%s is claimed by %s", id(object), claiming)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("registered are %v, want %v", got, want)
			}
			const grants = "GrantCreationPolicy/karmada-compute-default"
			granted := strings.Fields(query(t, objects, grants, "{.spec.target.resourceGrantTemplate.spec.allowances[*].resourceType}"))
			if slices.Sort(granted); !slices.Equal(granted, want) {
				t.Errorf("granted are %v, want %v", granted, want)
			}
			template := query(t, objects, grants,
				"{.spec.target.resourceGrantTemplate.metadata.name} {.spec.target.resourceGrantTemplate.spec.consumerRef.name}")
			if template != "{{trigger.metadata.name}}-compute-quota {{trigger.metadata.name}}" {
				t.Errorf("the grant is %s", template)
			}
			if amounts := query(t, objects, grants,
				"{.spec.target.resourceGrantTemplate.spec.allowances[0].buckets[0].amount}"); amounts != "20000000" {
				t.Errorf("the amount of Instances is %s", amounts)
			}
			policy := find(objects, "ClaimCreationPolicy/karmada-compute-workloads")
			if (policy != nil) != workloads {
				t.Fatalf("the policy of Workloads is %v", policy)
			}
			if workloads {
				claim := query(t, objects, id(policy),
					"{.spec.trigger.resource.kind} {.spec.target.resourceClaimTemplate.spec.requests[*].resourceType}")
				if claim != "Workload compute.datumapis.com/workloads" {
					t.Errorf("the policy claims %s", claim)
				}
			}
		})
	}
}
