// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

const balancer = `{"addresses":["203.0.113.0/24"]}`

// own returns a text with addresses of the fixture's own in the place of 203.0.113.0/24: the fixtures share a hub, and no
// two cities of it may have the same addresses.
func (f *fixture) own(text string) string {
	number, _ := strconv.Atoi(strings.TrimPrefix(f.city, "C"))
	return strings.ReplaceAll(text, "203.0.113.", fmt.Sprintf("10.%d.%d.", number/256, number%256))
}

// newExposed is a fixture whose deployment is exposed, in a cell with a load balancer.
func newExposed(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	expose := func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Service = &v1alpha.WorkloadService{
			Ports: []v1alpha.ServicePort{{Name: "http", Port: 80}}, Exposure: v1alpha.ServiceExposureLoadBalancer,
		}
	}
	f.original = planes.Change(t, f.Planes, f.original, expose)
	f.copied = planes.Change(t, f.Planes, f.copied, expose)
	f.configure(t, f.cell, balancer)
	return f
}

// configure gives a cell the settings of its load balancer, as the confirmed client of the hub shows them.
func (f *fixture) configure(t *testing.T, cell *clusterv1alpha1.Cluster, text string) {
	t.Helper()
	planes.Change(t, f.Planes, cell, func(c *clusterv1alpha1.Cluster) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1alpha.AnnotationLoadBalancer, f.own(text))
	})
}

// reach plays the cell, which reports these addresses and Available Instances.
func (f *fixture) reach(t *testing.T, addresses, available string) {
	t.Helper()
	f.report(t, instance("web-0", f.hash, metav1.ConditionTrue), instance("web-1", f.hash, metav1.ConditionTrue))
	planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		d.Status.Indices[0].Addresses, d.Status.Indices[0].AvailableIndices = f.own(addresses), available
	})
}

// schedule plays Karmada, which schedules the deployment to these cells.
func (f *fixture) schedule(t *testing.T, cells ...*clusterv1alpha1.Cluster) {
	t.Helper()
	planes.Change(t, f.Planes, planes.BindingOf(f.copied), func(b *workv1alpha2.ResourceBinding) {
		b.Spec.Clusters = nil
		for _, cell := range cells {
			b.Spec.Clusters = append(b.Spec.Clusters, workv1alpha2.TargetCluster{Name: cell.Name, Replicas: 1})
		}
	})
}

// evict plays Karmada, which evicts the deployment from its cell to others.
func (f *fixture) evict(t *testing.T, to ...*clusterv1alpha1.Cluster) {
	t.Helper()
	f.schedule(t, to...)
	planes.Change(t, f.Planes, planes.BindingOf(f.copied), func(b *workv1alpha2.ResourceBinding) {
		b.Spec.GracefulEvictionTasks = []workv1alpha2.GracefulEvictionTask{
			{FromCluster: f.cell.Name, Reason: "TaintUntolerated", Producer: "TaintManager"},
		}
	})
}

