// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/steps/containers"
	"github.com/karmada-compute/karmada-compute/test/steps/faults"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// lostInterval is the interval in which a name is resolved until it has lost a cell.
const lostInterval = 50 * time.Millisecond

// loses waits until a name has no address of a cell that was killed, and prints how long that and the hub took.
func (s Steps) loses(ctx context.Context, name, cell string) error {
	var left time.Time
	var problem error
	var watching sync.WaitGroup
	watching.Go(func() {
		problem = federation.Await(ctx, lostInterval, world.Patience, func(ctx context.Context) error { return s.without(ctx, name, cell) })
		left = time.Now()
	})
	lost, err := containers.In(s.Scenario).Lost(ctx, cell)
	watching.Wait()
	if err := errors.Join(err, problem); err != nil {
		return err
	}
	killed := faults.Killed(s.Scenario)
	fmt.Fprintf(s.Out, "%s: the name lost cell %s %.1f s after the kill, %.1f s after the hub\n", s.Name(), cell,
		left.Sub(killed).Seconds(), left.Sub(lost).Seconds())
	return nil
}

// without fails unless a name has addresses, and none of a cell.
func (s Steps) without(ctx context.Context, name, cell string) error {
	addresses, err := s.names().Resolve(ctx, name)
	if err != nil || len(addresses) == 0 {
		return errors.Join(fmt.Errorf("%s has no addresses", name), err)
	}
	for _, address := range addresses {
		if s.names().CellOf(address) == cell {
			return fmt.Errorf("%s has address %s of cell %s", name, address, cell)
		}
	}
	return nil
}
