// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo_test

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/karmada-compute/karmada-compute/milo"
)

func TestMetering(t *testing.T) {
	project := func(name string, labels map[string]string) *milo.Project {
		return &milo.Project{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	}
	some := milo.NewMetering(labels.SelectorFromSet(labels.Set{"quota": "yes"}))
	var changed []string
	some.OnChange(func(project string) { changed = append(changed, project) })
	check := func(project string, want bool) {
		t.Helper()
		if got, err := some.Metered(project); err != nil || got != want {
			t.Errorf("%s: %t, %v", project, got, err)
		}
	}
	if _, err := some.Metered("north"); err == nil {
		t.Error("an unknown project is no error: it could start what nobody pays")
	}
	some.Observe(project("north", nil))
	some.Observe(project("south", map[string]string{"quota": "yes"}))
	check("north", false)
	check("south", true)
	some.Observe(project("north", map[string]string{"other": "yes"}))
	some.Observe(project("north", map[string]string{"quota": "yes"}))
	check("north", true)
	some.Forget(project("south", nil))
	check("south", true)
	// The memory of deleted projects is bounded.
	for n := range 2000 {
		gone := project(fmt.Sprintf("gone-%d", n), nil)
		some.Observe(gone)
		some.Forget(gone)
	}
	if _, err := some.Metered("gone-0"); err == nil {
		t.Error("every deleted project is remembered")
	}
	check("gone-1999", false)
	if want := []string{"north", "south", "north"}; !slices.Equal(changed[:3], want) {
		t.Errorf("changes of %v, want %v", changed, want)
	}
	if got, err := milo.NewMetering(labels.Everything()).Metered("unknown"); err != nil || !got {
		t.Errorf("where all projects are metered: %t, %v", got, err)
	}
}
