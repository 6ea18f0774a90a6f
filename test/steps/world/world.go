// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package world has the federation that scenarios share, the state of one scenario, and the functions by which
// sentences find objects and wait for them.
package world

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cucumber/godog"
	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/planes"
	"github.com/karmada-compute/karmada-compute/test/soak"
)

const (
	// Consumer writes Workloads.
	Consumer = federation.Consumer
	// Admin has all rights.
	Admin = federation.Admin
	// AddOnUser is the user of the add-on's controllers.
	AddOnUser = "karmada-compute"
	// AddOnAccount is the add-on on the hub.
	AddOnAccount = "system:serviceaccount:karmada-system:karmada-compute"
	// AgentAccount is the add-on's agent in a cell.
	AgentAccount = "system:serviceaccount:karmada-compute-system:karmada-compute-cell"
)

// waiting is the ratio of scenarios that may wait for cells to running scenarios.
const waiting = 3

// sharedProjects are the projects that scenarios share.
var sharedProjects = []string{"north", "south"}

// sharedCities are the cities that every shared project may use, in every scenario.
var sharedCities = []string{"DFW", "ORD"}

// IsShared reports whether scenarios share a city in a project: no scenario may remove it.
func IsShared(project, city string) bool {
	return slices.Contains(sharedProjects, project) && slices.Contains(sharedCities, city)
}

// World is the federation that all scenarios share. It is safe for concurrent use.
type World struct {
	*planes.Planes
	*Report

	AddOn *federation.AddOn
	// Earlier is the revision with which upgrades begin. Empty: the previous version.
	Earlier string
	// Ready is the time since which the add-on has had its rights on all planes; CommandsRun, whether a scenario has
	// installed it again.
	Ready       time.Time
	CommandsRun atomic.Bool
	Out         io.Writer
	Extra       map[string]*extraCell
	// scenarios is how many have ended since the last part began. The mutex of Report guards it.
	scenarios int

	// states holds the states of the packages of sentences for all scenarios, by type.
	states sync.Map
	// turns limits the scenarios that run at once.
	turns turns
	// Tidying counts scenarios that have ended and whose objects are not deleted yet.
	Tidying sync.WaitGroup
}

// Setting configures the start of a federation.
type Setting struct {
	// Name is the prefix of each line of its progress.
	Name string
	// Mode is the interpreter mode of the add-on.
	Mode string
	// Karmada is a minor version of Karmada. Empty: the version in go.mod.
	Karmada string
	// CellKubernetes is a minor version of Kubernetes in the cells. Empty: the version in go.mod.
	CellKubernetes string
}

// Start boots a federation with two projects and the add-on. If it fails, no process is left running.
func Start(ctx context.Context, report *Report, setting Setting) (*World, error) {
	out := prefixed{report.out, setting.Name + " "}
	options := federation.Options{
		Projects: sharedProjects, Host: true, KarmadaVersion: setting.Karmada, CellKubernetesVersion: setting.CellKubernetes, Out: out,
	}
	if setting.Mode == ModeNamespaces {
		options.Projects, options.WithoutMilo = []string{}, true
	}
	fed, err := federation.Up(ctx, options)
	if err != nil {
		return nil, err
	}
	shared, err := planes.New(fed)
	if err != nil {
		return nil, errors.Join(err, fed.Down(context.WithoutCancel(ctx)))
	}
	w := &World{Planes: shared, Report: report, Out: out, Extra: newExtraCells()}
	if err := w.prepare(ctx, setting.Mode); err != nil {
		return nil, errors.Join(err, w.Stop())
	}
	return w, nil
}

// prefixed writes lines with a prefix.
type prefixed struct {
	out    io.Writer
	prefix string
}

// Write writes whole lines.
func (p prefixed) Write(lines []byte) (int, error) {
	text := strings.TrimSuffix(string(lines), "\n")
	if text != "" {
		text = p.prefix + strings.ReplaceAll(text, "\n", "\n"+p.prefix)
	}
	_, err := io.WriteString(p.out, text+"\n")
	return len(lines), err
}

