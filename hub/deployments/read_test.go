// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
	"github.com/karmada-compute/karmada-compute/hub/instancetypes"
	"github.com/karmada-compute/karmada-compute/hub/networks"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// catalogue holds the present instance types, and the types of the last answer. asked are the questions.
type catalogue struct {
	now, known []v1alpha.InstanceType
	err        error
	asked      []string
}

func (c *catalogue) Types(context.Context) ([]v1alpha.InstanceType, error) {
	c.asked = append(c.asked, "types")
	return c.known, c.err
}

func (c *catalogue) Fresh(context.Context) ([]v1alpha.InstanceType, error) {
	c.asked = append(c.asked, "fresh")
	return c.now, c.err
}

func (c *catalogue) Confirmed(_ context.Context, age time.Duration) ([]v1alpha.InstanceType, error) {
	c.asked = append(c.asked, "confirmed "+age.String())
	return c.now, c.err
}

func (c *catalogue) Grace() (time.Duration, time.Time) { return 0, time.Time{} }

// TestTypesAreRead: a type that the last answer lacks is looked up again, and a deployment gets its size by a confirmed answer. Only
// such a deployment needs an answer.
func TestTypesAreRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW ORD")
	size := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	known := &catalogue{now: []v1alpha.InstanceType{{
		ObjectMeta: metav1.ObjectMeta{Name: "datumcloud-d1-standard-2"}, Spec: v1alpha.InstanceTypeSpec{
			Resources: size, Lifecycle: v1alpha.InstanceTypeLifecycle{Phase: v1alpha.InstanceTypeActive},
		},
	}}}
	f.reconciler.Types = known
	f.workload(t, "main DFW")
	away := errors.New("the hub does not answer")
	known.err = away
	if err := f.reconcile(t); !errors.Is(err, away) || f.names(t) != "" {
		t.Errorf("without an answer there are %q, %v", f.names(t), err)
	}
	known.err, known.asked = nil, nil
	f.mustReconcile(t)
	want := []string{"types", "fresh", "confirmed " + instancetypes.StartedWithin.String()}
	if !slices.Equal(known.asked[:min(len(want), len(known.asked))], want) {
		t.Errorf("of a new deployment it has asked for %v", known.asked)
	}
	if got := f.readDeployment(t, "web-main-dfw").Spec.InstanceTypeResources; got.Cpu().Value() != 1 {
		t.Errorf("the size is %v", got)
	}
	known.known, known.asked = known.now, nil
	if f.mustReconcile(t); !slices.Equal(known.asked, []string{"types"}) {
		t.Errorf("of a deployment that has its size it has asked for %v", known.asked)
	}
	known.err = away
	f.mustReconcile(t)

	g := newFixture(t, "DFW")
	g.reconciler.Types = &catalogue{err: instancetypes.ErrNotServed}
	g.workload(t, "main DFW")
	g.mustReconcile(t)
	if got := g.readDeployment(t, "web-main-dfw").Spec.InstanceTypeResources; got != nil {
		t.Errorf("without types the size is %v", got)
	}
}

// TestNetworksAreRead: a Workload whose network is missing is requeued. A network without a namespace is in the namespace of the Workload.
func TestNetworksAreRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	f.networks.missing = []string{"default", "shared"}
	planes.Change(t, f.Planes, f.workload(t, "main DFW"), func(w *v1alpha.Workload) {
		of := &w.Spec.Template.Spec
		of.NetworkInterfaces = append(of.NetworkInterfaces, v1alpha.InstanceNetworkInterface{
			Network: v1alpha.NetworkReference{Namespace: "others", Name: "shared"},
		})
	})
	f.mustReconcile(t)
	result, err := f.reconciler.Reconcile(t.Context(), f.request())
	if err != nil || result.RequeueAfter != networks.Retry || f.names(t) != "" {
		t.Errorf("there are %q, and it is requeued after %s, %v", f.names(t), result.RequeueAfter, err)
	}
	message := meta.FindStatusCondition(f.readWorkload(t).Status.Conditions, v1alpha.ConditionAvailable).Message
	for _, want := range []string{"default in namespace " + f.Namespace.Name, "shared in namespace others"} {
		if !strings.Contains(message, want) {
			t.Errorf("it says %q, want %q", message, want)
		}
	}
	f.networks.missing = nil
	if f.mustReconcile(t); f.names(t) != "web-main-dfw" {
		t.Errorf("with its networks there are %q", f.names(t))
	}
}

// TestLocationsAreRead: what runs stays without locations, and another error is one of the reconcile.
func TestLocationsAreRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	f.workload(t, "main DFW")
	f.mustReconcile(t)
	f.locations.cities, f.locations.err = "", fmt.Errorf("list them: %w", cities.ErrLocationsNotServed)
	if f.mustReconcile(t); f.names(t) != "web-main-dfw" {
		t.Errorf("there are %q", f.names(t))
	}
	if got := meta.FindStatusCondition(f.readWorkload(t).Status.Placements[0].Conditions, v1alpha.ConditionAvailable); !strings.Contains(
		got.Message, "install their CustomResourceDefinition") {
		t.Errorf("it says %+v", got)
	}
}

