// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
)

// at is an endpoint of a city with addresses since a minute.
func at(city string, serving bool, minute int, addresses ...string) v1alpha.CityEndpoint {
	endpoint := v1alpha.CityEndpoint{City: city, Serving: serving, Since: metav1.NewTime(testBegin.Add(time.Duration(minute) * time.Minute))}
	for _, address := range addresses {
		endpoint.Addresses = append(endpoint.Addresses, v1alpha.EndpointAddress{Type: v1alpha.EndpointAddressIP, Value: address})
	}
	return endpoint
}

func texts(endpoints []v1alpha.CityEndpoint) string {
	text := ""
	for i := range endpoints {
		text += fmt.Sprintf("%s %t %d", endpoints[i].City, endpoints[i].Serving, int(endpoints[i].Since.Sub(testBegin).Minutes()))
		for _, address := range endpoints[i].Addresses {
			text += " " + address.Value
		}
		text += "; "
	}
	return text
}

// TestEndpointsByCity: two deployments of one city have one endpoint, which serves if one of them does.
func TestEndpointsByCity(t *testing.T) {
	t.Parallel()
	leaving := at("DFW", false, 3, "a")
	leaving.Reason = v1alpha.EndpointLeaving
	for name, test := range map[string]struct {
		of   []v1alpha.CityEndpoint
		want string
	}{
		"traffic leaves one":      {[]v1alpha.CityEndpoint{leaving, at("DFW", false, 1, "b")}, "DFW false 1 b; "},
		"traffic leaves another":  {[]v1alpha.CityEndpoint{at("DFW", false, 1, "b"), leaving}, "DFW false 1 b; "},
		"two cities":              {[]v1alpha.CityEndpoint{at("ORD", true, 1, "b"), at("DFW", false, 2, "a")}, "DFW false 2 a; ORD true 1 b; "},
		"one of two serves":       {[]v1alpha.CityEndpoint{at("DFW", false, 1, "a"), at("DFW", true, 2, "b")}, "DFW true 2 b; "},
		"the first of two serves": {[]v1alpha.CityEndpoint{at("DFW", true, 1, "a"), at("DFW", false, 2, "b")}, "DFW true 1 a; "},
		"both serve":              {[]v1alpha.CityEndpoint{at("DFW", true, 2, "b"), at("DFW", true, 1, "a", "b")}, "DFW true 1 a b; "},
		"neither serves":          {[]v1alpha.CityEndpoint{at("DFW", false, 1, "a"), at("DFW", false, 2, "a")}, "DFW false 2 a; "},
	} {
		t.Run(name, func(t *testing.T) {
			var deployments []v1alpha.WorkloadDeployment
			for i := range test.of {
				one := v1alpha.WorkloadDeployment{Status: v1alpha.WorkloadDeploymentStatus{Endpoints: test.of[i : i+1]}}
				one.Spec.Service = &v1alpha.WorkloadService{Exposure: v1alpha.ServiceExposureLoadBalancer}
				one.Name = fmt.Sprint(i)
				deployments = append(deployments, one)
			}
			if got := texts(plan.Endpoints(deployments)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestEndpointsOfAWorkload: the Workload has the endpoints of its cities while it is exposed.
func TestEndpointsOfAWorkload(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	f.requeues = true
	workload := f.workload(t, "main DFW ORD")
	f.mustReconcile(t)
	for name, endpoint := range map[string]v1alpha.CityEndpoint{
		"web-main-dfw": at("DFW", true, 1, "203.0.113.7"), "web-main-ord": at("ORD", false, 1, "203.0.113.8"),
	} {
		changeStatus(t, f, f.readDeployment(t, name), func(d *v1alpha.WorkloadDeployment) {
			d.Status.Endpoints = []v1alpha.CityEndpoint{endpoint}
		})
	}
	for _, test := range []struct {
		exposure v1alpha.ServiceExposure
		want     string
	}{
		{v1alpha.ServiceExposureCluster, ""},
		{v1alpha.ServiceExposureLoadBalancer, "DFW true 1 203.0.113.7; ORD false 1 203.0.113.8; "},
		{"", ""},
	} {
		change(t, f, workload, func(w *v1alpha.Workload) {
			w.Spec.Service = &v1alpha.WorkloadService{
				Ports: []v1alpha.ServicePort{{Port: 80}}, Exposure: test.exposure, DrainSeconds: new(int32(0)),
			}
		})
		f.mustReconcile(t)
		if got := texts(f.readWorkload(t).Status.Endpoints); got != test.want {
			t.Errorf("exposure %q: endpoints %q, want %q", test.exposure, got, test.want)
		}
	}
}

// TestEndpointThatLeaves: traffic leaves a city also when it does not serve for another reason at that moment: its Instances will stop.
func TestEndpointThatLeaves(t *testing.T) {
	t.Parallel()
	for _, serving := range []bool{true, false} {
		d := v1alpha.WorkloadDeployment{Status: v1alpha.WorkloadDeploymentStatus{Endpoints: []v1alpha.CityEndpoint{at("DFW", serving, 2, "a")}}}
		d.Spec.Service = &v1alpha.WorkloadService{Exposure: v1alpha.ServiceExposureLoadBalancer}
		d.Annotations = map[string]string{v1alpha.AnnotationTrafficLeaves: testBegin.Add(3 * time.Minute).Format(time.RFC3339)}
		if !serving {
			d.Status.Endpoints[0].Reason, d.Status.Endpoints[0].Message = v1alpha.ReasonCellNotReady, "Karmada does not reach cell a"
		}
		want := map[bool]string{true: "DFW false 3 a; ", false: "DFW false 2 a; "}[serving]
		got := plan.Endpoints([]v1alpha.WorkloadDeployment{d})
		if texts(got) != want || got[0].Reason != v1alpha.EndpointLeaving || got[0].Message != "" {
			t.Errorf("a city that serves, %t: %+v", serving, got)
		}
	}
}
