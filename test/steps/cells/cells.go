// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/cucumber/godog"
	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/steps/workloads"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addCellSteps adds the sentences about whole cells.
func addCellSteps(sc world.Sentences) {
	sc.Step(`^the federation has cells? "([^"]*)"$`, func(ctx context.Context, names string) error {
		return from(ctx).TakeCells(ctx, world.SplitNames(names))
	})
	sc.Step(`^cell "([^"]*)" is in pull mode and cannot reach the webhooks$`, func(ctx context.Context, cell string) error {
		s := from(ctx)
		if err := federation.NetworkNamespaces(); err != nil {
			fmt.Fprintf(s.Out, "skipped: %v\n", err)
			return godog.ErrSkip
		}
		if err := s.TakeCells(ctx, []string{cell}); err != nil {
			return err
		}
		return s.isCutOff(ctx, cell)
	})
	sc.Step(`^cell "([^"]*)" (goes down|returns)$`, func(ctx context.Context, cell, what string) error {
		s := from(ctx)
		if what == "returns" {
			return s.Disturbed.Now(ctx, "cell "+cell)
		}
		s.Disturbed.Add("cell "+cell, func(ctx context.Context) error { return s.bringBack(ctx, cell) })
		return s.Federation.StopCell(ctx, cell)
	})
	sc.Step(`^the Work of the namespace for cell "([^"]*)" loses its finalizers$`, func(ctx context.Context, cell string) error {
		s := from(ctx)
		work := &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
			Namespace: karmadanames.GenerateExecutionSpaceName(cell), Name: karmadanames.GenerateWorkName("Namespace", s.HubNamespace(), ""),
		}}
		return s.Client("hub", world.Admin).Patch(ctx, work, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	})
	sc.Step(`^a deployment "([^"]*)" with a quota that grants nothing is put into cell "([^"]*)"$`,
		func(ctx context.Context, name, cell string) error {
			return from(ctx).putDeployment(ctx, cell, name)
		})
}

// bringBack starts a cell again and waits until its node has restarted the add-on's agent, which ends when it cannot
// renew its lease.
func (s Steps) bringBack(ctx context.Context, cell string) error {
	return errors.Join(s.Federation.StartCell(ctx, cell), s.AddOn.WaitAgent(ctx, cell))
}

// isCutOff checks the connections from the network of the cell's karmada-agent: it reaches the hub, which reaches no
// server there, and it reaches no webhook.
func (s Steps) isCutOff(ctx context.Context, cell string) error {
	cluster, err := s.Cluster(ctx, cell)
	if err != nil {
		return err
	}
	if cluster.Spec.SyncMode != clusterv1alpha1.Pull {
		return fmt.Errorf("the sync mode of cluster %s is %s", cell, cluster.Spec.SyncMode)
	}
	wanted := map[string]bool{s.AddOn.WebhooksAddress(): false}
	for i := range s.AddOn.Replicas() {
		address, err := s.AddOn.WebhookAddress(i)
		if err != nil {
			return err
		}
		wanted[address] = false
	}
	for address := range wanted {
		// A failure from the cell proves something only if this machine reaches the address.
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		if err := connection.Close(); err != nil {
			return err
		}
	}
	for _, plane := range []string{"hub", "cell/" + cell} {
		config, err := s.Federation.Config(plane, world.Admin)
		if err != nil {
			return err
		}
		wanted[strings.TrimPrefix(config.Host, "https://")] = true
	}
	for address, want := range wanted {
		reached, err := s.Federation.AgentReaches(ctx, cell, address)
		if err != nil {
			return err
		}
		if reached != want {
			return fmt.Errorf("from cell %s, %s is reached: %t", cell, address, reached)
		}
	}
	return nil
}

// putDeployment creates a deployment whose quota grants nothing.
func (s Steps) putDeployment(ctx context.Context, cell, name string) error {
	return workloads.In(s.Scenario).PutDeployment(ctx, cell, &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha.WorkloadDeploymentSpec{
			ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1}, Quota: &v1alpha.WorkloadDeploymentQuota{},
		},
	})
}