// endpoint returns the endpoint of the city after a reconcile.
func (f *fixture) endpoint(t *testing.T) v1alpha.CityEndpoint {
	t.Helper()
	f.mustReconcile(t)
	stored := f.readOriginal(t)
	if len(stored.Status.Endpoints) != 1 {
		t.Fatalf("endpoints %+v", stored.Status.Endpoints)
	}
	return stored.Status.Endpoints[0]
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		set       func(*testing.T, *fixture)
		want      string
		addresses string
		reason    string
	}{
		"an address and an Available Instance": {
			func(t *testing.T, f *fixture) { t.Helper(); f.reach(t, "203.0.113.7", "1") }, "", "203.0.113.7", "",
		},
		"the cell has not reported": {func(*testing.T, *fixture) {}, "has reported an address", "", v1alpha.ReasonAwaitingAddress},
		"no address yet": {
			func(t *testing.T, f *fixture) { t.Helper(); f.reach(t, "", "0-1") }, "has reported no address", "", v1alpha.ReasonAwaitingAddress,
		},
		"no Instance is Available": {
			func(t *testing.T, f *fixture) { t.Helper(); f.reach(t, "203.0.113.7", "") }, "is Available", "203.0.113.7",
			v1alpha.ReasonReplicasNotReady,
		},
		"an Instance that the cell has invented": {
			func(t *testing.T, f *fixture) { t.Helper(); f.reach(t, "203.0.113.7", "7") }, "is Available", "203.0.113.7",
			v1alpha.ReasonReplicasNotReady,
		},
		"an address outside of the ranges": {
			func(t *testing.T, f *fixture) { t.Helper(); f.reach(t, "198.51.100.1", "0") }, "not in its ranges", "",
			v1alpha.ReasonAddressRefused,
		},
		"hostile addresses beside a good one": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				f.reach(t, "0.0.0.0,224.0.0.1,203.0.113.7,203.0.113.7", "0")
			}, "", "203.0.113.7", "",
		},
		"an address of another city": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				f.configure(t, f.Cell(t, planes.City()), balancer)
				f.reach(t, "203.0.113.7", "0")
			},
			"of another city", "", v1alpha.ReasonAddressRefused,
		},
		"no settings of the operator": {
			func(t *testing.T, f *fixture) { t.Helper(); f.configure(t, f.cell, ""); f.reach(t, "203.0.113.7", "0") },
			"has not configured", "", v1alpha.ReasonAddressRefused,
		},
		"the cell is lost": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				f.reach(t, "203.0.113.7", "0")
				f.SetReady(t, f.cell, metav1.ConditionFalse, f.now())
			},
			"Karmada does not reach", "203.0.113.7", v1alpha.ReasonCellNotReady,
		},
		"the cell is cordoned": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				f.reach(t, "203.0.113.7", "0")
				planes.ChangeStatus(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) {
					meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
						Type: v1alpha.ConditionComputeNodesSchedulable, Status: metav1.ConditionFalse, Reason: v1alpha.ReasonNodesCordoned,
					})
				})
			},
			"cordoned", "203.0.113.7", v1alpha.ReasonNodesCordoned,
		},
		"the cell moves to another city": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				f.reach(t, "203.0.113.7", "0")
				planes.Change(t, f.Planes, f.cell, func(c *clusterv1alpha1.Cluster) { c.Labels[v1alpha.LabelTopologyCity] = "moved" })
			},
			"no cell of the city", "", v1alpha.ReasonNoMatchingLocation,
		},
		"traffic leaves": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				f.reach(t, "203.0.113.7", "0")
				planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
					d.Annotations[v1alpha.AnnotationTrafficLeaves] = "2026-01-01T00:00:00Z"
				})
			},
			"drainSeconds", "203.0.113.7", v1alpha.EndpointLeaving,
		},
		"Karmada evicts the deployment from the cell": {
			func(t *testing.T, f *fixture) {
				t.Helper()
				f.reach(t, "203.0.113.7", "0")
				f.evict(t)
			},
			"moves the Instances of cell", "203.0.113.7", v1alpha.EndpointLeaving,
		},
		"Karmada has not scheduled the deployment yet": {
			func(t *testing.T, f *fixture) { t.Helper(); f.reach(t, "203.0.113.7", "0"); f.schedule(t) }, "", "203.0.113.7", "",
		},
		"the project is suspended": {
			func(t *testing.T, f *fixture) { t.Helper(); f.reach(t, "203.0.113.7", "0"); f.suspend(t, true) }, "suspended", "203.0.113.7",
			v1alpha.ReasonProjectSuspended,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newExposed(t)
			test.set(t, f)
			got := f.endpoint(t)
			var addresses []string
			for _, address := range got.Addresses {
				addresses = append(addresses, address.Value)
			}
			if got.Serving != (test.reason == "") || got.Reason != test.reason || !strings.Contains(got.Message, test.want) ||
				strings.Join(addresses, " ") != f.own(test.addresses) || got.City != f.city || len(got.Ports) != 1 || got.Ports[0].Port != 80 {
				t.Errorf("endpoint %+v", got)
			}
		})
	}
}

// TestMistypedSettings: settings of a cell that cannot be read cost a city nothing that it has, and the condition of the Service
// names the mistake.
func TestMistypedSettings(t *testing.T) {
	t.Parallel()
	f := newExposed(t)
	f.reach(t, "203.0.113.7", "0")
	before := f.endpoint(t)
	f.configure(t, f.cell, `{"adresses":["203.0.113.0/24"]}`)
	f.reach(t, "203.0.113.7,203.0.113.8", "0")
	if got := f.endpoint(t); !got.Serving || !slices.Equal(got.Addresses, before.Addresses) || !got.Since.Equal(&before.Since) {
		t.Errorf("endpoint %+v, before %+v", got, before)
	}
	found := meta.FindStatusCondition(f.readOriginal(t).Status.Conditions, v1alpha.ConditionServiceProgrammed)
	if found == nil || found.Reason != v1alpha.ReasonAddressRefused || !strings.Contains(found.Message, `unknown field "adresses"`) {
		t.Errorf("condition %+v", found)
	}
}

