// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

// Processes of Karmada and for names that a silence stops.
const karmadaControllers, karmadaScheduler, externalDNS = "karmada-controller-manager", "karmada-scheduler", "external-dns"

// Processes of Milo.
const miloRouter, miloRoot = "milo", "milo-root-kube-apiserver"

// silencer begins a silence, and returns what ends it.
type silencer func(ctx context.Context, s *Silence, one step) (back func(context.Context) error, err error)

// silenceTable are the silences by their kinds. It is never written to.
var silenceTable = map[string]struct {
	begin silencer
	// most is the longest time of a silence that is over by itself; 0: as long as all others.
	most time.Duration
	// milo: only with Milo. ofCell: it is about one cell.
	milo, ofCell bool
}{
	"the hub's API server is away":                {begin: stopped(hubServer)},
	"Milo is away":                                {begin: stopped(miloRouter), milo: true},
	"Milo has lost its storage":                   {begin: emptyMilo, milo: true},
	"Karmada's controllers are away":              {begin: stopped(karmadaScheduler, karmadaControllers)},
	"the agent of a cell is away":                 {begin: moved(stopAgent), ofCell: true},
	"the hub does not reach a cell":               {begin: interrupt, ofCell: true},
	"external-dns is away":                        {begin: stopped(externalDNS)},
	"the annotation of a load balancer is wrong":  {begin: moved(misconfigureBalancer), ofCell: true},
	"a load balancer has no address for a moment": {begin: moved(withholdAddress), most: addressAway, ofCell: true},
	"a Gateway has no address for a moment":       {begin: moved(withholdGateway), most: addressAway, ofCell: true},
	"the hub is set back to a backup":             {begin: setHubBack},
}

// addressAway is how long a controller may leave a Service or a Gateway without an address, as during its upgrade.
const addressAway = 10 * time.Second

// moved is a silence that is a move of the operator's, too.
func moved(move mover) silencer {
	return func(ctx context.Context, s *Silence, one step) (func(context.Context) error, error) {
		return move(ctx, s.Year, one)
	}
}

// stopped stops processes, and starts them in the opposite order.
func stopped(processes ...string) silencer {
	return func(ctx context.Context, s *Silence, _ step) (func(context.Context) error, error) {
		var failed []error
		for _, process := range processes {
			// One that has ended by itself is not started again meanwhile.
			if err := s.processes.Kill(ctx, process); !errors.Is(err, federation.ErrNotRunning) {
				failed = append(failed, err)
			}
		}
		return func(ctx context.Context) error {
			var failed []error
			for _, process := range slices.Backward(processes) {
				failed = append(failed, s.processes.Start(ctx, process))
			}
			return errors.Join(failed...)
		}, errors.Join(failed...)
	}
}

// emptyMilo restarts Milo with an empty storage.
func emptyMilo(ctx context.Context, s *Silence, _ step) (func(context.Context) error, error) {
	restart := func(ctx context.Context, with func(context.Context) error) error {
		// They are not started again meanwhile.
		for _, process := range []string{miloRouter, miloRoot} {
			s.processes.setDown(process, true)
			defer s.processes.setDown(process, false)
		}
		return with(ctx)
	}
	err := restart(ctx, s.Federation.EmptyMilo)
	return func(ctx context.Context) error { return restart(ctx, s.Federation.RestoreMilo) }, err
}

// interrupt ends the contact of the hub to a cell. All others reach the cell.
func interrupt(_ context.Context, s *Silence, one step) (func(context.Context) error, error) {
	contact := s.contacts[one.Cell]
	return func(context.Context) error {
		contact.Resume()
		return nil
	}, contact.Interrupt()
}

// setHubBack sets the hub back to a backup, at the begin of the silence.
func setHubBack(ctx context.Context, s *Silence, one step) (func(context.Context) error, error) {
	restore, err := restoreHub(ctx, s.Year, one)
	if err != nil {
		return nil, err
	}
	return nil, restore(context.WithoutCancel(ctx))
}
