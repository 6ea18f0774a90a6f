// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/cucumber/godog"
	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/federation"
)

func addTopologySteps(sc *godog.ScenarioContext) {
	sc.Step(`^the federation has cells? "([^"]*)"$`, func(ctx context.Context, names string) error {
		for _, name := range splitNames(names) {
			if err := from(ctx).takeCell(ctx, name); err != nil {
				return err
			}
		}
		return nil
	})
	sc.Step(`^cell "([^"]*)" is in pull mode and cannot reach the webhooks$`, func(ctx context.Context, cell string) error {
		s := from(ctx)
		if err := federation.NetworkNamespaces(); err != nil {
			fmt.Fprintf(s.out, "skipped: %v\n", err)
			return godog.ErrSkip
		}
		if err := s.takeCell(ctx, cell); err != nil {
			return err
		}
		return s.isCutOff(ctx, cell)
	})
	sc.Step(`^Karmada says that cell "([^"]*)" is (not )?ready$`, func(ctx context.Context, cell, not string) error {
		return from(ctx).isReady(ctx, cell, not == "")
	})
}

// takeCell adds one of the extra cells, if it is not there yet, and keeps it from other scenarios until this one ends: it may
// be stopped, moved and made smaller. Scenarios take cells in the order of their names.
func (s *scenario) takeCell(ctx context.Context, name string) error {
	cell, ok := s.extra[name]
	if !ok {
		return fmt.Errorf("no cell %q is known", name)
	}
	if slices.Contains(s.taken, cell) {
		return nil
	}
	select {
	case cell.taken <- struct{}{}:
		s.taken = append(s.taken, cell)
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.needCell(ctx, cell)
}

// cells are those that no other scenario may have to itself, and stop.
func (s *scenario) cells() []string {
	var cells []string
	for _, cell := range s.federation.Cells() {
		if extra, is := s.extra[cell.Name]; !is || slices.Contains(s.taken, extra) {
			cells = append(cells, cell.Name)
		}
	}
	return cells
}

func (s *scenario) giveCells() {
	for _, cell := range s.taken {
		<-cell.taken
	}
	s.taken = nil
}

// isCutOff looks from where the cell's karmada-agent is: it reaches the hub, which asks nobody there, and no webhook.
func (s *scenario) isCutOff(ctx context.Context, cell string) error {
	cluster, err := s.cluster(ctx, cell)
	if err != nil {
		return err
	}
	if cluster.Spec.SyncMode != clusterv1alpha1.Pull {
		return fmt.Errorf("the sync mode of cluster %s is %s", cell, cluster.Spec.SyncMode)
	}
	wanted := map[string]bool{s.addOn.WebhooksAddress(): false}
	for i := range s.addOn.Replicas() {
		address, err := s.addOn.WebhookAddress(i)
		if err != nil {
			return err
		}
		wanted[address] = false
	}
	for address := range wanted {
		// That they are not reached from the cell proves something only while they are from here.
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		if err := connection.Close(); err != nil {
			return err
		}
	}
	for _, plane := range []string{"hub", "cell/" + cell} {
		config, err := s.federation.Config(plane, admin)
		if err != nil {
			return err
		}
		wanted[strings.TrimPrefix(config.Host, "https://")] = true
	}
	for address, want := range wanted {
		reached, err := s.federation.AgentReaches(ctx, cell, address)
		if err != nil {
			return err
		}
		if reached != want {
			return fmt.Errorf("from cell %s, %s is reached: %t", cell, address, reached)
		}
	}
	return nil
}

func (s *scenario) cluster(ctx context.Context, name string) (*clusterv1alpha1.Cluster, error) {
	c, err := s.client("hub", admin)
	if err != nil {
		return nil, err
	}
	cluster := &clusterv1alpha1.Cluster{}
	return cluster, c.Get(ctx, types.NamespacedName{Name: name}, cluster)
}

func (s *scenario) isReady(ctx context.Context, name string, wanted bool) error {
	return eventually(ctx, func(ctx context.Context) error {
		cluster, err := s.cluster(ctx, name)
		if err != nil {
			return err
		}
		if meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1alpha1.ClusterConditionReady) != wanted {
			return fmt.Errorf("conditions of cluster %s are %+v", name, cluster.Status.Conditions)
		}
		return nil
	})
}
