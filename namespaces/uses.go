// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"slices"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/milo"
)

// Uses reports from the shared cache which projects have Workloads. With Milo, marks on the hub report that, because
// projects that are not engaged are not watched; here all projects are watched.
type Uses struct{ planes *Planes }

var _ milo.Marks = Uses{}

// using are the kinds whose objects show that a project is in use.
func (p *Planes) using() []*kind {
	return []*kind{p.kinds[keyOf(&v1alpha.Workload{})], p.kinds[keyOf(&v1alpha.WorkloadDeployment{})]}
}

// Uses are the projects that have Workloads or WorkloadDeployments.
func (p *Planes) Uses() Uses { return Uses{planes: p} }

// Needed reports whether a project has any.
func (u Uses) Needed(project string) bool {
	return slices.ContainsFunc(u.planes.using(), func(k *kind) bool { return len(k.objects(project)) > 0 })
}

// HasSynced reports whether the cache has all of them.
func (u Uses) HasSynced() bool {
	return !slices.ContainsFunc(u.planes.using(), func(k *kind) bool { return !k.informer.HasSynced() })
}

// OnChange registers f, which is called with the project of each object that is new in the cache.
func (u Uses) OnChange(f func(project string)) {
	for _, using := range u.planes.using() {
		added := toolscache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			if object, ok := obj.(client.Object); ok {
				f(object.GetNamespace())
			}
		}}
		// It fails for an informer that has stopped, with the process.
		_, _ = using.informer.AddEventHandler(added)
	}
}

// Projects returns no project: there are no marks that could outlive theirs.
func (Uses) Projects() []string { return nil }

// Ensure does nothing: the cache has the current state.
func (Uses) Ensure(string) {}

// Leave has nothing to note.
func (Uses) Leave(context.Context, string) (string, error) { return "", nil }

// Remove has nothing to remove.
func (Uses) Remove(context.Context, string, string) (bool, error) { return true, nil }
