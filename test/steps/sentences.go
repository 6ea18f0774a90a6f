// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package steps has all sentences of the scenarios: each package below it has those about one subject.
package steps

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/cucumber/godog"

	"github.com/karmada-compute/karmada-compute/test/steps/attempts"
	"github.com/karmada-compute/karmada-compute/test/steps/cells"
	"github.com/karmada-compute/karmada-compute/test/steps/commands"
	"github.com/karmada-compute/karmada-compute/test/steps/containers"
	"github.com/karmada-compute/karmada-compute/test/steps/disruptions"
	"github.com/karmada-compute/karmada-compute/test/steps/faults"
	"github.com/karmada-compute/karmada-compute/test/steps/monitoring"
	"github.com/karmada-compute/karmada-compute/test/steps/names"
	"github.com/karmada-compute/karmada-compute/test/steps/objects"
	"github.com/karmada-compute/karmada-compute/test/steps/projects"
	"github.com/karmada-compute/karmada-compute/test/steps/quiet"
	"github.com/karmada-compute/karmada-compute/test/steps/replicas"
	"github.com/karmada-compute/karmada-compute/test/steps/rights"
	"github.com/karmada-compute/karmada-compute/test/steps/sessions"
	"github.com/karmada-compute/karmada-compute/test/steps/workloads"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Register adds all sentences.
func Register(sc world.Sentences) {
	for _, register := range []func(world.Sentences){
		attempts.Register, cells.Register, commands.Register, containers.Register, disruptions.Register, faults.Register, names.Register,
		monitoring.Register, objects.Register, projects.Register,
		quiet.Register, replicas.Register, rights.Register, sessions.Register, workloads.Register,
	} {
		register(sc)
	}
}

// patterns counts how often each pattern is used.
type patterns map[*regexp.Regexp]int

// Step records a pattern.
func (p patterns) Step(pattern, _ any) { p[regexp.MustCompile(fmt.Sprint(pattern))] = 0 }

// Check returns an error unless every sentence of the scenarios matches exactly one pattern, and every pattern matches
// a sentence. It needs no federation.
func Check(paths []string) error {
	suite := godog.TestSuite{Options: &godog.Options{Paths: paths}}
	features, err := suite.RetrieveFeatures()
	if err != nil {
		return fmt.Errorf("read the scenarios: %w", err)
	}
	known := patterns{}
	Register(known)
	var problems []error
	for _, feature := range features {
		for _, scenario := range feature.Pickles {
			for _, sentence := range scenario.Steps {
				fits := 0
				for pattern := range known {
					if pattern.MatchString(sentence.Text) {
						known[pattern]++
						fits++
					}
				}
				if fits != 1 {
					problems = append(problems, fmt.Errorf("%s: %q fits %d patterns", scenario.Uri, sentence.Text, fits))
				}
			}
		}
	}
	for pattern, uses := range known {
		if uses == 0 {
			problems = append(problems, fmt.Errorf("no scenario uses %s", pattern))
		}
	}
	return errors.Join(problems...)
}
