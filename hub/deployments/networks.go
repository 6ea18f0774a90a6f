// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/networks"
)

// findNetworks finds the networks that the template names and that do not exist. While a network is missing, no
// deployment is created, and the Workload is requeued.
func (s *scope) findNetworks(ctx context.Context) error {
	if s.Networks == nil {
		return nil
	}
	s.missingNetworks = s.Networks.Missing(ctx, s.project, namedNetworks(s.workload))
	if len(s.missingNetworks) > 0 {
		s.requeueAfter.AtMost(networks.Retry)
	}
	return nil
}

// namedNetworks returns the networks that the template of a Workload names.
func namedNetworks(workload *v1alpha.Workload) []types.NamespacedName {
	var named []types.NamespacedName
	interfaces := workload.Spec.Template.Spec.NetworkInterfaces
	for i := range interfaces {
		network := &interfaces[i].Network
		named = append(named, types.NamespacedName{Namespace: cmp.Or(network.Namespace, workload.Namespace), Name: network.Name})
	}
	return named
}

// describeMissingNetworks returns a message with the missing networks and the remedy; "" if none is missing.
func (s *scope) describeMissingNetworks() string {
	if len(s.missingNetworks) == 0 {
		return ""
	}
	var names []string
	for _, network := range s.missingNetworks {
		names = append(names, fmt.Sprintf("%s in namespace %s", network.Name, network.Namespace))
	}
	return fmt.Sprintf("the project has no network %s; create it, or name another in spec.template.spec.networkInterfaces",
		strings.Join(names, ", and no network "))
}
