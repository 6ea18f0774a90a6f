// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

// drained reports whether traffic has left a deployment that is about to lose its Instances or its addresses. The first
// time, it records since when its city is no longer offered. The names must have lost the city, too; drainSeconds later the
// Instances may stop. The records are in the object, so that another replica continues.
func (s *scope) drained(ctx context.Context, existing *v1alpha.WorkloadDeployment) (bool, error) {
	if !existing.DeletionTimestamp.IsZero() || !s.mustDrain(existing) {
		return true, nil
	}
	now := s.Clock.Now()
	records := map[string]string{}
	since, recorded := leavesSince(existing)
	if !recorded || since.After(now) {
		since = now
		records[v1alpha.AnnotationTrafficLeaves] = now.UTC().Format(time.RFC3339)
	}
	left := s.namesLeft(ctx, existing, since)
	end := since.Add(max(s.drainFor(existing), namesPatience))
	if left.known {
		end = left.at.Add(s.drainFor(existing))
	} else {
		s.requeueAfter.AtMost(namesInterval)
	}
	if left.record {
		records[v1alpha.AnnotationNamesLeft] = now.UTC().Format(time.RFC3339)
	}
	if len(records) > 0 {
		if err := apply.AddMetadata(ctx, s.client, FieldManager, existing, metav1.ObjectMeta{Annotations: records}); err != nil {
			return false, fmt.Errorf("record that traffic leaves deployment %s: %w", existing.Name, err)
		}
		s.existing[existing.Name] = existing
	}
	rest := end.Sub(now)
	if rest > 0 {
		s.requeueAfter.AtMost(rest)
		s.leavesUntil(existing.Spec.CityCode, end)
	}
	return rest <= 0, nil
}

// leavesUntil records until when traffic leaves a city.
func (s *scope) leavesUntil(city string, end time.Time) {
	if s.leaving == nil {
		s.leaving = map[string]time.Time{}
	}
	if end.After(s.leaving[city]) {
		s.leaving[city] = end
	}
}

// describeLeaving says which cities traffic leaves, and until when; "" if it leaves none.
func (s *scope) describeLeaving() string {
	if len(s.leaving) == 0 {
		return ""
	}
	end := slices.MaxFunc(slices.Collect(maps.Values(s.leaving)), time.Time.Compare)
	return fmt.Sprintf("traffic leaves %s until %s, when the Instances stop; a smaller spec.service.drainSeconds ends it sooner",
		strings.Join(slices.Sorted(maps.Keys(s.leaving)), ", "), end.UTC().Format(time.RFC3339))
}

// drainFor is drainOf a deployment, or of its Workload if that is less: the drain of a Workload that is being deleted can be shortened,
// too.
func (s *scope) drainFor(existing *v1alpha.WorkloadDeployment) time.Duration {
	drain := s.drainOf(existing.Spec.Service)
	if wanted := s.workload.Spec.Service; wanted.Exposed() {
		drain = min(drain, s.drainOf(wanted))
	}
	return drain
}

// drainOf is how long the Instances of an exposed service run after their city has begun to leave. Without drainSeconds
// it covers the TTL of the names that the add-on writes.
func (s *scope) drainOf(service *v1alpha.WorkloadService) time.Duration {
	if service.DrainSeconds != nil {
		return time.Duration(*service.DrainSeconds) * time.Second
	}
	return max(s.Drain, v1alpha.DefaultDrainSeconds*time.Second)
}

// mustDrain reports whether clients may send traffic to addresses of a deployment that no other deployment has.
func (s *scope) mustDrain(existing *v1alpha.WorkloadDeployment) bool {
	if !existing.Spec.Service.Exposed() || s.drainFor(existing) == 0 {
		return false
	}
	if _, recorded := leavesSince(existing); recorded {
		return true
	}
	kept := s.keptBeside(existing)
	return slices.ContainsFunc(existing.Status.Endpoints, func(e v1alpha.CityEndpoint) bool {
		// Resolvers and connections have the addresses of a city that ceased to serve a moment ago.
		served := e.Serving || s.Clock.Since(e.Since.Time) < s.drainOf(existing.Spec.Service)
		return served && len(notOffered(kept, &e)) > 0
	})
}

// keptBeside are the endpoints that the Workload keeps beside the ones of a deployment.
func (s *scope) keptBeside(leaving *v1alpha.WorkloadDeployment) []v1alpha.CityEndpoint {
	others := maps.Clone(s.existing)
	maps.DeleteFunc(others, func(name string, other *v1alpha.WorkloadDeployment) bool {
		return name == leaving.Name || !s.stays(other)
	})
	return endpointsOf(others)
}

// stays reports whether the Workload wants a deployment to serve clients.
func (s *scope) stays(deployment *v1alpha.WorkloadDeployment) bool {
	return s.workload.DeletionTimestamp.IsZero() && s.workload.Spec.Service.Exposed() && !s.ends(deployment) && s.plan.wants(deployment) &&
		!slices.ContainsFunc(s.plan.deployments, func(desired *v1alpha.WorkloadDeployment) bool {
			return sameDeployment(deployment, desired) && desired.Spec.ScaleSettings.Zero()
		})
}