// TestUnroutedNames: an endpoint has the names of the Workload that the cell reports, and no others.
func TestUnroutedNames(t *testing.T) {
	t.Parallel()
	f := newExposed(t)
	f.original = planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Service.Exposure, d.Spec.Service.Hostnames = v1alpha.ServiceExposureGateway, []string{"a.example.com", "b.example.com"}
	})
	f.reach(t, "203.0.113.7", "0")
	planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		d.Status.Indices[0].UnroutedHostnames = "b.example.com,invented.example.com"
	})
	if got := f.endpoint(t); got.UnroutedHostnames != "b.example.com" || len(got.Addresses) != 1 {
		t.Errorf("endpoint %+v", got)
	}
}

// TestRefusedAddressHasARemedy: an address that is refused is the reason of the Service's condition.
func TestRefusedAddressHasARemedy(t *testing.T) {
	t.Parallel()
	f := newExposed(t)
	f.reach(t, "127.0.0.1,203.0.113.7", "0")
	if got := f.endpoint(t); !got.Serving {
		t.Errorf("endpoint %+v", got)
	}
	found := meta.FindStatusCondition(f.readOriginal(t).Status.Conditions, v1alpha.ConditionServiceProgrammed)
	if found == nil || found.Status != metav1.ConditionFalse || found.Reason != v1alpha.ReasonAddressRefused ||
		!strings.Contains(found.Message, "127.0.0.1") {
		t.Errorf("condition %+v", found)
	}
}

// TestFlappingInstance: the endpoint changes when the last Available Instance goes, and not before.
func TestFlappingInstance(t *testing.T) {
	t.Parallel()
	f := newExposed(t)
	f.reach(t, "203.0.113.7", "0-1")
	first := f.endpoint(t)
	f.clock.SetTime(f.clock.Now().Add(time.Minute))
	for _, available := range []string{"0", "1", "0-1", "0"} {
		f.reach(t, "203.0.113.7", available)
		if got := f.endpoint(t); !equality.Semantic.DeepEqual(got, first) {
			t.Errorf("with Instances %s it is %+v", available, got)
		}
	}
	if writes := f.mustReconcile(t); len(writes) > 0 {
		t.Errorf("what is settled is written: %v", writes)
	}
	f.reach(t, "203.0.113.7", "")
	if got := f.endpoint(t); got.Serving || !got.Since.After(first.Since.Time) {
		t.Errorf("without Instances it is %+v", got)
	}
}

// TestWithdrawnExposure: without exposure there is no endpoint.
func TestWithdrawnExposure(t *testing.T) {
	t.Parallel()
	f := newExposed(t)
	f.reach(t, "203.0.113.7", "0")
	f.endpoint(t)
	f.original = planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) { d.Spec.Service.Exposure = "" })
	f.mustReconcile(t)
	if got := f.readOriginal(t).Status.Endpoints; len(got) > 0 {
		t.Errorf("endpoints %+v", got)
	}
}

// newInTwoCells is newExposed in a city with two cells, of which each runs an Instance.
func newInTwoCells(t *testing.T) (f *fixture, second *clusterv1alpha1.Cluster) {
	t.Helper()
	f = newExposed(t)
	second = f.Cell(t, f.city)
	f.configure(t, second, `{"addresses":["203.0.113.128/25"]}`)
	f.configure(t, f.cell, `{"addresses":["203.0.113.0/25"]}`)
	f.copied = planes.Change(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Assignment.Cells = []v1alpha.CellAssignment{
			{Name: f.cell.Name, Indices: naming.Ranges([]int{0})}, {Name: second.Name, Indices: naming.Ranges([]int{1})},
		}
	})
	return f, second
}

