// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"testing"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func newQueue(t *testing.T) workqueue.TypedRateLimitingInterface[mcreconcile.Request] {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[mcreconcile.Request]())
	t.Cleanup(queue.ShutDown)
	return queue
}

// engage starts the sources of project "p", which end with the context.
func engage(ctx context.Context, t *testing.T, s *sources) *projectSources {
	t.Helper()
	source, engaged, err := s.ForCluster("p", nil)
	if err != nil || !engaged {
		t.Fatalf("engaged is %t: %v", engaged, err)
	}
	if err := source.Start(ctx, newQueue(t)); err != nil {
		t.Fatal(err)
	}
	return s.of("p")
}

func TestAProjectThatNamesNothingIsNotWatched(t *testing.T) {
	p := engage(t.Context(), t, &sources{})
	if err := p.expect("default", nil); err != nil {
		t.Fatal(err)
	}
	if p.metadata != nil || len(p.watched) > 0 || len(p.named) > 0 {
		t.Errorf("got %+v", p)
	}
	if p.reader(v1alpha.KindSecret) != nil {
		t.Error("a kind that is not watched has a reader")
	}
}

func TestSourcesEndWithTheEngagement(t *testing.T) {
	s := &sources{}
	first, end := context.WithCancel(t.Context())
	before := engage(first, t, s)
	// The project is engaged anew before the first engagement has ended.
	after := engage(t.Context(), t, s)
	end()
	s.forget(before)
	if s.of("p") != after {
		t.Error("the end of the first engagement took the second with it")
	}
	s.forget(after)
	if s.of("p") != nil {
		t.Error("the sources are still there")
	}
}

func TestObserve(t *testing.T) {
	p := engage(t.Context(), t, &sources{})
	p.named["default"] = map[v1alpha.DataObject]bool{{Kind: v1alpha.KindSecret, Name: "database"}: true}
	changed := metadataOf(v1alpha.KindSecret)
	changed.Namespace, changed.Name = "default", "other"
	p.observe(v1alpha.KindSecret, changed)
	changed.Name = "database"
	p.observe(v1alpha.KindConfigMap, changed)
	if p.queue.Len() > 0 {
		t.Error("an object that is not named requeues its namespace")
	}
	p.observe(v1alpha.KindSecret, toolscache.DeletedFinalStateUnknown{Key: "default/database", Obj: changed})
	if p.queue.Len() != 1 {
		t.Fatalf("the queue has %d requests", p.queue.Len())
	}
	if got, _ := p.queue.Get(); got != request("p", "default") {
		t.Errorf("got %+v", got)
	}
}

func TestForgetChecks(t *testing.T) {
	p := engage(t.Context(), t, &sources{})
	kept, dropped, elsewhere := secret("a"), secret("b"), item{"other", secret("b").DataObject}
	for _, one := range []item{kept, dropped, elsewhere} {
		p.remember(one, check{source: "uid/1"})
	}
	p.forgetChecks("ns", map[item]*object{kept: {}})
	if p.lastCheck(kept).source == "" || p.lastCheck(elsewhere).source == "" || p.lastCheck(dropped).source != "" {
		t.Errorf("got %v", p.checks)
	}
}
