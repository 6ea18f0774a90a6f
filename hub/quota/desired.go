// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/milo/quota"
)

// claimName returns the name of the claim for the Instance at an index.
func claimName(deployment string, index int) string {
	return "instance-" + naming.InstanceName(deployment, index)
}

// claimIndex returns the index of the Instance that a claim of this name is for.
func claimIndex(deployment, claim string) (int, bool) {
	instance, found := strings.CutPrefix(claim, "instance-")
	if !found {
		return 0, false
	}
	return naming.InstanceIndex(deployment, instance)
}

// requestsFor returns the claim of an Instance of a size, by resource type.
func requestsFor(size v1alpha.QuotaSize) []quota.Request {
	requests := []quota.Request{{ResourceType: quota.ResourceTypeInstances, Amount: 1}}
	if size.Memory > 0 {
		requests = append(requests, quota.Request{ResourceType: quota.ResourceTypeMemory, Amount: size.Memory})
	}
	if size.VCPUs > 0 {
		requests = append(requests, quota.Request{ResourceType: quota.ResourceTypeVCPUs, Amount: size.VCPUs})
	}
	return requests
}

// desiredClaim returns the claim for the Instance at an index. Its owner in the same namespace keeps Milo from sweeping
// it as a claim whose Instance does not exist yet, and deletes it with the deployment.
func (s *scope) desiredClaim(index int) *quota.ResourceClaim {
	labels := map[string]string{}
	for key, value := range naming.InstanceLabels(s.deployment, index) {
		if strings.HasPrefix(key, v1alpha.GroupVersion.Group+"/") {
			labels[key] = value
		}
	}
	return &quota.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: claimName(s.deployment.Name, index), Namespace: s.deployment.Namespace, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{s.deployment.OwnerReference()},
		},
		Spec: quota.ResourceClaimSpec{
			ConsumerRef: s.consumer(),
			Requests:    requestsFor(templates.SizeOfDeployment(s.copied)),
			ResourceRef: quota.ObjectReference{
				APIGroup: v1alpha.GroupVersion.Group, Kind: v1alpha.KindInstance,
				Name: naming.InstanceName(s.deployment.Name, index), Namespace: s.deployment.Namespace,
			},
		},
	}
}

func (s *scope) consumer() quota.ConsumerRef {
	return quota.ConsumerRef{APIGroup: "resourcemanager.miloapis.com", Kind: "Project", Name: s.projectName}
}

// state is the state of a claim.
type state int

const (
	// absent: no claim exists.
	absent state = iota
	// pending: Milo has not answered.
	pending
	// granted: the claim holds the quota that the Instance needs.
	granted
	// denied: finally.
	denied
	// outdated: it differs from the desired claim: the size has changed, or the claim was edited.
	outdated
	// ending: the claim is being deleted.
	ending
)

// claimed is the claim for an Instance and its state.
type claimed struct {
	claim *quota.ResourceClaim
	state state
	// holds are the amounts that an outdated claim holds.
	holds map[string]int64
	// reason and message are for the condition of the Instance of a denied claim.
	reason, message string
}

// classify determines the state of a claim. Consumers may write claims: a claim is only trusted if its spec matches the
// desired claim, and if Milo has allocated the requested amounts.
func classify(claim, desired *quota.ResourceClaim) claimed {
	result := claimed{claim: claim}
	condition := meta.FindStatusCondition(claim.Status.Conditions, quota.ConditionGranted)
	isGranted := condition != nil && condition.Status == metav1.ConditionTrue
	switch {
	case !claim.DeletionTimestamp.IsZero():
		result.state = ending
	case !sameSpec(&claim.Spec, &desired.Spec) || isGranted && !covers(allocated(claim), desired.Spec.Requests):
		result.state = outdated
		if isGranted && sameParties(&claim.Spec, &desired.Spec) {
			result.holds = allocated(claim)
		}
	case isGranted:
		result.state = granted
	case condition == nil || condition.Status != metav1.ConditionFalse || condition.Reason == quota.ReasonPendingEvaluation:
		result.state = pending
	default:
		result.state = denied
		result.reason, result.message = denialOf(claim, condition)
	}
	return result
}

func sameParties(a, b *quota.ResourceClaimSpec) bool {
	return a.ConsumerRef == b.ConsumerRef && a.ResourceRef == b.ResourceRef
}

func sameSpec(a, b *quota.ResourceClaimSpec) bool {
	sorted := func(requests []quota.Request) []quota.Request {
		return slices.SortedFunc(slices.Values(requests), func(x, y quota.Request) int { return strings.Compare(x.ResourceType, y.ResourceType) })
	}
	return sameParties(a, b) && equality.Semantic.DeepEqual(sorted(a.Requests), sorted(b.Requests))
}

// allocated returns the amounts that a granted claim holds. If Milo reports no amounts, it has granted the requested
// ones, provided that the spec was not edited.
func allocated(claim *quota.ResourceClaim) map[string]int64 {
	amounts := map[string]int64{}
	for _, allocation := range claim.Status.Allocations {
		if allocation.Status == quota.AllocationGranted {
			amounts[allocation.ResourceType] = allocation.AllocatedAmount
		}
	}
	if len(claim.Status.Allocations) == 0 && claim.Generation <= 1 {
		for _, request := range claim.Spec.Requests {
			amounts[request.ResourceType] = request.Amount
		}
	}
	return amounts
}

func covers(holds map[string]int64, requests []quota.Request) bool {
	for _, request := range requests {
		if holds[request.ResourceType] < request.Amount {
			return false
		}
	}
	return true
}

// denialOf returns the reason and message of a denied claim.
func denialOf(claim *quota.ResourceClaim, condition *metav1.Condition) (reason, message string) {
	var messages []string
	for _, allocation := range claim.Status.Allocations {
		if allocation.Status != quota.AllocationGranted && allocation.Message != "" {
			messages = append(messages, allocation.ResourceType+": "+allocation.Message)
		}
	}
	if len(messages) == 0 {
		messages = []string{condition.Message}
	}
	reason = v1alpha.ReasonQuotaExceeded
	if condition.Reason == quota.ReasonValidationFailed {
		reason = v1alpha.ReasonQuotaValidationFailed
	}
	return reason, shorten(fmt.Sprintf("Milo denies the claim: %s", strings.Join(messages, "; ")))
}

func shorten(message string) string { return reasons.Shorten(message, v1alpha.MaxMessage) }
