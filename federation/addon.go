// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Users of the add-on's processes: one for the hub and Milo, one for the cells.
const (
	addOnUser = "karmada-compute"
	agentUser = "karmada-compute-cell"
)

const balancerName = "karmada-compute-balancer"

const (
	// trustDelay and shutdownDelay are shorter than in production: changes
	// propagate on one machine only.
	trustDelay    = 3 * time.Second
	shutdownDelay = 2 * time.Second
)

// AddOnOptions configure the add-on.
type AddOnOptions struct {
	// Replicas of the hub binary. Default 2.
	Replicas int
	// Args are additional arguments of the hub binary.
	Args []string
}

// AddOn is karmada-compute running in a federation: replicas of the hub
// binary behind a balancer, and one process per cell. It is safe for concurrent
// use.
type AddOn struct {
	federation *Federation
	replicas   []replicaPorts
	balancer   int

	mu     sync.Mutex // guards the fields below
	agents map[string]agentPorts
	args   []string
}

type replicaPorts struct{ webhook, metrics, health int }

type agentPorts struct{ metrics, health int }

// StartAddOn builds karmada-compute and karmada-compute-cell from the
// repository, applies their roles, starts the replicas, a balancer in front of
// their webhooks and one process per cell, and waits until all are ready and the
// webhooks are registered. On an error it stops what it started.
func (f *Federation) StartAddOn(ctx context.Context, o AddOnOptions) (*AddOn, error) {
	if o.Replicas == 0 {
		o.Replicas = 2
	}
	if o.Replicas < 0 {
		return nil, fmt.Errorf("%d replicas of the add-on: use 1 or more", o.Replicas)
	}
	a, err := f.newAddOn(o.Replicas)
	if err != nil {
		return nil, err
	}
	a.SetArgs(o.Args...)
	if err := a.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the add-on did not start: %w", err), a.stop())
	}
	return a, nil
}

func (f *Federation) newAddOn(replicas int) (*AddOn, error) {
	ports, err := reservePorts(f.folder, 1+3*replicas+2*len(f.Cells()))
	if err != nil {
		return nil, err
	}
	a := &AddOn{federation: f, balancer: ports[0], agents: map[string]agentPorts{}}
	ports = ports[1:]
	for range replicas {
		a.replicas = append(a.replicas, replicaPorts{webhook: ports[0], metrics: ports[1], health: ports[2]})
		ports = ports[3:]
	}
	for _, cell := range f.Cells() {
		a.agents[cell.Name] = agentPorts{metrics: ports[0], health: ports[1]}
		ports = ports[2:]
	}
	return a, nil
}

func (a *AddOn) start(ctx context.Context) error {
	f := a.federation
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return f.buildOwn(groupCtx, "./cmd/karmada-compute", "./cmd/karmada-compute-cell")
	})
	group.Go(func() error { return a.applyAccess(groupCtx) })
	if err := group.Wait(); err != nil {
		return err
	}
	f.progress.printf("add-on is built, its roles are applied")
	group, groupCtx = errgroup.WithContext(ctx)
	for i := range a.replicas {
		group.Go(func() error { return a.Start(groupCtx, i) })
	}
	for _, cell := range f.Cells() {
		group.Go(func() error { return a.StartAgent(groupCtx, cell.Name) })
	}
	group.Go(func() error { return a.Route(groupCtx, a.all()...) })
	if err := group.Wait(); err != nil {
		return err
	}
	if err := a.waitWebhooks(ctx); err != nil {
		return err
	}
	f.progress.printf("add-on is up")
	return nil
}

