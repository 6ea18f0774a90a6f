// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

const (
	project = "north"
	plane   = "project/" + project
	city    = "DFW"

	// cell is the one cell of the city.
	cell      = "dfw"
	hubPlane  = "hub"
	cellPlane = "cell/" + cell
	// consumer is the user who writes Workloads, with the rights of a consumer and no others.
	consumer = federation.Consumer
	// namespace exists in every project.
	namespace = "default"

	// patience is the timeout of eventually, interval the time between its checks.
	patience = 2 * time.Minute
	interval = 100 * time.Millisecond
)

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// stage is a federation with one project and one replica of the add-on, in which a consumer may create Workloads.
type stage struct {
	federation *federation.Federation
	addOn      *federation.AddOn
	cells      []federation.Cell
	folder     string
	out        io.Writer
	// agentPIDs are the processes of the agents.
	agentPIDs []int
	// health has flags of Karmada about the loss of cells, and addOnOptions the options of the add-on.
	health       []string
	featureGates string
	addOnOptions federation.AddOnOptions
}

// withStage calls a function with a running federation, and stops the federation in any case. Its folder, with a log
// per process, is kept only after a failure. Without cells it has the default cells.
func withStage(ctx context.Context, out io.Writer, do func(context.Context, *stage) error, cells ...federation.Cell) (err error) {
	return (&stage{out: out, cells: cells, addOnOptions: federation.AddOnOptions{Replicas: 1}}).with(ctx, do)
}

// with calls a function with the running federation of a stage, as withStage does.
func (s *stage) with(ctx context.Context, do func(context.Context, *stage) error) (err error) {
	if s.folder, err = os.MkdirTemp("", "federation-bench-"); err != nil {
		return fmt.Errorf("no folder for the federation, set TMPDIR: %w", err)
	}
	defer func() {
		if err = errors.Join(err, s.stop()); err != nil {
			err = fmt.Errorf("%w\nlogs of every process: %s/log", err, s.folder)
			return
		}
		err = os.RemoveAll(s.folder)
	}()
	if err := s.boot(ctx); err != nil {
		return err
	}
	return do(ctx, s)
}

func (s *stage) boot(ctx context.Context) error {
	var err error
	s.federation, err = federation.Up(ctx, federation.Options{
		Folder: s.folder, Projects: []string{project}, Cells: s.cells, Host: true, MemoryLimit: "off", ClusterHealth: s.health,
		FeatureGates: s.featureGates, Out: s.out,
	})
	if err != nil {
		return err
	}
	if s.addOn, err = s.federation.StartAddOn(ctx, s.addOnOptions); err != nil {
		return err
	}
	return s.federation.Equip(ctx, []string{project}, s.cities())
}

// cities returns the cities that the project has.
func (s *stage) cities() []string {
	cities := []string{city}
	for _, cell := range s.cells {
		cities = append(cities, cell.City)
	}
	slices.Sort(cities)
	return slices.Compact(cities)
}

// findAgents finds the processes of the agents in the cells.
func (s *stage) findAgents(ctx context.Context) error {
	s.agentPIDs = nil
	for _, cell := range s.cells {
		agents, err := s.addOn.AgentProcessIDs(ctx, cell.Name)
		if err != nil {
			return err
		}
		if len(agents) != 1 {
			return fmt.Errorf("%d processes are the agent of cell %s; there should be one", len(agents), cell.Name)
		}
		s.agentPIDs = append(s.agentPIDs, agents...)
	}
	return nil
}

// stop stops the federation, also after Ctrl-C.
func (s *stage) stop() error {
	if s.federation == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.federation.Down(ctx)
}

// client returns a client for a plane as a user.
func (s *stage) client(plane, user string) (dynamic.Interface, error) {
	config, err := s.federation.Config(plane, user)
	if err != nil {
		return nil, err
	}
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", plane, err)
	}
	return c, nil
}

// eventually waits until check returns nil, and returns its last error after the timeout.
func eventually(ctx context.Context, check func(context.Context) error) error {
	return federation.Await(ctx, interval, patience, check)
}

func object(apiVersion, kind, name string, fields map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: fields}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(name)
	return o
}
