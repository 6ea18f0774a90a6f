// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// NamesPatience is how long Instances wait at most for names that cannot be written: names that are broken must not keep
// a Workload from being deleted.
const NamesPatience = 2 * time.Minute

// namesInterval is the interval in which the names are read until they have lost a city.
const namesInterval = time.Second

// Phase is where the traffic of a deployment is.
type Phase string

// Phases of the traffic of a deployment that is about to lose its Instances or its addresses.
const (
	// Leaving: its city is no longer offered, and names may still have its addresses.
	Leaving Phase = "Leaving"
	// NamesLeft: no name has its addresses, and clients may still use them.
	NamesLeft Phase = "NamesLeft"
	// Free: no client uses them, or none ever has.
	Free Phase = "Free"
)

// Traffic is where the traffic of a deployment is that is about to lose its Instances or its addresses.
type Traffic struct {
	Phase Phase
	// Since is when the city ceased to be offered, Left when the names had lost it, and End when its Instances may stop at the
	// latest. A time that is not known is zero.
	Since, Left, End time.Time
}

// leave lets traffic leave a deployment that is about to lose its Instances or its addresses. The first time it records since
// when its city is no longer offered, and later that the names have lost the city.
func (p *Plan) leave(d *v1alpha.WorkloadDeployment) Traffic {
	if !d.DeletionTimestamp.IsZero() || !p.mustDrain(d) {
		return Traffic{Phase: Free}
	}
	traffic := p.trafficOf(d)
	p.record(d, traffic)
	switch remaining := traffic.End.Sub(p.Now); {
	case remaining <= 0:
		traffic.Phase = Free
	default:
		p.Again.AtMost(remaining)
		if city := d.Spec.CityCode; traffic.End.After(p.leaving[city]) {
			p.leaving[city] = traffic.End
		}
	}
	if traffic.Left.IsZero() {
		p.Again.AtMost(namesInterval)
	}
	return traffic
}

// trafficOf finds where the traffic of a deployment is that leaves. Resolvers use an answer for its TTL from the moment on when
// the names have lost the city.
func (p *Plan) trafficOf(d *v1alpha.WorkloadDeployment) Traffic {
	traffic := Traffic{Phase: Leaving, Since: p.Now}
	if since, recorded := leavesSince(d); recorded && !since.After(p.Now) {
		traffic.Since = since
	}
	drain := p.drainFor(d)
	left, err := time.Parse(time.RFC3339, d.Annotations[v1alpha.AnnotationNamesLeft])
	switch recorded := err == nil && !left.After(p.Now) && !left.Before(traffic.Since.Truncate(time.Second)); {
	case p.Answers == nil:
		traffic.Left = traffic.Since
	case recorded:
		traffic.Left = left
	case p.haveNamesLost(d):
		traffic.Left = p.Now
	default:
		// Names that are not known keep the Instances, for NamesPatience.
		traffic.End = traffic.Since.Add(max(drain, NamesPatience))
		return traffic
	}
	traffic.Phase, traffic.End = NamesLeft, traffic.Left.Add(drain)
	return traffic
}

// record adds to a deployment what is not recorded in it yet.
func (p *Plan) record(d *v1alpha.WorkloadDeployment, traffic Traffic) {
	records := map[string]string{}
	if since, recorded := leavesSince(d); !recorded || since.After(p.Now) {
		records[v1alpha.AnnotationTrafficLeaves] = traffic.Since.UTC().Format(time.RFC3339)
	}
	if p.Answers != nil && traffic.Left.Equal(p.Now) && d.Annotations[v1alpha.AnnotationNamesLeft] != traffic.Left.UTC().Format(time.RFC3339) {
		records[v1alpha.AnnotationNamesLeft] = traffic.Left.UTC().Format(time.RFC3339)
	}
	if len(records) == 0 {
		return
	}
	p.Writes = append(p.Writes, Write{Kind: Record, Name: d.Name, Annotations: records})
	annotations := maps.Clone(d.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, records)
	p.annotate(d, annotations)
}

// annotate gives a deployment these annotations in the eyes of the plan.
func (p *Plan) annotate(d *v1alpha.WorkloadDeployment, annotations map[string]string) {
	copied := *d
	copied.Annotations = annotations
	p.deployments[d.Name] = &copied
}

// haveNamesLost reports whether no stored answer has an address of a deployment that no other deployment offers. If no other
// city of a name has an address, the name keeps its last answer and nothing waits for it.
func (p *Plan) haveNamesLost(d *v1alpha.WorkloadDeployment) bool {
	answers, known := p.Answers()
	if !known {
		return false
	}
	kept := p.keptBeside(d)
	replaces := func(e v1alpha.CityEndpoint) bool {
		return len(e.Addresses) > 0 && (e.Serving || e.City != d.Spec.CityCode)
	}
	if p.Workload.DeletionTimestamp.IsZero() && p.Workload.Spec.Service.Exposed() && !p.ends(d) && !slices.ContainsFunc(kept, replaces) {
		return true
	}
	for i := range d.Status.Endpoints {
		for _, address := range notOffered(kept, &d.Status.Endpoints[i]) {
			if slices.Contains(answers, address.Value) {
				return false
			}
		}
	}
	return true
}

// describeLeaving says which cities traffic leaves, and until when; "" if it leaves none.
func (p *Plan) describeLeaving() string {
	if len(p.leaving) == 0 {
		return ""
	}
	end := slices.MaxFunc(slices.Collect(maps.Values(p.leaving)), time.Time.Compare)
	return fmt.Sprintf("traffic leaves %s until %s, when the Instances stop; a smaller spec.service.drainSeconds ends it sooner",
		strings.Join(slices.Sorted(maps.Keys(p.leaving)), ", "), end.UTC().Format(time.RFC3339))
}

