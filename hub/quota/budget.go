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

// unlimited is the number of Instances that fit where nothing is known of a limit.
const unlimited = math.MaxInt

// budget is what the project has left, by resource type. It is a hint: only a claim tells whether quota is left. With it an
// Instance is not claimed in vain, those with the lowest indices are claimed first, and a message can say what is left.
type budget struct {
	// readable is false when Milo does not say what is left.
	readable bool
	buckets  map[string]quota.AllowanceBucketStatus
}

// readBudget reads what the project has left.
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

// fits is how many Instances fit into what is left, that hold this much already; unlimited: as far as is known, any number. known is
// false when Milo says what is left, but nothing of a type.
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

// without is what is left when so many Instances have been claimed.
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

// explain says why not one Instance more fits that holds this much already: the resources of which too little is left, with what
// is asked for and what is left. The message is "" when that is not known.
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
