// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"errors"
	"testing"

	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestAKindThatIsNotServed: a project that serves no InstanceSessions and Instances for a moment ends no session, and one that does not
// have the session does.
func TestAKindThatIsNotServed(t *testing.T) {
	t.Parallel()
	p := planes.New(t)
	grant := &Grant{Project: string(planes.ProjectName), ProjectUID: planes.ProjectUID, Namespace: p.Namespace.Name, Name: "gone"}
	grant.Spec.InstanceRef.Name = "web-0"
	deleted := func() bool {
		t.Helper()
		err := exists(t.Context(), &project{client: p.Project}, grant)
		if err == nil {
			t.Error("it has the session")
		}
		var ended *ending
		_, placed := (&places{projects: &project{client: p.Project}}).find(t.Context(), grant)
		if placed == nil || errors.As(err, &ended) != errors.As(placed, &ended) {
			t.Errorf("the session: %v, its Instance: %v", err, placed)
		}
		return errors.As(err, &ended)
	}
	p.Project.Unserve("Instance")
	if deleted() {
		t.Error("a kind that is not served ends the session")
	}
	p.Project.Before(nil)
	if !deleted() {
		t.Error("a session that was deleted does not end")
	}
}
