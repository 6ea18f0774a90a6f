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

// NeedsTurn reports whether an Instance is to get a template that Karmada has sent to all cells at once, where the hub
// gives turns for that: an override policy has changed the template alone, or a backup with an earlier template was
// restored.
func (t *Templates) NeedsTurn(deployment *v1alpha.WorkloadDeployment, instance *v1alpha.Instance) bool {
	if hash := instance.TemplateHash(); !t.turns || hash == t.Hash || !t.IsSentAtOnce(deployment, instance) {
		return false
	}
	index, ok := naming.InstanceIndex(deployment.Name, instance.Name)
	return ok && t.HashAt(deployment, index) == t.Hash
}

// IsSentAtOnce reports whether the difference between an Instance and the template of new ones has reached all cells at
// once, and not city by city: it is an override, or an earlier template.
func (t *Templates) IsSentAtOnce(deployment *v1alpha.WorkloadDeployment, instance *v1alpha.Instance) bool {
	return t.Sent != "" && templates.Sent(instance.TemplateHash()) == t.Sent || goesBack(deployment, instance)
}

// AwaitsTurn reports whether an Instance keeps its template until the turn of its cell.
func (t *Templates) AwaitsTurn(deployment *v1alpha.WorkloadDeployment, instance *v1alpha.Instance) bool {
	return t.Held && t.NeedsTurn(deployment, instance)
}

// Given is the hash of the template that new Instances run.
func (t *Templates) Given() string { return t.version.Hash }
