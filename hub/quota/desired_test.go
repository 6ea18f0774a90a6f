// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/milo/quota"
)

// aClaim returns a claim of one CPU with this condition, and with the amounts that Milo has allocated.
func aClaim(status metav1.ConditionStatus, reason string, vcpus int64) *quota.ResourceClaim {
	claim := &quota.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	claim.Spec = quota.ResourceClaimSpec{
		ConsumerRef: quota.ConsumerRef{Kind: "Project", Name: "north"}, Requests: requestsFor(v1alpha.QuotaSize{VCPUs: 1000}),
		ResourceRef: quota.ObjectReference{Kind: "Instance", Name: "web-0"},
	}
	// Denials have no time.
	claim.Status.Conditions = []metav1.Condition{{Type: "Granted", Status: status, Reason: reason, Message: "Claim denied"}}
	if vcpus > 0 {
		claim.Status.Allocations = []quota.Allocation{
			{ResourceType: quota.ResourceTypeInstances, Status: "Granted", AllocatedAmount: 1},
			{ResourceType: quota.ResourceTypeVCPUs, Status: "Granted", AllocatedAmount: vcpus},
		}
	}
	return claim
}

func TestJudge(t *testing.T) {
	yes, no := metav1.ConditionTrue, metav1.ConditionFalse
	tests := map[string]struct {
		claim     *quota.ResourceClaim
		change    func(*quota.ResourceClaim)
		want      state
		wantHolds int64
		wantMsg   string
	}{
		"granted":                  {claim: aClaim(yes, "QuotaAvailable", 1000), want: granted},
		"granted, without amounts": {claim: aClaim(yes, "QuotaAvailable", 0), want: granted},
		"requests in another order": {
			claim: aClaim(yes, "QuotaAvailable", 1000), change: func(c *quota.ResourceClaim) { r := c.Spec.Requests; r[0], r[1] = r[1], r[0] },
			want: granted,
		},
		"not answered": {claim: aClaim(no, "PendingEvaluation", 0), want: pending},
		"without a condition": {
			claim: aClaim(no, "", 0), change: func(c *quota.ResourceClaim) { c.Status.Conditions = nil }, want: pending,
		},
		"denied":  {claim: aClaim(no, "QuotaExceeded", 0), want: denied, wantMsg: "Claim denied"},
		"refused": {claim: aClaim(no, "ValidationFailed", 0), want: denied, wantMsg: "Claim denied"},
		"being deleted": {
			claim: aClaim(yes, "QuotaAvailable", 1000), change: func(c *quota.ResourceClaim) { c.DeletionTimestamp = new(metav1.Now()) },
			want: ending,
		},
		"less was allocated than is asked": {claim: aClaim(yes, "QuotaAvailable", 1), want: outdated, wantHolds: 1},
		"changed, and Milo says no amounts": {
			claim: aClaim(yes, "QuotaAvailable", 0), change: func(c *quota.ResourceClaim) { c.Generation = 2 }, want: outdated,
		},
		"it asks for less": {
			claim: aClaim(yes, "QuotaAvailable", 1000), change: func(c *quota.ResourceClaim) { c.Spec.Requests[1].Amount = 1 },
			want: outdated, wantHolds: 1000,
		},
		"it is for another Instance": {
			claim: aClaim(yes, "QuotaAvailable", 1000), change: func(c *quota.ResourceClaim) { c.Spec.ResourceRef.Name = "db-0" }, want: outdated,
		},
		"it is for nothing": {
			claim: aClaim(yes, "QuotaAvailable", 1000), change: func(c *quota.ResourceClaim) { c.Spec.ResourceRef = quota.ObjectReference{} },
			want: outdated,
		},
		"somebody else pays": {
			claim: aClaim(yes, "QuotaAvailable", 1000), change: func(c *quota.ResourceClaim) { c.Spec.ConsumerRef.Name = "south" }, want: outdated,
		},
		"partly denied": {
			claim: aClaim(no, "QuotaExceeded", 0),
			change: func(c *quota.ResourceClaim) {
				c.Status.Allocations = []quota.Allocation{
					{ResourceType: quota.ResourceTypeInstances, Status: "Granted", AllocatedAmount: 1},
					{ResourceType: quota.ResourceTypeVCPUs, Status: "Denied", Message: "need 1000, only 3 available"},
				}
			},
			want: denied, wantMsg: "compute.datumapis.com/vcpus: need 1000, only 3 available",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			desired := test.claim.DeepCopy()
			if test.change != nil {
				test.change(test.claim)
			}
			got := classify(test.claim, desired)
			if got.state != test.want || got.holds[quota.ResourceTypeVCPUs] != test.wantHolds || !strings.Contains(got.message, test.wantMsg) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestRefusal(t *testing.T) {
	gr := schema.GroupResource{Group: "quota.miloapis.com", Resource: "resourceclaims"}
	s := &scope{
		Reconciler: &Reconciler{}, projectName: "north",
		deployment: &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}},
	}
	suspended := apierrors.NewForbidden(gr, "c", errors.New("the project is suspended"))
	suspended.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: causeSuspended}}
	tests := map[string]struct {
		err         error
		want        string
		wantMessage string
	}{
		"no registration": {
			apierrors.NewForbidden(gr, "c", errors.New("Resource type 'compute.datumapis.com/vcpus' is not available for quota management")),
			v1alpha.ReasonQuotaMisconfigured, "compute.datumapis.com/vcpus",
		},
		"no registration, else": {
			apierrors.NewForbidden(gr, "c", errors.New("no ResourceRegistration found for x")),
			v1alpha.ReasonQuotaMisconfigured, "ResourceRegistration",
		},
		"Milo's policy": {
			apierrors.NewForbidden(gr, "c", errors.New("Insufficient quota resources available")), v1alpha.ReasonQuotaExceeded, "Insufficient",
		},
		"not permitted": {
			apierrors.NewForbidden(gr, "c", errors.New("no RBAC")), v1alpha.ReasonQuotaMisconfigured, "does not let the add-on",
		},
		"a suspended project": {suspended, v1alpha.ReasonPendingEvaluation, "suspended"},
		"invalid":             {apierrors.NewBadRequest("amount"), v1alpha.ReasonQuotaValidationFailed, "amount"},
		"the namespace is gone": {
			apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "shop"), v1alpha.ReasonQuotaNamespaceNotFound, "shop",
		},
		"the kind is not served": {apierrors.NewNotFound(gr, ""), v1alpha.ReasonQuotaMisconfigured, "does not serve ResourceClaims"},
		"too many requests":      {apierrors.NewTooManyRequests("later", 1), v1alpha.ReasonQuotaBackendUnavailable, "Milo does not answer"},
		"unavailable":            {apierrors.NewServiceUnavailable("down"), v1alpha.ReasonQuotaBackendUnavailable, "Milo does not answer"},
		"no connection": {
			errors.New("dial tcp 10.0.0.1: connection refused"), v1alpha.ReasonQuotaBackendUnavailable, "Milo does not answer",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := s.refusal(t.Context(), test.err); got.reason != test.want || !strings.Contains(got.message, test.wantMessage) {
				t.Errorf("got %+v", got)
			}
		})
	}
}
