// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package steps is what the sentences of the scenarios do.
package steps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/federation"
)

const (
	// patience is how long a condition is waited for. It is generous: the machine may be slow and busy.
	patience = 3 * time.Minute
	// interval is how often a condition is looked at.
	interval = 150 * time.Millisecond

	// consumer is who writes Workloads; admin is who may do everything.
	consumer = "consumer"
	admin    = "admin"
	// addOnUser is who the add-on's controllers are.
	addOnUser = "karmada-compute"
)

// World is the federation that all scenarios share. It is safe for concurrent use.
type World struct {
	federation *federation.Federation
	addOn      *federation.AddOn
	scheme     *runtime.Scheme
	out        io.Writer
	extra      map[string]*extraCell
}

// extraCells are there from when a scenario first needs them: most need none, and each takes a while to start.
var extraCells = []federation.Cell{
	{Name: "iad-1", City: "IAD"}, {Name: "iad-2", City: "IAD"}, {Name: "lhr", City: "LHR", Pull: true},
}

// extraCell is a cell that is added once, for whichever scenario is first.
type extraCell struct {
	federation.Cell
	once sync.Once
	err  error
	// taken holds one token while a scenario has the cell to itself.
	taken chan struct{}
}

// Start boots a federation with two projects and the add-on. When it fails, nothing is left running.
func Start(ctx context.Context, out io.Writer) (*World, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha.AddToScheme, clusterv1alpha1.Install, policyv1alpha1.Install,
		workv1alpha1.Install, workv1alpha2.Install, configv1alpha1.Install,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("build the scheme: %w", err)
		}
	}
	fed, err := federation.Up(ctx, federation.Options{Projects: []string{"north", "south"}, Out: out})
	if err != nil {
		return nil, err
	}
	w := &World{federation: fed, scheme: scheme, out: out, extra: map[string]*extraCell{}}
	for _, cell := range extraCells {
		w.extra[cell.Name] = &extraCell{Cell: cell, taken: make(chan struct{}, 1)}
	}
	if err := w.prepare(ctx); err != nil {
		return nil, errors.Join(err, w.Stop(true))
	}
	return w, nil
}

// prepare starts the add-on and gives the projects what every scenario needs.
func (w *World) prepare(ctx context.Context) error {
	addOn, err := w.federation.StartAddOn(ctx, federation.AddOnOptions{Replicas: 2, Args: addOnArgs(ModeWebhook)})
	if err != nil {
		return err
	}
	w.addOn = addOn
	if err := w.allowConsumers(ctx); err != nil {
		return err
	}
	for _, project := range []string{"north", "south"} {
		for _, city := range []string{"DFW", "ORD"} {
			if err := w.bindLocation(ctx, project, city); err != nil {
				return err
			}
		}
	}
	return nil
}

// needCell adds one of the extra cells, if it is not there yet.
func (w *World) needCell(ctx context.Context, cell *extraCell) error {
	cell.once.Do(func() {
		begin := time.Now()
		if cell.err = w.federation.AddCell(ctx, cell.Cell); cell.err == nil {
			cell.err = w.addOn.AddCell(ctx, cell.Name)
		}
		fmt.Fprintf(w.out, "cell %s added in %s\n", cell.Name, time.Since(begin).Round(time.Millisecond))
	})
	return cell.err
}

// How Karmada learns what a WorkloadDeployment is; values of --interpreter-mode.
const (
	ModeWebhook       = "webhook"
	ModeCustomization = "customization"
)

// addOnArgs are for every replica. A lost cell is given up earlier than anybody would want in earnest.
func addOnArgs(mode string) []string {
	return []string{"--cell-failover-after=5s", "--interpreter-mode=" + mode}
}

// interpreters are the kinds that are registered on the hub in each mode.
var interpreters = map[string]client.Object{
	ModeWebhook:       &configv1alpha1.ResourceInterpreterWebhookConfiguration{},
	ModeCustomization: &configv1alpha1.ResourceInterpreterCustomization{},
}

// Interpret restarts the add-on in a mode and waits until nothing of the other is registered.
func (w *World) Interpret(ctx context.Context, mode string) error {
	w.addOn.SetArgs(addOnArgs(mode)...)
	for i := range w.addOn.Replicas() {
		if err := errors.Join(w.addOn.Stop(i), w.addOn.Start(ctx, i)); err != nil {
			return err
		}
	}
	hub, err := w.client("hub", admin)
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		for registered, object := range interpreters {
			err := hub.Get(ctx, client.ObjectKey{Name: addOnUser}, object)
			if registered != mode {
				err = notFound(err, "the interpreter of mode "+registered)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Stop stops the federation. Its folder, with a log per process, stays.
func (w *World) Stop(failed bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if failed {
		fmt.Fprintf(w.out, "logs of every process: %s\n", w.federation.Folder())
	}
	return w.federation.Down(ctx)
}

// client is a client for a plane ("hub", "milo", "project/<name>", "cell/<name>") as a user.
func (w *World) client(plane, user string) (client.WithWatch, error) {
	config, err := w.federation.Config(plane, user)
	if err != nil {
		return nil, err
	}
	// Conditions are looked at often, and a client that waits for its own limit hides what was wrong last.
	config.QPS = -1
	// Scenarios that are about warnings have a handler of their own.
	config.WarningHandler = rest.NoWarnings{}
	c, err := client.NewWithWatch(config, client.Options{Scheme: w.scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", plane, err)
	}
	return c, nil
}

// eventually waits until check returns nil, and returns its last error when it does not in time.
func eventually(ctx context.Context, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, interval, patience, true, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		// An error of the check that is about the end of the time hides what was wrong before.
		if err != nil && ctx.Err() == nil {
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("not within %s: %w", patience, errors.Join(last, ctx.Err()))
	}
	return nil
}
