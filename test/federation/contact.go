// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Contact is the hub's connection to the API server of a cell in push mode. It can be interrupted while all others reach the cell.
type Contact struct {
	listen, server string
	stop           context.CancelFunc
	serving        sync.WaitGroup
	ended          error
}

// Contact puts itself between the hub and a cell. Karmada's controllers use it for what they connect to afterwards: restart them.
func (f *Federation) Contact(ctx context.Context, cell string) (*Contact, error) {
	ports, err := reservePorts(f.folder, 1)
	if err != nil {
		return nil, err
	}
	hub, err := f.plane(planeHub)
	if err != nil {
		return nil, err
	}
	c := &Contact{listen: address(ports[0]), server: address(f.port(planeCell + cell))}
	c.Resume()
	patch := fmt.Appendf(nil, `{"spec":{"apiEndpoint":"https://%s"}}`, c.listen)
	if _, err = hub.dynamic.Resource(clusterResource).Patch(ctx, cell, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: fieldManager}); err != nil {
		return nil, fmt.Errorf("give Cluster %s another address: %w", cell, err)
	}
	return c, nil
}

// Resume lets the hub reach the cell.
func (c *Contact) Resume() {
	ctx, cancel := context.WithCancel(context.Background())
	c.stop = cancel
	balancer := &Balancer{Listen: c.listen, Backends: []string{c.server}, Log: slog.New(slog.DiscardHandler)}
	c.serving.Go(func() { c.ended = balancer.Serve(ctx) })
}

// Interrupt ends all connections of the hub to the cell, and refuses further ones.
func (c *Contact) Interrupt() error {
	c.stop()
	c.serving.Wait()
	return c.ended
}
