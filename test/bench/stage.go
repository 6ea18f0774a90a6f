// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/karmada-compute/karmada-compute/federation"
)

const (
	project = "north"
	plane   = "project/" + project
	city    = "DFW"
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
	// agentPID is the process of the agent in the first cell.
	agentPID int
}

// withStage calls a function with a running federation, and stops the federation in any case. Its folder, with a log per
// process, is kept only after a failure. Without cells it has those of every federation.
func withStage(ctx context.Context, out io.Writer, do func(context.Context, *stage) error, cells ...federation.Cell) (err error) {
	s := &stage{out: out, cells: cells}
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
		Folder: s.folder, Projects: []string{project}, Cells: s.cells, Host: true, MemoryLimit: "off", Out: s.out,
	})
	if err != nil {
		return err
	}
	if s.addOn, err = s.federation.StartAddOn(ctx, federation.AddOnOptions{Replicas: 1}); err != nil {
		return err
	}
	return s.federation.Equip(ctx, []string{project}, []string{city})
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

// client is a client for a plane as a user.
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

// eventually waits until check returns nil, and returns its last error if it does not in time.
func eventually(ctx context.Context, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, interval, patience, true, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		// An error after the timeout would hide the one before it.
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

func object(apiVersion, kind, name string, fields map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: fields}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(name)
	return o
}