// stop stops every process of the add-on and deletes its record.
func (a *AddOn) stop() error {
	names := []string{balancerName}
	for i := range a.replicas {
		names = append(names, replicaName(i))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for cell := range a.agents {
		names = append(names, agentName(cell))
	}
	var errs []error
	for _, name := range names {
		if _, err := a.federation.record(name); err == nil {
			errs = append(errs, a.federation.StopProcess(name), os.Remove(a.federation.recordFile(name)))
		}
	}
	return errors.Join(errs...)
}

// SetArgs replaces AddOnOptions.Args for replicas that are started later.
func (a *AddOn) SetArgs(args ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.args = args
}

// Replicas returns the number of replicas of the hub binary.
func (a *AddOn) Replicas() int { return len(a.replicas) }

// Start starts replica i, counted from 0, at its fixed addresses and waits until
// it is ready. args are added to the arguments of the binary.
func (a *AddOn) Start(ctx context.Context, i int, args ...string) error {
	if err := a.checkReplica(i); err != nil {
		return err
	}
	f, ports := a.federation, a.replicas[i]
	hub, err := f.Kubeconfig(planeHub, addOnUser)
	if err != nil {
		return err
	}
	milo, err := f.Kubeconfig(planeMilo, addOnUser)
	if err != nil {
		return err
	}
	a.mu.Lock()
	args = append(slices.Clone(a.args), args...)
	a.mu.Unlock()
	return f.start(ctx, Process{
		Name: replicaName(i), Path: filepath.Join(f.binFolder(), "karmada-compute"),
		Args: append([]string{
			"--kubeconfig=" + hub, "--milo-kubeconfig=" + milo, "--replica-name=" + replicaName(i),
			"--webhook-bind-address=127.0.0.1", "--webhook-port=" + strconv.Itoa(ports.webhook), "--webhook-url=https://" + address(a.balancer),
			"--client-ca-file=" + f.pki.caFile(), "--authorization-always-allow-groups=" + miloServer,
			"--webhook-ca-trust-delay=" + trustDelay.String(), "--shutdown-delay-duration=" + shutdownDelay.String(),
			"--metrics-bind-address=" + address(ports.metrics), "--health-probe-bind-address=" + address(ports.health),
		}, args...),
		Ready: httpReady(plainClient, "http://"+address(ports.health)+"/readyz"),
	})
}

// Stop ends replica i with SIGTERM and waits until it is gone.
func (a *AddOn) Stop(i int) error {
	if err := a.checkReplica(i); err != nil {
		return err
	}
	return a.federation.StopProcess(replicaName(i))
}

// Kill ends replica i with SIGKILL and waits until it is gone.
func (a *AddOn) Kill(i int) error {
	if err := a.checkReplica(i); err != nil {
		return err
	}
	return a.federation.KillProcess(replicaName(i))
}

// AddCell extends the add-on to a cell that was added to the federation: it
// applies the roles of the add-on's process in the cell and starts it.
func (a *AddOn) AddCell(ctx context.Context, cell string) error {
	if _, err := a.federation.cell(cell); err != nil {
		return err
	}
	ports, err := reservePorts(a.federation.folder, 2)
	if err != nil {
		return err
	}
	if err := a.applyAccessTo(ctx, cell); err != nil {
		return err
	}
	a.mu.Lock()
	a.agents[cell] = agentPorts{metrics: ports[0], health: ports[1]}
	a.mu.Unlock()
	return a.StartAgent(ctx, cell)
}

func (a *AddOn) agent(cell string) (agentPorts, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ports, ok := a.agents[cell]
	if !ok {
		return ports, fmt.Errorf("the add-on does not run in a cell %q", cell)
	}
	return ports, nil
}

// StartAgent starts the add-on's process in a cell and waits until it is ready.
func (a *AddOn) StartAgent(ctx context.Context, cell string) error {
	ports, err := a.agent(cell)
	if err != nil {
		return err
	}
	f := a.federation
	kubeconfig, err := f.Kubeconfig(planeCell+cell, agentUser)
	if err != nil {
		return err
	}
	return f.start(ctx, Process{
		Name: agentName(cell), Path: filepath.Join(f.binFolder(), "karmada-compute-cell"),
		Args: []string{
			"--kubeconfig=" + kubeconfig, "--cell=" + cell,
			"--metrics-bind-address=" + address(ports.metrics), "--health-probe-bind-address=" + address(ports.health),
		},
		Ready: httpReady(plainClient, "http://"+address(ports.health)+"/readyz"),
	})
}

// StopAgent stops the add-on's process in a cell and waits until it is gone.
func (a *AddOn) StopAgent(cell string) error {
	if _, err := a.agent(cell); err != nil {
		return err
	}
	return a.federation.StopProcess(agentName(cell))
}

// Route makes the balancer distribute calls of the webhooks over the given
// replicas only. It closes open connections.
func (a *AddOn) Route(ctx context.Context, replicas ...int) error {
	args := []string{"balancer", "--listen=" + address(a.balancer)}
	for _, i := range replicas {
		if err := a.checkReplica(i); err != nil {
			return err
		}
		ports := a.replicas[i]
		args = append(args, "--backend="+address(ports.webhook)+"=http://"+address(ports.health)+"/readyz")
	}
	if a.federation.isRunning(balancerName) {
		if err := a.federation.StopProcess(balancerName); err != nil {
			return err
		}
	}
	return a.federation.start(ctx, Process{
		Name: balancerName, Path: a.federation.ownBinary(), Args: args,
		Ready: accepts(address(a.balancer)), stage: stageRouter,
	})
}

// RouteAll makes the balancer distribute calls of the webhooks over all replicas.
func (a *AddOn) RouteAll(ctx context.Context) error { return a.Route(ctx, a.all()...) }

func (a *AddOn) all() []int {
	replicas := make([]int, len(a.replicas))
	for i := range replicas {
		replicas[i] = i
	}
	return replicas
}

// WebhooksAddress returns the address of the balancer, at which the add-on's
// webhooks are called.
func (a *AddOn) WebhooksAddress() string { return address(a.balancer) }

// WebhookAddress returns the address at which a replica serves its webhooks.
func (a *AddOn) WebhookAddress(i int) (string, error) {
	if err := a.checkReplica(i); err != nil {
		return "", err
	}
	return address(a.replicas[i].webhook), nil
}

// MetricsAddress returns the address at which a replica serves its metrics.
func (a *AddOn) MetricsAddress(i int) (string, error) {
	if err := a.checkReplica(i); err != nil {
		return "", err
	}
	return address(a.replicas[i].metrics), nil
}

// HealthAddress returns the address at which a replica serves its health probes.
func (a *AddOn) HealthAddress(i int) (string, error) {
	if err := a.checkReplica(i); err != nil {
		return "", err
	}
	return address(a.replicas[i].health), nil
}

func (a *AddOn) checkReplica(i int) error {
	if i < 0 || i >= len(a.replicas) {
		return fmt.Errorf("the add-on has no replica %d: there are %d, counted from 0", i, len(a.replicas))
	}
	return nil
}

func replicaName(i int) string { return fmt.Sprintf("karmada-compute-%d", i) }

func agentName(cell string) string { return "karmada-compute-cell-" + cell }
