// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/karmada-compute/karmada-compute/federation"
)

// DefaultProcesses are those that are killed unless others are named: what Karmada and the add-on consist of, and the
// kube-apiservers of the hub and of the cells.
var DefaultProcesses = []string{"hub-kube-apiserver", "cell-*-kube-apiserver", "agent/*", "karmada-controller-manager", "replica/*"}

// Names of what runs in Pods.
const (
	agentPrefix   = "agent/"
	replicaPrefix = "replica/"
)

// startTimeout is how long a process may take to be ready again, beside others that do so.
const startTimeout = 3 * time.Minute

// Processes are what can be killed in a federation: its processes by their names, "agent/<cell>" and "replica/<number>". They are safe
// for concurrent use.
type Processes struct {
	federation *federation.Federation
	addOn      *federation.AddOn
	// running are the federation's processes that ran when this was made.
	running []string

	mu sync.Mutex
	// down are those that are killed and not to be started yet.
	down map[string]bool
}

// NewProcesses finds what runs in a federation.
func NewProcesses(f *federation.Federation, addOn *federation.AddOn) *Processes {
	p := &Processes{federation: f, addOn: addOn, down: map[string]bool{}}
	known := f.Processes()
	for _, status := range f.Status() {
		if status.Running && slices.Contains(known, status.Name) {
			p.running = append(p.running, status.Name)
		}
	}
	return p
}

// Names returns the names of all that can be killed.
func (p *Processes) Names() []string {
	names := slices.Clone(p.running)
	for _, cell := range p.federation.Cells() {
		names = append(names, agentPrefix+cell.Name)
	}
	for i := range p.addOn.Replicas() {
		names = append(names, replicaPrefix+strconv.Itoa(i))
	}
	slices.Sort(names)
	return names
}

// Kill ends a process with SIGKILL. What runs in a Pod is started again by its node or its Deployment.
func (p *Processes) Kill(ctx context.Context, name string) error {
	if cell, is := strings.CutPrefix(name, agentPrefix); is {
		return p.addOn.KillAgent(ctx, cell)
	}
	if number, is := strings.CutPrefix(name, replicaPrefix); is {
		i, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("replica %q: %w", number, err)
		}
		// One that has restarted by itself is another process than the one that is known.
		if err := p.addOn.Start(ctx, i); err != nil {
			return err
		}
		return p.addOn.Kill(ctx, i)
	}
	p.setDown(name, true)
	return p.federation.KillProcess(name)
}

func (p *Processes) setDown(name string, down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down[name] = down
}

func (p *Processes) isDown(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.down[name]
}

// Start starts a killed process again, or waits until others have, and returns when it is ready.
func (p *Processes) Start(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if cell, is := strings.CutPrefix(name, agentPrefix); is {
		return p.addOn.WaitAgent(ctx, cell)
	}
	if number, is := strings.CutPrefix(name, replicaPrefix); is {
		i, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("replica %q: %w", number, err)
		}
		return p.addOn.Start(ctx, i)
	}
	p.setDown(name, false)
	return p.federation.StartAgain(ctx, name)
}

// StartEnded starts again whatever has ended without being killed, as a kubelet does, and returns its names. A kube-scheduler ends when
// it finds that it has missed that a Pod was replaced, and others do when they start without their API server.
func (p *Processes) StartEnded(ctx context.Context) ([]string, error) {
	var started []string
	var errs []error
	for _, status := range p.federation.Status() {
		if status.Running || !slices.Contains(p.running, status.Name) || p.isDown(status.Name) {
			continue
		}
		started = append(started, status.Name)
		errs = append(errs, p.federation.StartAgain(ctx, status.Name))
	}
	return started, errors.Join(errs...)
}
