// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"

	"github.com/karmada-compute/karmada-compute/test/soak"
)

func addQuotaSteps(sc sentences) {
	sc.Step(`^a project of its own with quota for (\d+) Instances$`, func(ctx context.Context, instances int) error {
		s := from(ctx)
		milo := s.client("milo", admin)
		if err := soak.RegisterQuota(ctx, milo); err != nil {
			return err
		}
		if err := s.addProject(ctx, nil); err != nil {
			return err
		}
		if err := soak.MeterProject(ctx, milo, s.project); err != nil {
			return err
		}
		return s.grantQuota(ctx, instances)
	})
	sc.Step(`^the project gets quota for (\d+) Instances$`, func(ctx context.Context, instances int) error {
		return from(ctx).grantQuota(ctx, instances)
	})
}

func (s *scenario) grantQuota(ctx context.Context, instances int) error {
	return soak.GrantQuota(ctx, s.client("project/"+s.project, admin), s.project, s.namespace, int64(instances))
}