// prepare starts the add-on and gives the projects the objects that every scenario needs.
func (w *World) prepare(ctx context.Context, mode string) error {
	addOn, err := w.Federation.StartAddOn(ctx, federation.AddOnOptions{
		Replicas: 2, Args: addOnArgs(mode),
		// With Milo a scenario turns sessions on and off. Here none needs them to be off.
		Sessions: mode == ModeNamespaces,
	})
	if err != nil {
		return err
	}
	w.AddOn, w.Ready = addOn, time.Now()
	if mode == ModeNamespaces {
		return nil
	}
	return w.Federation.Equip(ctx, sharedProjects, sharedCities)
}

// AddOnUsers are the users of the add-on in all planes.
var AddOnUsers = []string{AddOnUser, AddOnAccount, AgentAccount}

// Ways in which Karmada interprets a WorkloadDeployment; values of --interpreter-mode.
const (
	ModeWebhook       = "webhook"
	ModeCustomization = "customization"
	// ModeNamespaces is ModeCustomization in a federation without Milo.
	ModeNamespaces = "namespaces"
)

// addOnArgs returns the arguments of every replica. With them the add-on releases a lost cell, removes unwanted
// objects, and audits Karmada's objects earlier than in production.
func addOnArgs(mode string) []string {
	args := []string{"--cell-failover-after=5s", "--inventory-after=10s", "--audit-after=10s"}
	if mode == ModeNamespaces {
		return args
	}
	return append(append(args, "--interpreter-mode="+mode, "--feature-gates=NetworkBinding=true"), soak.QuotaArgs...)
}

// interpreters are the kinds that are registered on the hub in each mode.
var interpreters = map[string]client.Object{
	ModeWebhook:       &configv1alpha1.ResourceInterpreterWebhookConfiguration{},
	ModeCustomization: &configv1alpha1.ResourceInterpreterCustomization{},
}

// Interpret restarts the add-on in a mode and waits until the other mode is no longer registered.
func (w *World) Interpret(ctx context.Context, mode string) error {
	if err := w.AddOn.Configure(ctx, func(o *federation.AddOnOptions) { o.Args = addOnArgs(mode) }); err != nil {
		return err
	}
	hub := w.Client("hub", Admin)
	return Eventually(ctx, func(ctx context.Context) error {
		for registered, object := range interpreters {
			err := hub.Get(ctx, client.ObjectKey{Name: AddOnUser}, object)
			if registered != mode {
				err = NotFound(err, "the interpreter of mode "+registered)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Selection selects scenarios that run together.
type Selection struct {
	// Steps adds the sentences.
	Steps      func(Sentences)
	Name, Tags string
	Paths      []string
	// AtOnce is how many scenarios run at once. A scenario that waits for a reserved cell does not count.
	AtOnce int
	// Repeat is how many times each scenario runs.
	Repeat int
}

func (s Selection) suite(ctx context.Context) *godog.TestSuite {
	return &godog.TestSuite{Name: s.Name, Options: &godog.Options{
		Format: "progress", Output: io.Discard, Paths: s.Paths, Tags: s.Tags,
		Strict: true, Randomize: -1, Concurrency: max(1, (s.AtOnce-1)*waiting), DefaultContext: ctx,
	}}
}

// Any reports whether the selection has any scenarios.
func (s Selection) Any() (bool, error) {
	features, err := s.suite(context.Background()).RetrieveFeatures()
	for _, feature := range features {
		if len(feature.Pickles) > 0 {
			return true, nil
		}
	}
	return false, err
}

// Run runs scenarios and waits until their objects are deleted. The report has the failures.
func (w *World) Run(ctx context.Context, selection Selection) {
	w.timed(selection, func() {
		for i := 0; i < selection.Repeat && ctx.Err() == nil; i++ {
			w.turns = make(turns, selection.AtOnce)
			suite := selection.suite(ctx)
			suite.ScenarioInitializer = func(sc *godog.ScenarioContext) { w.addStepsTo(ctx, sc, selection.Steps) }
			// The report has the failures.
			_ = suite.Run()
			w.Tidying.Wait()
		}
	})
}

// Stop stops the federation. Its folder, with a log per process, stays.
func (w *World) Stop() error {
	w.Tidying.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	return w.Federation.Down(ctx)
}
