// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package page serves a read-only page with the state of Workloads to one browser on this machine. It judges nothing:
// a Source gives it what package view has found out.
package page

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// Open returns the source of a namespace; "": of the kubeconfig's. The caller calls leave when it needs the source no more.
type Open func(namespace string) (source Source, leave func())

// Source provides the state that the page shows of a namespace. It is safe for concurrent use.
type Source interface {
	// State returns the present state as far as a query asks for it. It answers without waiting for an API server that does
	// not answer: the state has the problem.
	State(ctx context.Context, q Query) *State
	// Instances returns a bounded number of Instances of a Workload, from the one with a name on.
	Instances(ctx context.Context, workload, first string) []*view.Node
	// Way returns the path to an Instance; nil: there is no such Instance.
	Way(ctx context.Context, workload, instance string) *view.Way
	// Log returns the log of an Instance. Its errors are for the user.
	Log(ctx context.Context, asked LogRequest) (*Log, error)
	// Changed returns a channel that is closed when the state may have changed.
	Changed() <-chan struct{}
}

// State is the content of the page.
type State struct {
	Project   string `json:"project,omitempty"`
	Namespace string `json:"namespace"`
	// Namespaces are the ones that the user may choose; none if the user may not list them.
	Namespaces []string `json:"namespaces,omitempty"`
	// Loaded is false before the first answer of the API server.
	Loaded bool `json:"loaded"`
	// Problem is why the rest may be outdated, or missing.
	Problem *Problem `json:"problem,omitempty"`
	// Hidden lists what the user may not read.
	Hidden []string `json:"hidden,omitempty"`
	// Sums and Cities are of all Workloads. Workloads are the first selected ones, and Omitted is the number of the others.
	Sums      Sums                `json:"sums,omitzero"`
	Cities    []view.CityStanding `json:"cities,omitempty"`
	Workloads []view.Overview     `json:"workloads,omitempty"`
	Omitted   int                 `json:"omitted,omitempty"`
	Workload  *Workload           `json:"workload,omitempty"`
	// NoLogs is why the page follows no logs; "": it does.
	NoLogs string `json:"noLogs,omitempty"`
	// Federation is an operator's view of the hub.
	Federation *Federation `json:"federation,omitempty"`
}

// Problem is why the state is not read.
type Problem struct {
	Message string `json:"message"`
	// Do is the action of the user.
	Do    string    `json:"do"`
	Since time.Time `json:"since"`
}

// Workload is one Workload in detail.
type Workload struct {
	Name string `json:"name"`
	// Gone is true if no object of the Workload is left.
	Gone     bool      `json:"gone,omitempty"`
	Summary  string    `json:"summary"`
	Verdicts []Verdict `json:"verdicts,omitempty"`
	// Rollout is nil if it cannot be planned; NoRollout is the reason.
	Rollout   *view.Rollout `json:"rollout,omitempty"`
	NoRollout string        `json:"noRollout,omitempty"`
	Tree      *view.Node    `json:"tree"`
	// Events are the last ones, the newest first.
	Events []Event `json:"events,omitempty"`
}

// Verdict is a cause, with the first of the names that it holds up.
type Verdict struct {
	view.Verdict
	// More is the number of further names.
	More int `json:"more,omitempty"`
}

// Event is an event of an object of the Workload.
type Event struct {
	Seen    metav1.Time `json:"seen"`
	Type    string      `json:"type"`
	Reason  string      `json:"reason"`
	Object  string      `json:"object"`
	Message string      `json:"message"`
}

// Bounds of what the page gets at once.
const (
	MostWorkloads = 300
	MostVerdicts  = 20
	MostEvents    = 50
	MostInstances = 200
	// MostStandings is the number of cities of a namespace, and MostNamespaces the number of namespaces to choose from.
	MostStandings  = 100
	MostNamespaces = 500
)

// WorkloadOf returns what `explain`, `rollout plan` and `tree` show of a Workload. locations are the locations of the
// project; unread is the reason why they are unknown.
func WorkloadOf(s *view.Snapshot, locations []cities.Location, unread error) *Workload {
	result := &Workload{Name: s.Name, Gone: s.Gone(), Tree: s.Tree().Compact()}
	if result.Gone {
		result.Summary = (&view.NotFoundError{Namespace: s.Namespace, Name: s.Name}).Error()
		return result
	}
	result.Summary, result.Verdicts = s.Summary(), shortVerdicts(view.Verdicts(s.Ways()))
	if s.Workload == nil {
		return result
	}
	plan, err := s.Rollout(locations, unread)
	if err != nil {
		result.NoRollout = err.Error()
		return result
	}
	result.Rollout = plan
	return result
}

// shortVerdicts returns the first verdicts, with few names.
func shortVerdicts(verdicts []view.Verdict) []Verdict {
	var result []Verdict
	for _, verdict := range verdicts[:min(len(verdicts), MostVerdicts)] {
		short, more := verdict.Short()
		result = append(result, Verdict{Verdict: short, More: more})
	}
	return result
}
