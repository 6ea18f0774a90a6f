// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/names/probe"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// recordOf is the question whether the zone has the record of a DNSEndpoint, which may be nil.
func recordOf(record *unstructured.Unstructured) []probe.Target {
	if record == nil {
		return nil
	}
	var addresses []string
	for _, endpoint := range specOf(record).Endpoints {
		addresses = append(addresses, endpoint.Targets...)
	}
	return probe.RecordOf(record.GetName(), addresses)
}

// missingOf is since when the zone lacks the record of a DNSEndpoint, which may be nil, as a replica has stored it; "": it has the record.
func missingOf(record *unstructured.Unstructured) string {
	if record == nil {
		return ""
	}
	return record.GetAnnotations()[v1alpha.AnnotationNameMissing]
}

// missing is since when the zone lacks the record of a DNSEndpoint for longer than external-dns and caches may take. A stored time
// stays until the resolver has answered this replica.
func (s *scope) missing(record *unstructured.Unstructured) string {
	if record == nil {
		return ""
	}
	stored := missingOf(record)
	answer, since := s.Prober.Answer(recordOf(record)...)
	_, isUnread := s.Records.unread.written(record.GetName())
	switch {
	case answer == probe.Answers, answer == probe.Unknown:
		return ""
	case answer == probe.Pending, stored != "", isUnread, since.IsZero():
		// A DNSEndpoint that is not read needs no second evidence, and a write would be a reason to read it again.
		return stored
	}
	if wait := s.TTL + reasons.ReadAfter - s.Clock.Since(since); wait > 0 {
		s.requeueAfter.AtMost(wait)
		return ""
	}
	return since.UTC().Format(time.RFC3339)
}

// mark stores since when the zone lacks the record of a DNSEndpoint whose answer does not change.
func (s *scope) mark(ctx context.Context, record *unstructured.Unstructured, since string) error {
	if missingOf(record) == since {
		return nil
	}
	desired, err := s.desired(ctx, record.GetName(), specOf(record).Endpoints, map[string]string{
		v1alpha.AnnotationNameCities:      strings.Join(answered(record), ","),
		v1alpha.AnnotationNameUnreachable: strings.Join(unreachableOf(record), ","), v1alpha.AnnotationNameMissing: since,
	})
	if err != nil {
		return err
	}
	return s.update(ctx, record, desired)
}
