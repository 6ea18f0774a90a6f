// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"errors"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/deployments"
	"github.com/karmada-compute/karmada-compute/hub/names/probe"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/hub/propagation"
	"github.com/karmada-compute/karmada-compute/hub/repairs"
)

// shared holds the objects that several controllers of one process share.
type shared struct {
	once sync.Once
	// karmada watches karmada-controller-manager, book records the findings on the paths of deployments, and repairer
	// repairs them.
	karmada  *path.KarmadaWatch
	book     *path.Book
	repairer *repairs.Repairer
	// propagation also withdraws what the collector finds to be without an original.
	propagation *propagation.Reconciler
	err         error
	// namespaces has the last UIDs of namespaces in projects.
	namespaces *projects.Namespaces
	// cities has the confirmed cities of cells.
	citiesOnce sync.Once
	cities     *cells.Cities
	citiesErr  error
	// prober asks the addresses in names.
	proberOnce sync.Once
	prober     *probe.Prober
	proberErr  error
}

// asks creates the prober when the first controller needs it.
func (s *shared) asks(t Target) (*probe.Prober, error) {
	s.proberOnce.Do(func() { s.prober, s.proberErr = t.newProber() })
	return s.prober, s.proberErr
}

// setCities creates cities when the first controller needs them.
func (s *shared) setCities(t Target) error {
	s.citiesOnce.Do(func() { s.cities, s.citiesErr = cells.NewCities(t.Manager.GetLocalManager()) })
	return s.citiesErr
}

// hub is the client of the hub for controllers that read Clusters and write none: to them a Cluster has its city only
// if it is confirmed.
func (s *shared) hub(t Target) client.Client {
	return s.cities.Hub(t.Manager.GetLocalManager().GetClient())
}

// set creates the shared objects when the first controller needs them.
func (s *shared) set(t Target) error {
	s.once.Do(func() {
		if s.err = s.setCities(t); s.err != nil {
			return
		}
		local := t.Manager.GetLocalManager()
		s.book = path.NewBook(t.Options.Clock)
		s.karmada = path.NewKarmadaWatch(local.GetAPIReader(), t.Options.Clock)
		indexer := local.GetFieldIndexer()
		s.err = errors.Join(local.Add(s.karmada), path.SliceIndex{}.AddTo(context.Background(), indexer),
			path.WorkIndex{}.AddTo(context.Background(), indexer))
		if s.err == nil {
			s.repairer = repairs.NewRepairer(local.GetClient(), t.Options.Clock, metrics.Registry)
			s.propagation = t.newPropagation(s)
		}
	})
	return s.err
}

// judged returns a function that lists the cells of the hub; none while Karmada has not judged for long enough whether it reaches them.
func (s *shared) judged(t Target) func(context.Context) (cells.Cells, bool, error) {
	hub := s.hub(t)
	return func(ctx context.Context) (cells.Cells, bool, error) {
		state := s.karmada.State()
		if state.Pending || state.Down || state.MayReachFor > 0 {
			return nil, !state.Pending, nil
		}
		all, err := cells.List(ctx, hub)
		return all, true, err
	}
}

func (t Target) newPropagation(s *shared) *propagation.Reconciler {
	local := t.Manager.GetLocalManager()
	return propagation.New(propagation.Options{
		Projects: t.Options.Projects, Hub: s.hub(t), Cities: s.cities, APIReader: local.GetAPIReader(),
		Wanted: deployments.Wants(t.Options.Locations), Namespaces: s.namespaces, Suspension: t.Options.Suspension,
		FailoverAfter: t.Options.FailoverAfter, Clock: t.Options.Clock,
		Metering: t.Options.Metering, Networks: t.binder(), Owners: t.Options.Owners, Grants: projects.NewGrants(local.GetClient()),
	})
}
