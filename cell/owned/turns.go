// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// readTurn reads whether the cell has its turn for its template. A hub of an earlier version gives no turns, and a cell
// that does not know its name cannot find its own: it then begins by itself.
func (t *Templates) readTurn(deployment *v1alpha.WorkloadDeployment) {
	cell := deployment.Cell()
	if cell == "" || !templates.HasTurns(deployment) {
		return
	}
	t.turns, t.Held = true, true
	for _, turn := range deployment.Spec.Overrides {
		if turn.Cell == cell && t.version.Is(turn.TemplateHash) {
			t.Held, t.AtOnce = false, max(1, int(turn.AtOnce))
		}
	}
}

// IsOverridden reports whether an Instance has the template that the hub has sent, and differs from the template of new
// Instances only by an override policy, where the hub gives turns for that.
func (t *Templates) IsOverridden(deployment *v1alpha.WorkloadDeployment, instance *v1alpha.Instance) bool {
	hash := instance.TemplateHash()
	if !t.turns || hash == t.Hash || templates.Sent(hash) != t.Sent {
		return false
	}
	index, ok := naming.InstanceIndex(deployment.Name, instance.Name)
	return ok && t.HashAt(deployment, index) == t.Hash
}

// AwaitsTurn reports whether an Instance keeps its template until the turn of its cell.
func (t *Templates) AwaitsTurn(deployment *v1alpha.WorkloadDeployment, instance *v1alpha.Instance) bool {
	return t.Held && t.IsOverridden(deployment, instance)
}

// Given is the hash of the template that new Instances run.
func (t *Templates) Given() string { return t.version.Hash }
