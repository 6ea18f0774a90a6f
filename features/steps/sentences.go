// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/cucumber/godog"
)

// sentences take the patterns of sentences and what each does.
type sentences interface {
	Step(pattern, do any)
}

func addSteps(sc sentences) {
	for _, add := range []func(sentences){
		addObjectSteps, addFieldSteps, addAttemptSteps, addRightsSteps, addStolenSteps, addProjectSteps, addNamespaceSteps, addQuotaSteps, addNetworkSteps, addKubectlSteps, addWorkloadSteps, addInstanceSteps,
		addCellSteps, addContainerSteps, addTrafficSteps, addRoomSteps, addDataSteps, addReplicaSteps, addOutageSteps, addQuietSteps, addLoadSteps,
		addCommandSteps, addPageSteps, addVersionSteps, addFaultSteps, addHostileSteps, addMetricsSteps, addMonitoringSteps,
	} {
		add(sc)
	}
}

// patterns counts how often each pattern is used.
type patterns map[*regexp.Regexp]int

// Step notes a pattern.
func (p patterns) Step(pattern, _ any) { p[regexp.MustCompile(fmt.Sprint(pattern))] = 0 }

// Check is an error unless every sentence of the scenarios fits one pattern, and every pattern a sentence. It needs no
// federation.
func Check(paths []string) error {
	suite := godog.TestSuite{Options: &godog.Options{Paths: paths}}
	features, err := suite.RetrieveFeatures()
	if err != nil {
		return fmt.Errorf("read the scenarios: %w", err)
	}
	known := patterns{}
	addSteps(known)
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
