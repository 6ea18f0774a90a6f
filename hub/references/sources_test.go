// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"testing"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

func newQueue(t *testing.T) workqueue.TypedRateLimitingInterface[mcreconcile.Request] {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[mcreconcile.Request]())
	t.Cleanup(queue.ShutDown)
	return queue
}

// engage creates the sources of a project.
func engage(t *testing.T) *projectSources {
	t.Helper()
	return newSources(projects.Engagement{Project: "p", Context: t.Context(), Queue: newQueue(t)})
}

func TestAProjectThatNamesNothingIsNotWatched(t *testing.T) {
	p := engage(t)
	if err := p.expect("default", nil); err != nil {
		t.Fatal(err)
	}
	if p.metadata != nil || len(p.watched) > 0 || len(p.named) > 0 {
		t.Errorf("got %+v", p)
	}
	if p.reader(templates.KindSecret) != nil {
		t.Error("a kind that is not watched has a reader")
	}
}

func TestObserve(t *testing.T) {
	p := engage(t)
	p.named["default"] = map[templates.DataObject]bool{{Kind: templates.KindSecret, Name: "database"}: true}
	changed := metadataOf(templates.KindSecret)
	changed.Namespace, changed.Name = "default", "other"
	p.observe(templates.KindSecret, changed)
	changed.Name = "database"
	p.observe(templates.KindConfigMap, changed)
	if p.Queue.Len() > 0 {
		t.Error("an object that is not named requeues its namespace")
	}
	p.observe(templates.KindSecret, toolscache.DeletedFinalStateUnknown{Key: "default/database", Obj: changed})
	if p.Queue.Len() != 1 {
		t.Fatalf("the queue has %d requests", p.Queue.Len())
	}
	if got, _ := p.Queue.Get(); got != request("p", "default") {
		t.Errorf("got %+v", got)
	}
}

func TestForgetChecks(t *testing.T) {
	p := engage(t)
	kept, dropped, elsewhere := secret("a"), secret("b"), item{"other", secret("b").DataObject}
	for _, one := range []item{kept, dropped, elsewhere} {
		p.remember(one, check{source: "uid/1"})
	}
	p.forgetChecks("ns", map[item]*object{kept: {}})
	if p.lastCheck(kept).source == "" || p.lastCheck(elsewhere).source == "" || p.lastCheck(dropped).source != "" {
		t.Errorf("got %v", p.checks)
	}
}
