// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

// DefaultProcesses are the processes that are killed by default: the components of Karmada and the add-on, and the
// kube-apiservers of the hub and of the cells.
var DefaultProcesses = []string{"hub-kube-apiserver", "cell-*-kube-apiserver", "agent/*", "karmada-controller-manager", "replica/*"}

// Names of the processes in Pods.
const (
	agentPrefix   = "agent/"
	replicaPrefix = "replica/"
)

// startTimeout is how long a process may take to be ready again while other processes restart, too.
const startTimeout = federation.ReadyTimeout

// Processes are the processes of a federation that can be killed: by their names, "agent/<cell>" and
// "replica/<number>". They are safe for concurrent use.
type Processes struct {
	federation *federation.Federation
	addOn      *federation.AddOn
	// running holds the federation's processes that ran when the Processes were created.
	running []string

	mu sync.Mutex
	// down holds the killed processes that must not be started yet.
	down map[string]bool
}

// NewProcesses finds the running processes of a federation.
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

// Names returns the names of all processes that can be killed.
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

// replicaOf returns the number of a replica, by its name.
func replicaOf(name string) (number int, is bool) {
	text, is := strings.CutPrefix(name, replicaPrefix)
	number, err := strconv.Atoi(text)
	return number, is && err == nil
}

// Names of the kube-apiservers of projects, which Milo's process starts.
const projectServerPrefix, serverSuffix = "project-plane-", "-kube-apiserver"

// projectServer returns the name of the kube-apiserver of a project.
func projectServer(project string) string { return projectServerPrefix + project + serverSuffix }

// projectOf returns the project of a kube-apiserver, by its name.
func projectOf(name string) (project string, is bool) {
	project, isProject := strings.CutPrefix(name, projectServerPrefix)
	project, isServer := strings.CutSuffix(project, serverSuffix)
	return project, isProject && isServer
}

// Kill ends a process with SIGKILL. A process in a Pod is restarted by its node or its Deployment.
func (p *Processes) Kill(ctx context.Context, name string) error {
	if cell, is := strings.CutPrefix(name, agentPrefix); is {
		return p.addOn.KillAgent(ctx, cell)
	}
	if i, is := replicaOf(name); is {
		// A replica that has restarted by itself has another process id than the stored one.
		if err := p.addOn.Start(ctx, i); err != nil {
			return err
		}
		return p.addOn.Kill(ctx, i)
	}
	p.setDown(name, true)
	return p.federation.KillProcess(name)
}

// KeepDown keeps a killed replica from being replaced until Start. Other processes stay down by themselves, but for
// agents, which their nodes start again.
func (p *Processes) KeepDown(ctx context.Context, name string) error {
	if i, is := replicaOf(name); is {
		return p.addOn.Stop(ctx, i)
	}
	return nil
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

// Start starts a killed process again, or waits for its restart, and returns when it is ready.
func (p *Processes) Start(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if cell, is := strings.CutPrefix(name, agentPrefix); is {
		return p.addOn.WaitAgent(ctx, cell)
	}
	if i, is := replicaOf(name); is {
		return p.addOn.Start(ctx, i)
	}
	p.setDown(name, false)
	if project, is := projectOf(name); is {
		return p.federation.StartProject(ctx, project)
	}
	return p.federation.StartAgain(ctx, name)
}

// StartEnded restarts processes that have ended without being killed, as a kubelet does, and returns their names. A
// kube-scheduler ends when it finds that it has missed the replacement of a Pod, and other processes end when they
// start without their API server.
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
