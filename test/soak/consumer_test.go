// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"errors"
	"os"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

func newConsumer(t *testing.T, p *planes.Planes) *consumer {
	return &consumer{
		namespaceIn: func(string) string { return p.Namespace.Name }, projects: map[string]client.Client{"east": p.Project},
		clock: clock.RealClock{}, printf: t.Logf,
		wanted: map[Name]*Wanted{}, pending: map[Name]int{}, setBack: map[string]bool{},
	}
}

// failAndHold makes the first patch fail, and keeps a deleted Workload until it is read.
func failAndHold(t *testing.T, p *planes.Planes, key client.ObjectKey) func(planes.Call) error {
	held, failed := &v1alpha.Workload{}, &atomic.Bool{}
	return func(call planes.Call) error {
		switch {
		case call.Verb == "patch" && failed.CompareAndSwap(false, true):
			return errors.New("a test lets it fail")
		case call.Verb == "delete" && call.Name == key.Name:
			// The add-on keeps it for a while.
			if err := p.Client.Get(t.Context(), key, held); err != nil {
				return err
			}
			controllerutil.AddFinalizer(held, v1alpha.FinalizerWorkload)
			return p.Client.Update(t.Context(), held)
		case call.Verb == "get" && call.Name == key.Name && len(held.Finalizers) > 0:
			controllerutil.RemoveFinalizer(held, v1alpha.FinalizerWorkload)
			return p.Client.Patch(t.Context(), held, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
		}
		return nil
	}
}

// TestConsumer: after its operations the Workloads are as planned; a failed request is counted and repeated; a
// recreated Workload waits until the earlier one is deleted.
func TestConsumer(t *testing.T) {
	p := planes.New(t)
	c := newConsumer(t, p)
	key := client.ObjectKey{Namespace: p.Namespace.Name, Name: "web"}
	p.Project.Before(failAndHold(t, p, key))
	web, api := Name{"east", "web"}, Name{"east", "api"}
	first := &Wanted{Image: "registry.example/app:1", Placements: []Placement{{"p0", []string{"DFW"}, 1}}}
	second := &Wanted{Image: "registry.example/app:2", Placements: []Placement{{"p0", []string{"DFW", "ORD"}, 3}}}
	c.run(t.Context(), time.Now(), []Operation{
		{Verb: Create, Name: web, Wanted: first},
		{Verb: Scale, Name: web, Wanted: second},
		{Verb: Create, Name: api, Wanted: first},
		{Verb: Delete, Name: web},
		{Verb: Create, Name: web, Wanted: first},
		{Verb: Rollout, Name: web, Wanted: second},
		{Verb: Delete, Name: api},
	})
	if len(c.failures) != 1 || c.done != 7 || len(c.latencies) != 8 {
		t.Errorf("%d operations in %d requests, failures %v", c.done, len(c.latencies), c.failures)
	}
	var workload v1alpha.Workload
	if err := p.Client.Get(t.Context(), key, &workload); err != nil || !second.matches(&workload) || first.matches(&workload) {
		t.Errorf("%+v, %v", workload.Spec, err)
	}
	if err := c.removeAll(t.Context()); err != nil {
		t.Error(err)
	}
	if err := p.Client.Get(t.Context(), key, &workload); !apierrors.IsNotFound(err) {
		t.Errorf("it is there after its deletion: %v", err)
	}
}

// TestConsumerOfAProjectSetBack: in a project that was set back, operations fit what exists, and the consumer wants the
// project's Workloads, but for those whose operations are not done.
func TestConsumerOfAProjectSetBack(t *testing.T) {
	p := planes.New(t)
	c := newConsumer(t, p)
	gone, back, stays, waits := Name{"east", "gone"}, Name{"east", "back"}, Name{"east", "stays"}, Name{"east", "waits"}
	other := Name{"west", "other"}
	first := &Wanted{Image: "registry.example/app:1", Placements: []Placement{{"p0", []string{"DFW"}, 1}}}
	second := &Wanted{Image: "registry.example/app:2", Placements: []Placement{{"p0", []string{"DFW", "ORD"}, 3}}}
	for _, name := range []Name{back, stays, waits} {
		if err := p.Client.Create(t.Context(), first.Workload(p.Namespace.Name, name.Workload)); err != nil {
			t.Fatal(err)
		}
	}
	c.wanted = map[Name]*Wanted{gone: first, back: nil, stays: second, waits: second, other: first}
	c.pending[waits] = 1
	c.goesBack("east")
	if err := c.adopt(t.Context(), "east", time.Minute); err != nil {
		t.Fatal(err)
	}
	if want := (map[Name]*Wanted{gone: nil, back: first, stays: first, waits: second, other: first}); !reflect.DeepEqual(c.wanted, want) {
		t.Errorf("it wants %+v", c.wanted)
	}
	c.run(t.Context(), time.Now(), []Operation{
		{Verb: Scale, Name: gone, Wanted: second}, {Verb: Create, Name: back, Wanted: second}, {Verb: Delete, Name: stays},
	})
	if len(c.failures) > 0 || c.done != 3 {
		t.Errorf("%d operations, failures %v", c.done, c.failures)
	}
	for _, name := range []Name{gone, back} {
		var workload v1alpha.Workload
		err := p.Client.Get(t.Context(), client.ObjectKey{Namespace: p.Namespace.Name, Name: name.Workload}, &workload)
		if err != nil || !second.matches(&workload) {
			t.Errorf("%s: %+v, %v", name.Workload, workload.Spec, err)
		}
	}
}
