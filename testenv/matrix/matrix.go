// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package matrix has what each party may do with each kind that the add-on reads or relies on, on a shared hub, in a project
// and in a cell: tests of the chart check it with the roles and policies that are installed, the page on security shows
// it, and the soak draws hostile writes on the hub from it.
package matrix

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Verbs are the verbs of a row, in the order of its outcomes. Status is a patch of the status, finalizers a patch of the
// finalizers.
var Verbs = []string{"create", "update", "patch", "delete", "deletecollection", "status", "finalizers"}

// Planes of parties and rows.
const (
	// Hub is the plane of a party or row that names none.
	Hub = "hub"
	// Project is the control plane of a project.
	Project = "project"
	Cell    = "cell"
)

// Outcomes other than the names of policies, without "karmada-compute-". "a|b" is either: the API server names one of the
// policies that refuse a request.
const (
	Allowed = "allowed"
	// RBAC refuses the request.
	RBAC = "rbac"
	// None is a verb that the kind does not have.
	None = "none"
)

// A Matrix is the whole table.
type Matrix struct {
	// Parties are the parties, by name.
	Parties map[string]Party `json:"parties"`
	Rows    []*Row           `json:"rows"`
}

// A Party writes on one plane.
type Party struct {
	// Plane is a plane; "": the hub.
	Plane string `json:"plane,omitempty"`
	// About describes the party.
	About string `json:"about"`
}

// A Row is a kind in one place of a plane.
type Row struct {
	// Plane is a plane; "": the hub.
	Plane      string `json:"plane,omitempty"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespace and Name have the variables ${cell}, ${own}, ${hub}, ${project}, ${free} and ${agents}: a cell, the party's
	// own cell, a hub namespace, a project that is a namespace, another namespace, and the namespace of the agents.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// New is the name of an object that is created; "": new.
	New string `json:"new,omitempty"`
	// About tells the object from others of its kind in the same place.
	About string `json:"about,omitempty"`
	// Content is the object without its name and namespace, with the same variables.
	Content map[string]any `json:"content,omitempty"`
	// Change is the patch of verbs update and patch, and its status the patch of verb status. Without it, they change an
	// annotation of others and nothing.
	Change map[string]any `json:"change,omitempty"`
	// Outcomes has, by party, the outcome of each verb, divided by spaces, or one for all.
	Outcomes map[string]string `json:"outcomes"`
	// Harmless says, by party, why what is allowed does no harm, or what only Karmada could repair.
	Harmless map[string]string `json:"harmless,omitempty"`
}

//go:embed matrix.yaml
var content []byte

// Load returns the matrix.
func Load() (*Matrix, error) {
	loaded := &Matrix{}
	if err := yaml.UnmarshalStrict(content, loaded); err != nil {
		return nil, fmt.Errorf("parse testenv/matrix/matrix.yaml: %w", err)
	}
	return loaded, nil
}

// On returns the parties and rows of a plane.
func (m *Matrix) On(plane string) *Matrix {
	found := &Matrix{Parties: map[string]Party{}}
	for name, party := range m.Parties {
		if cmp.Or(party.Plane, Hub) == plane {
			found.Parties[name] = party
		}
	}
	for _, row := range m.Rows {
		if cmp.Or(row.Plane, Hub) == plane {
			found.Rows = append(found.Rows, row)
		}
	}
	return found
}

// Store writes the matrix to a file.
func (m *Matrix) Store(file string) error {
	text, err := yaml.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// Outcome returns the outcome of a verb for a party; "": the row has none.
func (r *Row) Outcome(party, verb string) string {
	words := strings.Fields(r.Outcomes[party])
	if len(words) == 1 {
		return words[0]
	}
	if i := slices.Index(Verbs, verb); i >= 0 && i < len(words) {
		return words[i]
	}
	return ""
}

// A Refusal is a request that is refused.
type Refusal struct {
	*Row
	Verb string
}

// Refused returns the requests of a party on its plane that RBAC or a policy refuses.
func (m *Matrix) Refused(party string) []Refusal {
	var refused []Refusal
	for _, row := range m.On(cmp.Or(m.Parties[party].Plane, Hub)).Rows {
		for _, verb := range Verbs {
			if outcome := row.Outcome(party, verb); outcome != Allowed && outcome != None {
				refused = append(refused, Refusal{row, verb})
			}
		}
	}
	return refused
}

// Set sets the outcomes of a party, in the order of Verbs.
func (r *Row) Set(party string, outcomes []string) {
	if len(slices.Compact(slices.Clone(outcomes))) == 1 {
		outcomes = outcomes[:1]
	}
	if r.Outcomes == nil {
		r.Outcomes = map[string]string{}
	}
	r.Outcomes[party] = strings.Join(outcomes, " ")
}

// String names the row.
func (r *Row) String() string {
	return strings.TrimSpace(strings.Trim(r.Kind+" "+r.Namespace+"/"+r.Name, "/") + " " + r.About)
}
