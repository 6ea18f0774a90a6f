// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// target is a server that is called repeatedly.
type target struct {
	name string
	url  string
	tls  *tls.Config
	body []byte
	// answer must be in every response, or the measurement fails.
	answer []byte
	// pid is the process that answers.
	pid int
}

// result is the performance of a target.
type result struct {
	summary
	perSecond float64
	// cores is the average number of CPUs that the process used. Less than it has means that it waited for other processes.
	cores float64
}

// perCPUSecond is how many requests the process answers in a second of CPU time.
func (r result) perCPUSecond() float64 {
	if r.cores == 0 {
		return 0
	}
	return r.perSecond / r.cores
}

// hammer calls a target from clients with one connection each, which send the next request after the last answer.
func hammer(ctx context.Context, t target, clients int, duration time.Duration) (result, error) {
	before, err := cpuOf(t.pid)
	if err != nil {
		return result{}, err
	}
	var all samples
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for range clients {
		group.Go(func() error { return t.keepCalling(ctx, began.Add(duration), &all) })
	}
	if err := group.Wait(); err != nil {
		return result{}, fmt.Errorf("call %s: %w", t.name, err)
	}
	elapsed := time.Since(began)
	after, err := cpuOf(t.pid)
	if err != nil {
		return result{}, err
	}
	s := all.summary()
	return result{
		summary: s, perSecond: float64(s.count) / elapsed.Seconds(), cores: (after - before).Seconds() / elapsed.Seconds(),
	}, nil
}

// keepCalling is one client.
func (t *target) keepCalling(ctx context.Context, until time.Time, all *samples) error {
	transport := &http.Transport{TLSClientConfig: t.tls.Clone()}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	var took []time.Duration
	for time.Now().Before(until) {
		began := time.Now()
		if err := t.call(ctx, client); err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	all.add(took...)
	return nil
}

func (t *target) call(ctx context.Context, client *http.Client) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(t.body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // all of it has been read
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || !bytes.Contains(body, t.answer) {
		return fmt.Errorf("it was answered with %s: %s", response.Status, body)
	}
	return nil
}
