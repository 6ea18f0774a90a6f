// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cucumber/godog"
	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/federation"
)

// addCellSteps are the sentences about cells as a whole.
func addCellSteps(sc sentences) {
	sc.Step(`^the federation has cells? "([^"]*)"$`, func(ctx context.Context, names string) error {
		return from(ctx).takeCells(ctx, splitNames(names))
	})
	sc.Step(`^cell "([^"]*)" is in pull mode and cannot reach the webhooks$`, func(ctx context.Context, cell string) error {
		s := from(ctx)
		if err := federation.NetworkNamespaces(); err != nil {
			fmt.Fprintf(s.out, "skipped: %v\n", err)
			return godog.ErrSkip
		}
		if err := s.takeCells(ctx, []string{cell}); err != nil {
			return err
		}
		return s.isCutOff(ctx, cell)
	})
	sc.Step(`^cell "([^"]*)" (goes down|comes back)$`, func(ctx context.Context, cell, what string) error {
		s := from(ctx)
		if what == "comes back" {
			return s.disturbed.now(ctx, "cell "+cell)
		}
		s.disturbed.add("cell "+cell, func(ctx context.Context) error { return s.bringBack(ctx, cell) })
		return s.federation.StopCell(ctx, cell)
	})
	sc.Step(`^the Work of the namespace for cell "([^"]*)" loses its finalizers$`, func(ctx context.Context, cell string) error {
		s := from(ctx)
		work := &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
			Namespace: karmadanames.GenerateExecutionSpaceName(cell), Name: karmadanames.GenerateWorkName("Namespace", s.hubNamespace(), ""),
		}}
		return s.client("hub", admin).Patch(ctx, work, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	})
	sc.Step(`^a deployment "([^"]*)" with a quota that grants nothing is put into cell "([^"]*)"$`, func(ctx context.Context, name, cell string) error {
		return from(ctx).putDeployment(ctx, cell, name)
	})
}

// bringBack starts a cell again and waits until its node has restarted the add-on's agent, which ends when it cannot renew
// its lease.
func (s *scenario) bringBack(ctx context.Context, cell string) error {
	return errors.Join(s.federation.StartCell(ctx, cell), s.addOn.WaitAgent(ctx, cell))
}

// extraCell is a cell that is added once, for whichever scenario is first: most need none, and each takes a while to start.
type extraCell struct {
	federation.Cell
	once sync.Once
	err  error
	// taken holds one token while a scenario has the cell to itself.
	taken turns
}

func newExtraCells() map[string]*extraCell {
	cells := map[string]*extraCell{}
	for _, cell := range []federation.Cell{
		{Name: "iad-1", City: "IAD"}, {Name: "iad-2", City: "IAD"}, {Name: "lhr", City: "LHR", Pull: true}, {Name: containersCell, City: "HOU", Containers: 2},
	} {
		cells[cell.Name] = &extraCell{Cell: cell, taken: make(turns, 1)}
	}
	return cells
}

// add adds the cell to the federation, if it is not there yet.
func (c *extraCell) add(ctx context.Context, w *World) error {
	c.once.Do(func() {
		begin := time.Now()
		if c.err = w.federation.AddCell(ctx, c.Cell); c.err == nil {
			c.err = w.addOn.WaitAgent(ctx, c.Name)
		}
		if c.Containers > 0 && c.err == nil {
			c.err = w.openToAll(ctx, c.City)
		}
		fmt.Fprintf(w.out, "cell %s added in %s\n", c.Name, time.Since(begin).Round(time.Millisecond))
	})
	return c.err
}

// openToAll lets the projects that scenarios share use a city for good: scenarios use it at the same time.
func (w *World) openToAll(ctx context.Context, city string) error {
	for _, project := range sharedProjects {
		if err := w.federation.BindLocation(ctx, project, city); err != nil {
			return err
		}
	}
	return nil
}

// takeCells adds extra cells, if they are not there yet, keeps them from other scenarios until what this one made is gone,
// and waits until Karmada knows that they are empty: they may be stopped, moved and made smaller. Scenarios take cells in the
// order of their names.
func (s *scenario) takeCells(ctx context.Context, names []string) error {
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(s.taken, name) })
	for _, name := range names {
		cell, ok := s.extra[name]
		if !ok {
			return fmt.Errorf("no cell %q is known", name)
		}
		if err := s.turns.yield(ctx, func(ctx context.Context) error { return cell.taken.take(ctx) }); err != nil {
			return err
		}
		s.taken = append(s.taken, name)
		s.made.add("cell "+name, func(context.Context) error { return cell.taken.give() })
	}
	var adding sync.WaitGroup
	problems := make([]error, len(names))
	for i, name := range names {
		adding.Go(func() {
			if problems[i] = s.extra[name].add(ctx, s.World); problems[i] == nil {
				problems[i] = s.knownToBeEmpty(ctx, name)
			}
		})
	}
	adding.Wait()
	return errors.Join(problems...)
}

// cells are those that no other scenario may have to itself, and stop.
func (s *scenario) cells() []string {
	var cells []string
	for _, cell := range s.federation.Cells() {
		if _, extra := s.extra[cell.Name]; !extra || slices.Contains(s.taken, cell.Name) {
			cells = append(cells, cell.Name)
		}
	}
	return cells
}

// isCutOff asks from where the cell's karmada-agent is: it reaches the hub, which asks nobody there, and no webhook.
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
	c := s.client("hub", admin)
	cluster := &clusterv1alpha1.Cluster{}
	return cluster, c.Get(ctx, client.ObjectKey{Name: name}, cluster)
}

// putDeployment puts a deployment straight into a cell, in a namespace made for it.
func (s *scenario) putDeployment(ctx context.Context, cell, name string) error {
	c := s.client("cell/"+cell, admin)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.hubNamespace()}}
	if err := c.Create(ctx, namespace); err != nil {
		return err
	}
	s.removeLater("cell/"+cell, namespace)
	return c.Create(ctx, &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: name},
		Spec: v1alpha.WorkloadDeploymentSpec{
			WorkloadRef:   v1alpha.WorkloadReference{Name: name, UID: "none"},
			PlacementName: "main", CityCode: "DFW", Template: sampleTemplate(),
			ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1},
			Quota:         &v1alpha.WorkloadDeploymentQuota{},
		},
	})
}

// noWorks waits until no Work holds anything of the scenario's namespace.
func (s *scenario) noWorks(ctx context.Context) error {
	c := s.client("hub", admin)
	return eventually(ctx, func(ctx context.Context) error {
		var works workv1alpha1.WorkList
		if err := c.List(ctx, &works); err != nil {
			return err
		}
		for i := range works.Items {
			for _, manifest := range works.Items[i].Spec.Workload.Manifests {
				if strings.Contains(string(manifest.Raw), s.hubNamespace()) {
					return fmt.Errorf("Work %s/%s holds something of %s", works.Items[i].Namespace, works.Items[i].Name, s.hubNamespace())
				}
			}
		}
		return nil
	})
}
