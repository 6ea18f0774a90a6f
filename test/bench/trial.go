// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// trial is one replica with one number of projects.
type trial struct {
	options  *projectsOptions
	replica  string
	count    int
	progress *progress
	errOut   io.Writer
	caFile   string

	// ready is the time from the start of the process until it was ready, or stopped.
	ready time.Duration
	// stopped is why it was stopped before it was ready, nil if it was not.
	stopped error
	// engaged is the number of engaged projects in the last report of a replica that was stopped.
	engaged        int
	atReady, atEnd memory
	load           miloLoad
	lookups        lookupTimes
}

func (t *trial) run(ctx context.Context) (err error) {
	fake, err := startChild(ctx, t.errOut, nil, "milo", "--projects="+strconv.Itoa(t.count), "--ca="+t.caFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fake.kill()) }()
	address, err := fake.expect(ctx, "listening", nil)
	if err != nil {
		return err
	}
	began := time.Now()
	replica, err := startChild(ctx, t.errOut, nil, t.replica,
		"--milo="+address, "--ca="+t.caFile, "--projects="+strconv.Itoa(t.count), "--lookups="+strconv.Itoa(t.options.lookups))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, replica.kill()) }()
	if err := t.awaitReady(ctx, replica, began); err != nil {
		return err
	}
	// A replica that was stopped still runs, with its watches.
	if t.atReady, err = memoryOf(replica.pid()); err != nil {
		return err
	}
	if err := fake.tell("load"); err != nil {
		return err
	}
	if err := decodeLine(ctx, fake, "load", &t.load); err != nil {
		return err
	}
	if t.stopped != nil {
		t.progress.printf("%v; stopped with %d projects engaged", t.stopped, t.engaged)
		return nil
	}
	return t.lookUp(ctx, replica)
}

// awaitReady waits until the replica is ready or must be stopped.
func (t *trial) awaitReady(ctx context.Context, replica *child, began time.Time) error {
	limited, cancel := t.options.limit(ctx, replica.pid())
	defer cancel()
	said := began
	_, err := replica.expect(limited, "ready", func(line string) {
		if _, err := fmt.Sscanf(line, "engaged %d", &t.engaged); err != nil {
			t.progress.printf("%s: %s", t.replica, line)
		} else if time.Since(said) > time.Second {
			said = time.Now()
			t.progress.printf("%d of %d projects engaged", t.engaged, t.count)
		}
	})
	t.ready = time.Since(began)
	if errors.Is(err, errBudget) || errors.Is(err, errPatience) {
		t.stopped = err
		return nil
	}
	return err
}

func (t *trial) lookUp(ctx context.Context, replica *child) error {
	if err := replica.tell("look up"); err != nil {
		return err
	}
	if err := decodeLine(ctx, replica, "looked-up", &t.lookups); err != nil {
		return err
	}
	var err error
	t.atEnd, err = memoryOf(replica.pid())
	return err
}

// decodeLine waits for a line with a word and JSON, and decodes the JSON.
func decodeLine(ctx context.Context, c *child, word string, into any) error {
	text, err := c.expect(ctx, word, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("%s said %q: %w", c.name, text, err)
	}
	return nil
}