// reachBoth plays both cells, each with its address and Available Instances, and returns the addresses of the city.
func (f *fixture) reachBoth(t *testing.T, second *clusterv1alpha1.Cluster, available [2]string) (v1alpha.CityEndpoint, string) {
	t.Helper()
	f.report(t, instance("web-0", f.hash, metav1.ConditionTrue), instance("web-1", f.hash, metav1.ConditionTrue))
	planes.ChangeReports(t, f.Planes, f.copied, func(d *v1alpha.WorkloadDeployment) {
		for i := range d.Status.Indices {
			one := &d.Status.Indices[i]
			one.Addresses, one.AvailableIndices = f.own("203.0.113.7"), available[0]
			if one.Cell == second.Name {
				one.Addresses, one.AvailableIndices = f.own("203.0.113.200"), available[1]
			}
		}
	})
	got := f.endpoint(t)
	var addresses []string
	for _, address := range got.Addresses {
		addresses = append(addresses, address.Value)
	}
	return got, strings.Join(addresses, " ")
}

// TestCellsOfACity: while Instances move from one cell of a city to another one, the city has the addresses of the cells
// that serve, and serves without a break.
func TestCellsOfACity(t *testing.T) {
	t.Parallel()
	f, second := newInTwoCells(t)
	f.schedule(t, f.cell, second)
	var since metav1.Time
	for _, test := range []struct{ first, second, want string }{
		{"0", "", "203.0.113.7"}, {"0", "1", "203.0.113.200 203.0.113.7"}, {"", "1", "203.0.113.200"},
	} {
		f.clock.SetTime(f.clock.Now().Add(time.Minute))
		got, addresses := f.reachBoth(t, second, [2]string{test.first, test.second})
		if since.IsZero() {
			since = got.Since
		}
		if addresses != f.own(test.want) || !got.Serving || !got.Since.Equal(&since) {
			t.Errorf("with Available Instances %q and %q it is %+v", test.first, test.second, got)
		}
	}
}

// TestKarmadaMovesTheInstances: the address of a cell that Karmada takes a deployment from leaves at once, and not when the
// cell reports no Instance any more.
func TestKarmadaMovesTheInstances(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(*fixture, *testing.T, ...*clusterv1alpha1.Cluster){
		"a WorkloadRebalancer": (*fixture).schedule, "a graceful eviction": (*fixture).evict,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, second := newInTwoCells(t)
			f.schedule(t, f.cell, second)
			if got, addresses := f.reachBoth(t, second, [2]string{"0", "1"}); addresses != f.own("203.0.113.200 203.0.113.7") {
				t.Fatalf("before it is %+v", got)
			}
			move(f, t, second)
			if got := f.endpoint(t); !got.Serving || len(got.Addresses) != 1 || got.Addresses[0].Value != f.own("203.0.113.200") {
				t.Errorf("endpoint %+v", got)
			}
		})
	}
}

// TestEndpointAtAGateway: the addresses of a Gateway have its port, by the operator's settings.
func TestEndpointAtAGateway(t *testing.T) {
	t.Parallel()
	for port, want := range map[string]int32{`,"port":8443`: 8443, "": 443} {
		f := newExposed(t)
		f.configure(t, f.cell, `{"gateway":{"namespace":"infra","name":"public"`+port+`},"addresses":["203.0.113.0/24"]}`)
		f.original = planes.Change(t, f.Planes, f.original, func(d *v1alpha.WorkloadDeployment) {
			d.Spec.Service.Exposure = v1alpha.ServiceExposureGateway
		})
		f.reach(t, "203.0.113.7", "0")
		got := f.endpoint(t)
		if !got.Serving || len(got.Addresses) != 1 || len(got.Ports) != 1 || got.Ports[0].Port != want || got.Ports[0].Protocol != "TCP" {
			t.Errorf("endpoint %+v", got)
		}
	}
}

// TestSilentCellOfACity: a city with a cell that the hub does not hear from is silent, whatever its other cells report: the name of a
// Workload loses few cities for that.
func TestSilentCellOfACity(t *testing.T) {
	t.Parallel()
	for _, lost := range []int{0, 1} {
		f, second := newInTwoCells(t)
		f.schedule(t, f.cell, second)
		available := [2]string{"", ""}
		available[lost] = strconv.Itoa(lost)
		if got, _ := f.reachBoth(t, second, available); !got.Serving {
			t.Fatalf("before it is %+v", got)
		}
		f.SetReady(t, []*clusterv1alpha1.Cluster{f.cell, second}[lost], metav1.ConditionFalse, f.now())
		if got := f.endpoint(t); got.Serving || got.Reason != v1alpha.ReasonCellNotReady {
			t.Errorf("without cell %d it is %+v", lost, got)
		}
	}
}
