// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"fmt"
	"maps"
	"math"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/milo/quota"
)

// unlimited is the number of Instances that fit if no limit is known.
const unlimited = math.MaxInt

// budget is the project's remaining quota, by resource type. It is a hint: only a claim proves that quota is left. It
// avoids claims that would be denied, determines that Instances with the lowest indices are claimed first, and lets
// messages name the remaining amounts.
type budget struct {
	// readable is false if Milo does not report the remaining quota.
	readable bool
	buckets  map[string]quota.AllowanceBucketStatus
}

// readBudget reads the project's remaining quota.
func (s *scope) readBudget(ctx context.Context) *budget {
	var list quota.AllowanceBucketList
	if err := s.projectAPI.List(ctx, &list); err != nil {
		log.FromContext(ctx).V(1).Info("Milo does not report the remaining quota", "error", err.Error())
		return &budget{}
	}
	result := &budget{readable: true, buckets: map[string]quota.AllowanceBucketStatus{}}
	for i := range list.Items {
		bucket := &list.Items[i]
		if bucket.Spec.ConsumerRef.Kind != "Project" || bucket.Spec.ConsumerRef.Name != s.projectName ||
			bucket.Status.LastReconciliation == nil && bucket.Status.Limit == 0 {
			continue
		}
		sum := result.buckets[bucket.Spec.ResourceType]
		sum.Limit += bucket.Status.Limit
		sum.Available += bucket.Status.Available
		result.buckets[bucket.Spec.ResourceType] = sum
	}
	return result
}

// fits returns how many Instances that hold this much already fit into the remaining quota; unlimited: no limit is
// known. known is false if Milo reports the remaining quota, but not of a requested type.
func (b *budget) fits(requests []quota.Request, holds map[string]int64) (count int, known bool) {
	count, known = unlimited, true
	if !b.readable {
		return count, true
	}
	for _, request := range requests {
		bucket, found := b.buckets[request.ResourceType]
		if !found {
			known = false
			continue
		}
		needed := request.Amount - holds[request.ResourceType]
		if needed > 0 {
			count = int(min(int64(count), max(0, bucket.Available)/needed))
		}
	}
	return count, known
}

var units = map[string]string{
	quota.ResourceTypeInstances: "",
	quota.ResourceTypeVCPUs:     " thousandths of a CPU",
	quota.ResourceTypeMemory:    " MiB",
}

// without returns the remaining quota after this many Instances have been claimed.
func (b *budget) without(instances int, requests []quota.Request) *budget {
	result := &budget{readable: b.readable, buckets: maps.Clone(b.buckets)}
	for _, request := range requests {
		if bucket, found := result.buckets[request.ResourceType]; found {
			bucket.Available -= int64(instances) * request.Amount
			result.buckets[request.ResourceType] = bucket
		}
	}
	return result
}

// explain returns why one more Instance that holds this much already does not fit: the scarce resources, with the
// requested and remaining amounts. The message is "" if that is unknown.
func (b *budget) explain(requests []quota.Request, holds map[string]int64) denial {
	reason := v1alpha.ReasonQuotaExceeded
	var short []string
	for _, request := range requests {
		bucket, found := b.buckets[request.ResourceType]
		needed := request.Amount - holds[request.ResourceType]
		asked := fmt.Sprintf("%s: an Instance needs %d%s", request.ResourceType, request.Amount, units[request.ResourceType])
		switch {
		case !b.readable:
		case !found || bucket.Limit == 0:
			reason = v1alpha.ReasonQuotaNoBudget
			short = append(short, asked+", the project is granted none")
		case bucket.Available < needed:
			short = append(short, fmt.Sprintf("%s, %d of %d are left", asked, max(0, bucket.Available), bucket.Limit))
		}
	}
	return denial{reason, shorten(strings.Join(short, "; "))}
}