// addresses are the answers of the names of every Workload.
type addresses struct {
	stored []string
	err    error
	asked  []types.UID
}

func (a *addresses) Answers(_ context.Context, _ projects.Origin, workload types.UID) ([]string, error) {
	a.asked = append(a.asked, workload)
	return a.stored, a.err
}

// TestNamesAreRead: the Instances of a city run while the names have its address, or cannot be read. They are read once in a
// reconcile.
func TestNamesAreRead(t *testing.T) {
	t.Parallel()
	f, workload := newServing(t, nil)
	stored := &addresses{stored: []string{"203.0.113.8"}}
	f.reconciler.Names = stored
	after := func(d time.Duration) {
		t.Helper()
		f.clock.SetTime(f.clock.Now().Add(d))
		stored.asked = nil
		f.mustReconcile(t)
	}
	planes.Change(t, f.Planes, workload, inCities("DFW"))
	after(0)
	stored.stored, stored.err = nil, testenv.ErrFault
	after(time.Minute)
	if f.leaving(t, "web-main-ord") || !slices.Equal(stored.asked, []types.UID{workload.UID}) {
		t.Errorf("there are %q, and it has asked for the names of %v", f.names(t), stored.asked)
	}
	stored.err = nil
	after(time.Second)
	after(30 * time.Second)
	if !f.leaving(t, "web-main-ord") {
		t.Error("the Instances do not stop")
	}
}

// TestExposureIsRead: a Workload keeps its exposure while its cities lack what another one needs, and is requeued. Cells that are
// not known are an error. A Workload that wants its exposure again is offered again.
func TestExposureIsRead(t *testing.T) {
	t.Parallel()
	f, workload := newServing(t, nil)
	broken, lacks := error(nil), true
	f.reconciler.Lacking = func(_ context.Context, of []string, wanted v1alpha.ServiceExposure) ([]string, error) {
		if !slices.Equal(of, []string{"DFW", "ORD"}) || wanted != v1alpha.ServiceExposureGateway {
			t.Errorf("it asks whether %v lack %s", of, wanted)
		}
		if lacks {
			return of, broken
		}
		return nil, broken
	}
	planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Spec.Service.Exposure = v1alpha.ServiceExposureGateway })
	result, err := f.reconciler.Reconcile(t.Context(), f.request())
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > settingsInterval {
		t.Errorf("it is requeued after %s, %v", result.RequeueAfter, err)
	}
	f.wantEndpoints(t, "DFW, ORD")
	broken = errors.New("no cache")
	if err := f.reconcile(t); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	broken, lacks = nil, false
	f.mustReconcile(t)
	f.wantEndpoints(t, "DFW "+v1alpha.EndpointLeaving+", ORD "+v1alpha.EndpointLeaving)

	planes.Change(t, f.Planes, workload, func(w *v1alpha.Workload) { w.Spec.Service.Exposure = v1alpha.ServiceExposureLoadBalancer })
	f.Project.Once("patch", v1alpha.KindWorkloadDeployment, func() error {
		planes.Change(t, f.Planes, f.readDeployment(t, "web-main-dfw"), func(d *v1alpha.WorkloadDeployment) { d.Annotations["theirs"] = "1" })
		return nil
	})
	if err := f.reconcile(t); err != nil && !apierrors.IsConflict(err) {
		t.Fatal(err)
	}
	f.mustReconcile(t)
	f.wantEndpoints(t, "DFW, ORD")
	if notes := f.readDeployment(t, "web-main-dfw").Annotations; notes[v1alpha.AnnotationTrafficLeaves] != "" || notes["theirs"] != "1" {
		t.Errorf("a city that is offered again keeps %v", notes)
	}
}

// TestFloorsNeedTheNewestWorkload: floors are not removed by a cache that does not have the budget yet.
func TestFloorsNeedTheNewestWorkload(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "DFW")
	stale := f.workload(t, "main DFW").DeepCopy()
	newest := planes.Change(t, f.Planes, stale.DeepCopy(), func(w *v1alpha.Workload) { w.Spec.MinReadySeconds = new(int32(1)) })
	project, err := projects.Find(t.Context(), f.Planes, planes.ProjectName)
	if err != nil {
		t.Fatal(err)
	}
	facts := &plan.Facts{Deployments: map[string]*v1alpha.WorkloadDeployment{
		"web-main-dfw": {Spec: v1alpha.WorkloadDeploymentSpec{Floor: &v1alpha.AvailabilityFloor{}}},
	}}
	for seen, ends := range map[*v1alpha.Workload]bool{stale: true, newest: false} {
		s := f.reconciler.scope(f.request(), project, seen)
		if err := s.confirmNoBudget(t.Context(), facts); err != nil || s.ended != ends {
			t.Errorf("with generation %d of %d it ends: %t, %v", seen.Generation, newest.Generation, s.ended, err)
		}
	}
}
