// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/live"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Session holds the connections to the control planes that the user reaches.
type Session struct {
	// Project and Hub are nil if the user does not reach them.
	Project, Hub *live.Plane
	ProjectName  string
	Namespace    string
	// Now is the clock.
	Now func() time.Time
}

// Planes returns what view reads.
func (s *Session) Planes() view.Planes {
	p := view.Planes{ProjectName: s.ProjectName}
	if s.Project != nil {
		p.Project = s.Project.Client
	}
	if s.Hub != nil {
		p.Hub = s.Hub.Client
	}
	return p
}

// Key returns the key of an object in the namespace.
func (s *Session) Key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: s.Namespace, Name: name}
}

// Live returns the options to watch a Workload; "": all Workloads of the namespace.
func (s *Session) Live(name string) live.Options {
	return live.Options{Project: s.Project, Hub: s.Hub, ProjectName: s.ProjectName, Key: s.Key(name), Now: s.Now}
}

// Watch watches a Workload that was read. all: Instances that are equal are shown one by one.
func (s *Session) Watch(ctx context.Context, first *view.Snapshot, all bool) (*live.Watch, error) {
	o := s.Live(first.Name)
	o.All = all
	return live.Start(ctx, o, first.Hidden)
}

// Read reads a Workload that must exist, and finds out whether its project is suspended.
func (s *Session) Read(ctx context.Context, workload string) (*view.Snapshot, error) {
	snapshot, err := view.Read(ctx, s.Planes(), s.Key(workload))
	if err != nil {
		return nil, err
	}
	snapshot.Now = s.Now()
	if err := snapshot.MustExist(); err != nil {
		return nil, err
	}
	s.addSuspension(ctx, snapshot)
	return snapshot, nil
}

// Copies selects the hub's copies of the project's namespace.
func (s *Session) Copies() client.MatchingLabels {
	return client.MatchingLabels{v1alpha.LabelProject: naming.ProjectLabel(s.ProjectName), v1alpha.LabelProjectNamespace: s.Namespace}
}
