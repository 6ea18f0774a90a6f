// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
)

// settingsInterval is the interval in which a Workload that keeps its exposure reads the settings of the cells.
const settingsInterval = 30 * time.Second

// KeepExposure gives a Workload in memory the exposure that its cells have, while no cell of its cities has what the wanted
// one needs: the Service would lose its addresses for nothing. It returns these cities; empty: the Workload gets what it wants.
func KeepExposure(
	ctx context.Context, lacking cells.Lacking, workload *v1alpha.Workload, deployments map[string]*v1alpha.WorkloadDeployment,
) ([]string, error) {
	if lacking == nil || plan.FormerExposure(workload, deployments) == "" {
		return nil, nil
	}
	cities := plan.CitiesOf(deployments)
	without, err := lacking(ctx, cities, workload.Spec.Service.Exposure)
	if err != nil || !plan.KeepExposure(workload, deployments, without) {
		return nil, err
	}
	return cities, nil
}
