// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/rollup"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

// quiet is how long nothing must be written until an update counts as finished: Karmada still writes for a moment after the
// object on the hub shows it.
const quiet = time.Second

// warmPatience is the deadline of an update of the warm-up. Karmada may not have observed a new mode yet, and then only the
// next update arrives.
const warmPatience = 30 * time.Second

// sliceKind is in every ResourceBinding of a slice.
var sliceKind = []byte(`"kind":"` + v1alpha.KindInstanceSlice + `"`)

// errWarmUp says that no update of the warm-up arrived, so that nothing can be measured.
var errWarmUp = errors.New("no update of the warm-up arrived")

// carriage measures how Karmada collects the status of one kind of subject, of one size, from a cell on the hub.
type carriage struct {
	name      string
	instances int
	atOnce    int
	updates   int
	resource  schema.GroupVersionResource
	subject   func(name string) (subject, error)

	options  *interpreterOptions
	planes   *carriedPlanes
	numbers  *atomic.Int64
	progress *progress

	arrivals arrivals
	// ledgers count the writes of each kind.
	ledgers map[string]*ledger
	tracks  []*track

	result carried
}

// track is a subject that has a copy in the cell.
type track struct {
	subject

	failures int
}

// run creates the subjects, measures, and deletes them.
func (c *carriage) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	if err := c.watchAll(ctx, cancel); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.remove(ctx)) }()
	c.progress.printf("%s: making %d", c.title(), c.atOnce)
	if err := c.make(ctx); err != nil {
		return fmt.Errorf("create the subjects: %w", err)
	}
	if err := c.warmUp(ctx); errors.Is(err, errWarmUp) && ctx.Err() == nil {
		// That nothing arrives is a result, too.
		c.result.alone.note(false)
		c.progress.printf("%s: %v", c.title(), err)
		return nil
	} else if err != nil {
		return err
	}
	c.progress.printf("%s: %d updates one after the other", c.title(), c.updates)
	if err := c.oneByOne(ctx); err != nil {
		return err
	}
	c.progress.printf("%s: %d at once for %s", c.title(), c.atOnce, c.options.duration)
	return c.allTogether(ctx)
}

// all are the objects of a track.
func (t *track) all() []client.Object { return append(t.beside(), t.object()) }

func (c *carriage) title() string {
	if c.instances == 0 {
		return c.name
	}
	return fmt.Sprintf("%s, %d Instances", c.name, c.instances)
}

// watchAll opens watches for all objects that are written after an update.
func (c *carriage) watchAll(ctx context.Context, failed context.CancelCauseFunc) error {
	c.ledgers = map[string]*ledger{}
	for _, follow := range c.planes.followed(c.resource) {
		counted := c.ledgers[follow.what]
		if counted == nil {
			counted = &ledger{}
			c.ledgers[follow.what] = counted
		}
		note := counted.note
		if follow.what == onHub || follow.what == inBinding {
			// What is in a slice is read in its ResourceBinding; of a deployment, in the object itself.
			ofSlice := follow.what == inBinding
			note = func(event []byte) {
				if bytes.Contains(event, sliceKind) == ofSlice {
					c.arrivals.note(event)
				}
				counted.note(event)
			}
		}
		if err := watch(ctx, follow.config, watchPath(follow.resource, follow.namespace), note, failed); err != nil {
			return err
		}
	}
	return nil
}

// make creates the subjects and waits until each is in the cell.
func (c *carriage) make(ctx context.Context) error {
	for i := range c.atOnce {
		s, err := c.subject(fmt.Sprintf("bench-%d", i))
		if err != nil {
			return err
		}
		for _, object := range append(s.beside(), s.object()) {
			if err := c.planes.hub.Create(ctx, object); err != nil {
				return err
			}
		}
		c.tracks = append(c.tracks, &track{subject: s})
	}
	for _, t := range c.tracks {
		for _, object := range t.all() {
			if err := eventually(ctx, func(ctx context.Context) error {
				return c.planes.cell.Get(ctx, client.ObjectKeyFromObject(object), object)
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// warmUp updates each subject until the hub shows it: Karmada's first updates are slower.
func (c *carriage) warmUp(ctx context.Context) error {
	for _, t := range c.tracks {
		for range c.options.warmup {
			if err := eventually(ctx, func(ctx context.Context) error {
				_, _, err := c.update(ctx, t, warmPatience)
				return err
			}); err != nil {
				return fmt.Errorf("%w: %w", errWarmUp, err)
			}
		}
	}
	return c.settle(ctx)
}

// update writes the next status of a subject in the cell and waits until the hub shows it. It returns how long each took.
func (c *carriage) update(ctx context.Context, t *track, deadline time.Duration) (writing, carrying time.Duration, err error) {
	number := c.numbers.Add(1)
	report, err := t.report(number, time.Now())
	if err != nil {
		return 0, 0, err
	}
	arrived := c.arrivals.expect(number, t.mark(number))
	defer c.arrivals.forget(number)
	began := time.Now()
	for _, object := range report {
		if err := apply.Status(ctx, c.planes.cell, rollup.FieldManager, object); err != nil {
			return 0, 0, err
		}
	}
	wrote := time.Now()
	late := time.NewTimer(deadline)
	defer late.Stop()
	select {
	case at := <-arrived:
		// The hub may show it before the cell has answered.
		return wrote.Sub(began), max(0, at.Sub(wrote)), nil
	case <-late.C:
		return 0, 0, fmt.Errorf("update %d did not arrive within %s", number, deadline)
	case <-ctx.Done():
		return 0, 0, context.Cause(ctx)
	}
}

// writtenSoFar is the sum of writes since the watches were opened, by kind.
func (c *carriage) writtenSoFar() map[string]written {
	sums := map[string]written{}
	for kind, counted := range c.ledgers {
		sums[kind], _ = counted.read()
	}
	return sums
}

// settle waits until nothing has been written for a moment.
func (c *carriage) settle(ctx context.Context) error {
	return eventually(ctx, func(context.Context) error {
		for _, kind := range slices.Sorted(maps.Keys(c.ledgers)) {
			if _, last := c.ledgers[kind].read(); time.Since(last) < quiet {
				return fmt.Errorf("%s is still being written", kind)
			}
		}
		return nil
	})
}

// remove deletes the subjects and waits until Karmada has deleted their copies. When ctx has ended it does nothing, since the
// federation is stopped.
func (c *carriage) remove(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, t := range c.tracks {
		for _, object := range t.all() {
			if err := c.planes.hub.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return eventually(ctx, func(ctx context.Context) error {
		for _, plane := range []client.Client{c.planes.cell, c.planes.hub} {
			for _, t := range c.tracks {
				for _, object := range t.all() {
					err := plane.Get(ctx, client.ObjectKeyFromObject(object), object)
					if err == nil {
						return fmt.Errorf("%s is still there", object.GetName())
					}
					if client.IgnoreNotFound(err) != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}
