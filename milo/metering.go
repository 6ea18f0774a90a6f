// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/lru"
)

// maxFormer bounds the deleted projects whose state is kept: more than are withdrawn at the same time.
const maxFormer = 1000

// Metering reports which projects need quota for their Instances: the projects whose labels match a selector. It
// receives them as a handler of a Watch. All methods are safe for concurrent use.
type Metering struct {
	selector labels.Selector

	mu      sync.Mutex
	metered map[string]bool
	// former are deleted projects, the last ones.
	former  *lru.Cache
	changed []func(project string)
}

// NewMetering creates a Metering.
func NewMetering(selector labels.Selector) *Metering {
	return &Metering{selector: selector, metered: map[string]bool{}, former: lru.New(maxFormer)}
}

// Metered reports whether the Instances of a project need quota. It returns an error if the Watch has not seen the
// project, unless all projects need quota.
func (m *Metering) Metered(project string) (bool, error) {
	if m.selector.Empty() {
		return true, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if metered, known := m.metered[project]; known {
		return metered, nil
	}
	metered, known := m.former.Get(project)
	if !known {
		return false, fmt.Errorf("whether project %s needs quota is not known: Milo has not reported the project yet", project)
	}
	return metered == true, nil
}

// OnChange registers f. It is called with the name of a project that begins, or ceases, to need quota, and of a project
// that is seen for the first time. f must return at once.
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
	m.former.Remove(project.Name)
	changed := m.changed
	m.mu.Unlock()
	if known && before == metered {
		return
	}
	for _, f := range changed {
		f(project.Name)
	}
}

// Forget implements the handler of a Watch. The project's state stays for a while: objects of the project remain on the
// hub until they are withdrawn.
func (m *Metering) Forget(project *Project) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if metered, known := m.metered[project.Name]; known {
		m.former.Add(project.Name, metered)
		delete(m.metered, project.Name)
	}
}