// notOffered are the addresses of an endpoint that no endpoint that serves has.
func notOffered(endpoints []v1alpha.CityEndpoint, of *v1alpha.CityEndpoint) []v1alpha.EndpointAddress {
	var addresses []v1alpha.EndpointAddress
	for i := range endpoints {
		if endpoints[i].Serving {
			addresses = append(addresses, endpoints[i].Addresses...)
		}
	}
	return slices.DeleteFunc(slices.Clone(of.Addresses), func(a v1alpha.EndpointAddress) bool { return slices.Contains(addresses, a) })
}

// leavesSince is since when traffic leaves a deployment, if that is recorded. A record that cannot be read does not count.
func leavesSince(deployment *v1alpha.WorkloadDeployment) (since time.Time, recorded bool) {
	since, err := time.Parse(time.RFC3339, deployment.Annotations[v1alpha.AnnotationTrafficLeaves])
	return since, err == nil
}

// withdrawExposure lets traffic leave all deployments of a Workload that is no longer exposed, or is exposed otherwise,
// before the Service of any of them loses its addresses: deployments of a cell have one Service.
func (s *scope) withdrawExposure(ctx context.Context) error {
	if s.workload.Spec.Service.Exposed() && !switches(s.workload, s.existing) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.existing)) {
		if !s.ends(s.existing[name]) {
			continue
		}
		drained, err := s.drained(ctx, s.existing[name])
		if err != nil {
			return err
		}
		s.withdrawing = s.withdrawing || !drained
	}
	return nil
}

// keepExposure leaves a deployment its service while traffic leaves the Workload. A new deployment gets
// service generation 0, which never wins over an existing Service.
func (s *scope) keepExposure(existing, desired *v1alpha.WorkloadDeployment) {
	switch {
	case !s.withdrawing:
	case existing.UID != "":
		desired.Spec.Service, desired.Spec.ServiceGeneration = existing.Spec.Service.DeepCopy(), existing.Spec.ServiceGeneration
	case desired.Spec.Service != nil:
		desired.Spec.ServiceGeneration = 0
	}
}

// offerOrDrain offers a city again that the Workload wants. A city that is scaled to no Instances keeps its scale until
// traffic has left it.
func (s *scope) offerOrDrain(ctx context.Context, existing, desired *v1alpha.WorkloadDeployment) error {
	if !desired.Spec.ScaleSettings.Zero() {
		if s.ends(existing) {
			// The record stays until the Service has lost its addresses: the city must not be offered in between.
			return nil
		}
		if s.rolling.leaving[existing.Name] {
			// The last Available Instance is not replaced yet.
			return nil
		}
		return s.offerAgain(ctx, existing)
	}
	if existing.Spec.ScaleSettings.Zero() {
		// The record stays, so that the last report of the cells does not offer the city again.
		return nil
	}
	drained, err := s.drained(ctx, existing)
	if err == nil && !drained {
		desired.Spec.ScaleSettings = *existing.Spec.ScaleSettings.DeepCopy()
	}
	return err
}

// offerAgain removes the records from a deployment that the Workload wants again.
func (s *scope) offerAgain(ctx context.Context, existing *v1alpha.WorkloadDeployment) error {
	if _, marked := existing.Annotations[v1alpha.AnnotationTrafficLeaves]; !marked || isReportEarlier(existing) {
		return nil
	}
	annotations := maps.Clone(existing.Annotations)
	delete(annotations, v1alpha.AnnotationTrafficLeaves)
	delete(annotations, v1alpha.AnnotationNamesLeft)
	return apply.Replace(ctx, s.client, FieldManager, existing, map[string]any{"/metadata/annotations": annotations})
}

// reportDeletion shows in the status of a Workload that is being deleted that no city is offered any more, and until when traffic leaves.
func (s *scope) reportDeletion(ctx context.Context) error {
	next := s.workload.DeepCopy()
	if len(s.workload.Status.Endpoints) > 0 {
		next.Status.Endpoints = endpointsOf(s.existing)
	}
	if message := s.describeLeaving(); message != "" {
		next.Status.Conditions = apply.MergedConditions(next.Status.Conditions, s.stamp(), metav1.Condition{
			Type: v1alpha.ConditionProgressing, Status: metav1.ConditionTrue, Reason: v1alpha.ReasonTrafficLeaves, Message: message,
		})
	}
	if equality.Semantic.DeepEqual(s.workload.Status, next.Status) {
		return nil
	}
	next.Status = ownPart(&next.Status)
	return apply.Status(ctx, s.client, FieldManager, next)
}

// withoutLeaving is an endpoint of a deployment, which does not serve any more if traffic leaves it.
func withoutLeaving(deployment *v1alpha.WorkloadDeployment, endpoint v1alpha.CityEndpoint) v1alpha.CityEndpoint {
	since, leaves := leavesSince(deployment)
	if !leaves || !endpoint.Serving {
		return endpoint
	}
	endpoint.Serving, endpoint.Reason, endpoint.Since = false, v1alpha.EndpointLeaving, metav1.NewTime(since)
	return endpoint
}
