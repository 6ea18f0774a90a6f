// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package matrix has what each party on a shared hub may do with each kind that the add-on reads or relies on: a test of
// the chart checks it with the roles and policies that are installed, the page on security shows it, and the soak draws
// hostile writes from it.
package matrix

import (
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
	// Parties describes the parties, by name.
	Parties map[string]string `json:"parties"`
	Rows    []*Row            `json:"rows"`
}

// A Row is a kind in one place of the hub.
type Row struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespace and Name have the variables ${cell}, ${own}, ${hub}, ${project}, ${free} and ${agents}: a cell, the party's
	// own cell, a hub namespace, a project that is a namespace, another namespace, and the namespace of the agents.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// New is the name of an object that is created; "": new.
	New string `json:"new,omitempty"`
	// Content is the object without its metadata, with the same variables.
	Content map[string]any `json:"content,omitempty"`
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

// Refused returns the requests of a party that RBAC or a policy refuses.
func (m *Matrix) Refused(party string) []Refusal {
	var refused []Refusal
	for _, row := range m.Rows {
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
func (r *Row) String() string { return strings.Trim(r.Kind+" "+r.Namespace+"/"+r.Name, "/") }