// drainFor is drainOf a deployment, or of its Workload if that is less: the drain of a Workload that is being deleted can be shortened,
// too.
func (p *Plan) drainFor(d *v1alpha.WorkloadDeployment) time.Duration {
	drain := p.drainOf(d.Spec.Service)
	if wanted := p.Workload.Spec.Service; wanted.Exposed() {
		drain = min(drain, p.drainOf(wanted))
	}
	return drain
}

// drainOf is how long the Instances of an exposed service run after their city has begun to leave. Without drainSeconds
// it covers the TTL of the names that the add-on writes.
func (s *Settings) drainOf(service *v1alpha.WorkloadService) time.Duration {
	if service.DrainSeconds != nil {
		return time.Duration(*service.DrainSeconds) * time.Second
	}
	return max(s.Drain, v1alpha.DefaultDrainSeconds*time.Second)
}

// mustDrain reports whether clients may send traffic to addresses of a deployment that no other deployment has.
func (p *Plan) mustDrain(d *v1alpha.WorkloadDeployment) bool {
	if !d.Spec.Service.Exposed() || p.drainFor(d) == 0 {
		return false
	}
	if _, recorded := leavesSince(d); recorded {
		return true
	}
	kept := p.keptBeside(d)
	return slices.ContainsFunc(d.Status.Endpoints, func(e v1alpha.CityEndpoint) bool {
		// Resolvers and connections have the addresses of a city that ceased to serve a moment ago.
		served := e.Serving || p.Now.Sub(e.Since.Time) < p.drainOf(d.Spec.Service)
		return served && len(notOffered(kept, &e)) > 0
	})
}

// keptBeside are the endpoints that the Workload keeps beside the ones of a deployment.
func (p *Plan) keptBeside(leaving *v1alpha.WorkloadDeployment) []v1alpha.CityEndpoint {
	others := maps.Clone(p.deployments)
	maps.DeleteFunc(others, func(name string, other *v1alpha.WorkloadDeployment) bool {
		return name == leaving.Name || !p.stays(other)
	})
	return endpointsOf(others)
}

// stays reports whether the Workload wants a deployment to serve clients.
func (p *Plan) stays(d *v1alpha.WorkloadDeployment) bool {
	isStopped := func(i *intent) bool { return i.name == d.Name && i.placement.ScaleSettings.Zero() }
	return p.Workload.Spec.Service.Exposed() && !p.ends(d) && p.wants(d) && !isReplacedIn(p.phaseOf(d)) &&
		!slices.ContainsFunc(p.intents, isStopped)
}

// keepsScale reports whether a deployment keeps its scale: it is to have no Instances, and traffic has not left it. A city that
// the Workload wants is offered again.
func (p *Plan) keepsScale(existing *v1alpha.WorkloadDeployment, wanted *v1alpha.HorizontalScaleSettings) bool {
	switch {
	case wanted.Zero():
		// The record stays, so that the last report of the cells does not offer the city again.
		return !existing.Spec.ScaleSettings.Zero() && p.leave(existing).Phase != Free
	case p.ends(existing):
		// The record stays until the Service has lost its addresses: the city must not be offered in between.
	case p.rolling.leaving[existing.Name]:
		// The last Available Instance is not replaced yet.
	default:
		p.offer(existing)
	}
	return false
}

// offer removes the records from a deployment that the Workload wants again.
func (p *Plan) offer(d *v1alpha.WorkloadDeployment) {
	if _, marked := d.Annotations[v1alpha.AnnotationTrafficLeaves]; !marked || isReportEarlier(d) {
		return
	}
	annotations := maps.Clone(d.Annotations)
	delete(annotations, v1alpha.AnnotationTrafficLeaves)
	delete(annotations, v1alpha.AnnotationNamesLeft)
	p.Writes = append(p.Writes, Write{Kind: Offer, Name: d.Name, Annotations: annotations})
	p.annotate(d, annotations)
}

// notOffered are the addresses of an endpoint that no endpoint that serves has.
func notOffered(endpoints []v1alpha.CityEndpoint, endpoint *v1alpha.CityEndpoint) []v1alpha.EndpointAddress {
	var addresses []v1alpha.EndpointAddress
	for i := range endpoints {
		if endpoints[i].Serving {
			addresses = append(addresses, endpoints[i].Addresses...)
		}
	}
	return slices.DeleteFunc(slices.Clone(endpoint.Addresses), func(a v1alpha.EndpointAddress) bool { return slices.Contains(addresses, a) })
}

// leavesSince is since when traffic leaves a deployment, if that is recorded. A record that cannot be read does not count.
func leavesSince(d *v1alpha.WorkloadDeployment) (since time.Time, recorded bool) {
	since, err := time.Parse(time.RFC3339, d.Annotations[v1alpha.AnnotationTrafficLeaves])
	return since, err == nil
}

// withoutLeaving is an endpoint of a deployment, which does not serve any more if traffic leaves it. Another reason does not count: its
// Instances will stop.
func withoutLeaving(d *v1alpha.WorkloadDeployment, endpoint v1alpha.CityEndpoint) v1alpha.CityEndpoint {
	since, leaves := leavesSince(d)
	if !leaves || endpoint.Reason == v1alpha.EndpointLeaving {
		return endpoint
	}
	if endpoint.Serving {
		endpoint.Since = metav1.NewTime(since)
	}
	endpoint.Serving, endpoint.Reason, endpoint.Message = false, v1alpha.EndpointLeaving, ""
	return endpoint
}
