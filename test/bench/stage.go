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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	consumer = "consumer"
	// namespace exists in every project.
	namespace = "default"

	// patience is the timeout of eventually, interval the time between its checks.
	patience = 2 * time.Minute
	interval = 100 * time.Millisecond
)

var (
	roleResource    = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}
	roleBinding     = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"}
	locationBinding = schema.GroupVersionResource{Group: "networking.datumapis.com", Version: "v1alpha", Resource: "locationbindings"}
	crdResource     = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

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
	if err := s.allowConsumer(ctx); err != nil {
		return fmt.Errorf("give the consumer rights: %w", err)
	}
	if err := s.bindLocation(ctx); err != nil {
		return fmt.Errorf("let the project use %s: %w", city, err)
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

// allowConsumer gives the consumer the same rights for a Workload and for the floor. Milo's stand-in copies them to
// the projects.
func (s *stage) allowConsumer(ctx context.Context) error {
	root, err := s.client("milo", federation.Admin)
	if err != nil {
		return err
	}
	rule := func(group, resource, verb string) any {
		return map[string]any{"apiGroups": []any{group}, "resources": []any{resource}, "verbs": []any{verb}}
	}
	role := object("rbac.authorization.k8s.io/v1", "ClusterRole", consumer, map[string]any{"rules": []any{
		rule(workloadResource.Group, workloadResource.Resource, "*"),
		rule(floorGroup, workloadResource.Resource, "*"),
		rule("networking.datumapis.com", "networks", "use"),
	}})
	binding := object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", consumer, map[string]any{
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": consumer},
		"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": consumer}},
	})
	if _, err := root.Resource(roleResource).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err = root.Resource(roleBinding).Create(ctx, binding, metav1.CreateOptions{})
	return err
}

// bindLocation makes a location available to the project, as Milo's service catalog does.
func (s *stage) bindLocation(ctx context.Context) error {
	c, err := s.client(plane, federation.Admin)
	if err != nil {
		return err
	}
	binding := object("networking.datumapis.com/v1alpha", "LocationBinding", "bench", map[string]any{"spec": map[string]any{
		"locationRef": map[string]any{"name": "bench"}, "locationClassName": "datum-managed", "displayName": city,
		"topology": map[string]any{"topology.datum.net/city-code": city},
	}})
	created, err := c.Resource(locationBinding).Create(ctx, binding, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	created.Object["status"] = map[string]any{"conditions": []any{map[string]any{
		"type": "Available", "status": "True", "reason": "Healthy", "message": "",
		"lastTransitionTime": created.GetCreationTimestamp().UTC().Format(time.RFC3339),
	}}}
	_, err = c.Resource(locationBinding).UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
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
