// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/cell/runtime"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// versions are the hashes of the templates of a deployment, and the data that they need and that is not in the cell.
// Instances that the partition keeps have the earlier one.
type versions struct {
	hash, earlier string
	// templates has the turn of the cell.
	templates                   *owned.Templates
	missing, missingWithEarlier []templates.DataObject
}

// hashAt is the hash of the template of new Instances at an index.
func (v *versions) hashAt(deployment *v1alpha.WorkloadDeployment, index int) string {
	if deployment.Spec.Partition.Keeps(index) {
		return v.earlier
	}
	return v.hash
}

// missingAt is the data that new Instances at an index wait for.
func (v *versions) missingAt(deployment *v1alpha.WorkloadDeployment, index int) []templates.DataObject {
	if deployment.Spec.Partition.Keeps(index) {
		return v.missingWithEarlier
	}
	return v.missing
}

// atOnce is how many Instances the turn of the cell lets be replaced at once; 0: no limit.
func (v *versions) atOnce() int {
	if v.templates == nil {
		return 0
	}
	return v.templates.AtOnce
}

func (s *scope) nameTemplates(context.Context) error {
	known, err := owned.TemplatesOf(s.deployment, s.instances)
	if err != nil {
		return err
	}
	s.versions.hash, s.versions.earlier, s.versions.templates = known.Hash, known.Earlier, known
	return nil
}

func (s *scope) findMissingData(ctx context.Context) (err error) {
	s.versions.missing, err = runtime.MissingData(ctx, s.Client, s.deployment, &s.deployment.Spec.Template.Spec)
	if err != nil || s.deployment.Spec.Partition == nil {
		return err
	}
	s.versions.missingWithEarlier, err = runtime.MissingData(ctx, s.Client, s.deployment, &s.deployment.Spec.Partition.Template.Spec)
	return err
}
