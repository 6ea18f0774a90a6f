// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
)

// Metering reports which projects need quota for their Instances: the projects whose labels match a selector. It receives them as a
// handler of a Watch. All methods are safe for concurrent use.
type Metering struct {
	selector labels.Selector

	mu      sync.Mutex
	metered map[string]bool
	changed []func(project string)
}

// NewMetering creates a Metering.
func NewMetering(selector labels.Selector) *Metering {
	return &Metering{selector: selector, metered: map[string]bool{}}
}

// Metered reports whether the Instances of a project need quota. It returns an error if the Watch has not seen the project, unless all
// projects need quota.
func (m *Metering) Metered(project string) (bool, error) {
	if m.selector.Empty() {
		return true, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	metered, known := m.metered[project]
	if !known {
		return false, fmt.Errorf("whether project %s needs quota is not known: Milo has not reported the project yet", project)
	}
	return metered, nil
}

// OnChange registers f. It is called with the name of a project that begins, or ceases, to need quota, and of a project that is seen
// for the first time. f must return at once.
func (m *Metering) OnChange(f func(project string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed = append(m.changed, f)
}

// Observe implements the handler of a Watch.
func (m *Metering) Observe(project *Project) {
	metered := m.selector.Matches(labels.Set(project.Labels))
	m.mu.Lock()
	before, known := m.metered[project.Name]
	m.metered[project.Name] = metered
	changed := m.changed
	m.mu.Unlock()
	if known && before == metered {
		return
	}
	for _, f := range changed {
		f(project.Name)
	}
}

// Forget implements the handler of a Watch. The project's state stays: objects of the project remain on the hub until they are
// withdrawn.
func (*Metering) Forget(*Project) {}
