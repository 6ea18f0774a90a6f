// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"net"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/page"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// fleet is a Workload in memory: an API server of the tests takes minutes to store so many Instances.
type fleet struct {
	mu       sync.Mutex
	snapshot *view.Snapshot
	changed  chan struct{}
}

func newFleet(perCity int, cities ...string) *fleet {
	w := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web"}, Spec: v1alpha.WorkloadSpec{
		Template: template("docker.io/library/nginx:1.27"), Placements: []v1alpha.WorkloadPlacement{{
			Name: "main", CityCodes: cities, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: int32(perCity)},
		}},
	}}
	all := int32(perCity * len(cities))
	w.Status.ReplicaCounts = v1alpha.ReplicaCounts{Replicas: all, DesiredReplicas: all, ReadyReplicas: all}
	snapshot := &view.Snapshot{Namespace: "shop", Name: "web", Workload: w, Hidden: map[string]error{}}
	f := &fleet{snapshot: snapshot, changed: make(chan struct{})}
	for _, city := range cities {
		name := naming.DeploymentName("web", "main", city)
		d := v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)}}
		d.Spec = v1alpha.WorkloadDeploymentSpec{
			WorkloadRef: v1alpha.WorkloadReference{Name: "web", UID: "web"}, PlacementName: "main", CityCode: city, Template: w.Spec.Template,
			ScaleSettings: w.Spec.Placements[0].ScaleSettings,
		}
		d.Status.ReplicaCounts = v1alpha.ReplicaCounts{Replicas: int32(perCity), DesiredReplicas: int32(perCity), ReadyReplicas: int32(perCity)}
		f.snapshot.Deployments = append(f.snapshot.Deployments, d)
		for index := range perCity {
			i := v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: naming.InstanceName(name, index), OwnerReferences: []metav1.OwnerReference{d.ControllerReference()},
			}}
			i.Status.Conditions = []metav1.Condition{ready}
			f.snapshot.Instances = append(f.snapshot.Instances, i)
		}
	}
	return f
}

// report writes the state of an Instance.
func (f *fleet) report(instance string, state metav1.Condition) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.snapshot.Instances {
		if f.snapshot.Instances[i].Name == instance {
			meta.SetStatusCondition(&f.snapshot.Instances[i].Status.Conditions, state)
		}
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// State implements page.Source.
func (f *fleet) State(_ context.Context, name string) *page.State {
	f.mu.Lock()
	defer f.mu.Unlock()
	state := &page.State{Namespace: "shop", Loaded: true, Workloads: []view.Overview{
		view.OverviewOf(f.snapshot.Workload, f.snapshot.Deployments, f.snapshot.Now),
	}}
	if name == f.snapshot.Name {
		state.Workload = page.WorkloadOf(f.snapshot, nil, view.ErrLocationsUnread)
	}
	return state
}

// Instances implements page.Source.
func (f *fleet) Instances(_ context.Context, _, first string) []*view.Node {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshot.Tree().From(first, page.MostInstances)
}

// Way implements page.Source.
func (f *fleet) Way(_ context.Context, _, instance string) *view.Way {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshot.WayTo(instance)
}

// Changed implements page.Source.
func (f *fleet) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// TestMany: 5,000 Instances are a few groups, and the user sees each of a group on demand.
func TestMany(t *testing.T) {
	f := newFleet(1000, "AMS", "DFW", "FRA", "ORD", "SIN")
	server := httptest.NewUnstartedServer(nil)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = page.New(page.Options{Source: f, Token: "token", Port: port, Wait: patience})
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	b := visit(t, server.URL+"/token/")
	b.run(chromedp.Click(`a[href="#web"]`))
	b.shows("#workload", "Workload web: 5000 of 5000 Instances are Ready")
	b.shows(".tree", "web-main-sin-0 to -999 Ready 1000 Instances")
	if count := value[int](b, "document.querySelectorAll('*').length"); count > 400 {
		t.Errorf("the page has %d elements", count)
	}
	if bytes := value[int](b, "fetch('state?workload=web').then((r) => r.text()).then((text) => text.length)"); bytes > 30<<10 {
		t.Errorf("the state has %d bytes", bytes)
	}

	b.run(chromedp.Click(`[data-group="web-main-fra-0"]`))
	b.shows(".tree", "web-main-fra-99 Ready", "Show more of 900")
	b.run(chromedp.Click(`[data-more]`))
	b.shows(".tree", "web-main-fra-199 Ready", "Show more of 800")

	refused := is(v1alpha.ConditionReady, metav1.ConditionFalse, v1alpha.ReasonImageUnavailable, "the registry refuses the image")
	f.report("web-main-fra-500", refused)
	b.shows(".verdict", "Instance web-main-fra-500")
	b.shows(".tree", "web-main-fra-0 to -499", "web-main-fra-500 not Ready ImageUnavailable", "web-main-fra-501 to -999")
}
