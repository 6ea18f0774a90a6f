// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

import (
	"context"

	"github.com/karmada-compute/karmada-compute/test/soak"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

func addQuotaSteps(sc world.Sentences) {
	sc.Step(`^a project of its own with quota for (\d+) Instances$`, func(ctx context.Context, instances int) error {
		s := from(ctx)
		milo := s.Client("milo", world.Admin)
		if err := soak.RegisterQuota(ctx, milo); err != nil {
			return err
		}
		if err := s.addProject(ctx, nil); err != nil {
			return err
		}
		if err := soak.MeterProject(ctx, milo, s.Project); err != nil {
			return err
		}
		return s.grantQuota(ctx, instances)
	})
	sc.Step(`^the project gets quota for (\d+) Instances$`, func(ctx context.Context, instances int) error {
		return from(ctx).grantQuota(ctx, instances)
	})
}

func (s Steps) grantQuota(ctx context.Context, instances int) error {
	return soak.GrantQuota(ctx, s.Client("project/"+s.Project, world.Admin), s.Project, s.Namespace, int64(instances))
}
