// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/steps/faults"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

func addTrafficSteps(sc world.Sentences) {
	sc.Step(`^a client sends a request to Workload "([^"]*)" every 50 ms$`, func(ctx context.Context, workload string) error {
		return from(ctx).beginTraffic(ctx, workload)
	})
	sc.Step(`^the client has sent at least (\d+) requests, and none has failed$`, func(ctx context.Context, least int) error {
		return end(from(ctx).state().traffic.Stop(), least)
	})
	sc.Step(`^requests of the client are answered again, and none has failed while the name had an address$`,
		func(ctx context.Context) error { return from(ctx).endNamed(ctx) })
	sc.Step(`^no request of the client fails from (\d+) seconds after the hub has lost cell "([^"]*)"$`,
		func(ctx context.Context, seconds int, cell string) error {
			return from(ctx).recovers(ctx, cell, time.Duration(seconds)*time.Second)
		})
}

// recovers waits until the hub does not reach a cell, and until requests have been answered for a while. It fails if one failed later
// than limit after the hub had lost the cell.
func (s Steps) recovers(ctx context.Context, cell string, limit time.Duration) error {
	lost, err := s.Lost(ctx, cell)
	if err != nil {
		return err
	}
	if err := s.steady(ctx, lost.Add(limit)); err != nil {
		return err
	}
	killed, client := faults.Killed(s.Scenario), s.state().traffic.Counted()
	fmt.Fprintf(s.Out, "%s: %d of %d requests failed; the hub lost the cell after %s, and the last request failed %s after that\n",
		s.Name(), len(client.Failures), client.Sent, lost.Sub(killed).Round(100*time.Millisecond),
		client.Failed.Sub(lost).Round(100*time.Millisecond))
	if len(client.Failures) == 0 {
		return errors.New("no request has failed: the client does not use the cell")
	}
	if late := client.Failed.Sub(lost); late > limit {
		return fmt.Errorf("a request failed %s after the hub had lost the cell: %w", late, client.Failures[len(client.Failures)-1])
	}
	return nil
}

// lostInterval is the interval in which the hub is asked whether it reaches a cell.
const lostInterval = 50 * time.Millisecond

// Lost waits until the hub does not reach a cell, and returns since when. It is found once.
func (s Steps) Lost(ctx context.Context, cell string) (time.Time, error) {
	state := s.state()
	if since, known := state.lost[cell]; known {
		return since, nil
	}
	if err := federation.Await(ctx, lostInterval, world.Patience, func(ctx context.Context) error {
		cluster, err := s.Cluster(ctx, cell)
		if err == nil && meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1alpha1.ClusterConditionReady) {
			err = fmt.Errorf("the hub reaches cell %s", cell)
		}
		return err
	}); err != nil {
		return time.Time{}, err
	}
	if state.lost == nil {
		state.lost = map[string]time.Time{}
	}
	state.lost[cell] = time.Now()
	return state.lost[cell], nil
}

// steadyRequests is how many answers in a row show that requests do not fail any more.
const steadyRequests = 200

// steady waits until the end of the time in which requests may fail, and until enough have been answered in a row.
func (s Steps) steady(ctx context.Context, end time.Time) error {
	return world.Eventually(ctx, func(context.Context) error {
		if answered := s.state().traffic.Counted().Answered; answered < steadyRequests || time.Now().Before(end) {
			return fmt.Errorf("%d requests have been answered since the last failure", answered)
		}
		return nil
	})
}

func (s Steps) beginTraffic(ctx context.Context, workload string) error {
	if _, err := s.readyInstances(ctx, workload); err != nil {
		return err
	}
	return s.BeginTraffic(ctx, "Workload "+workload, func(ctx context.Context, n int) error {
		names, err := s.readyInstances(ctx, workload)
		if err != nil {
			return err
		}
		return s.requestOne(ctx, names[n%len(names)])
	})
}

// BeginTraffic sends requests until the scenario ends the client, each with its number from 0.
func (s Steps) BeginTraffic(ctx context.Context, to string, send func(ctx context.Context, n int) error) error {
	client := federation.BeginTraffic(context.WithoutCancel(ctx), send)
	s.state().traffic = client
	s.Disturbed.Add("the requests to "+to, func(context.Context) error {
		client.Stop()
		return nil
	})
	return nil
}

// requestOne sends a request to an Instance that the project has just shown as Ready.
func (s Steps) requestOne(ctx context.Context, instance string) error {
	url, err := s.urlOf(ctx, instance, "/")
	if err != nil {
		return err
	}
	answer, err := Call(ctx, http.MethodGet, url)
	if err == nil && answer == "" {
		err = errors.New("the answer is empty")
	}
	if err != nil {
		return fmt.Errorf("request to Instance %s: %w", instance, err)
	}
	return nil
}

// readyInstances returns the names of the Instances of a Workload that the project shows as Ready. It fails without
// one.
func (s Steps) readyInstances(ctx context.Context, workload string) ([]string, error) {
	var instances v1alpha.InstanceList
	if err := s.Client(s.Plane(""), world.Admin).List(ctx, &instances, client.InNamespace(s.Namespace)); err != nil {
		return nil, err
	}
	var names []string
	for i := range instances.Items {
		instance := &instances.Items[i]
		if instance.Labels[v1alpha.LabelWorkloadName] == workload && instance.DeletionTimestamp == nil &&
			meta.IsStatusConditionTrue(instance.Status.Conditions, v1alpha.ConditionReady) {
			names = append(names, instance.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no Instance of Workload %s is Ready", workload)
	}
	return names, nil
}

// endNamed is end for a client of a name that has had no address for a while.
func (s Steps) endNamed(ctx context.Context) error {
	begin := time.Now()
	if err := s.steady(ctx, begin); err != nil {
		return err
	}
	counted := s.state().traffic.Stop()
	all := len(counted.Failures)
	counted.Failures = slices.DeleteFunc(counted.Failures, func(err error) bool { return errors.Is(err, federation.ErrNoAddress) })
	nameless := all - len(counted.Failures)
	fmt.Fprintf(s.Out, "%s: %d requests, and no address for %d of them, about %s\n", s.Name(), counted.Sent, nameless,
		(time.Duration(nameless) * federation.RequestInterval).Round(time.Second))
	return end(counted, nameless+steadyRequests)
}

// end fails if a request has failed or there were fewer than least.
func end(counted federation.Counted, least int) error {
	if len(counted.Failures) > 0 {
		return fmt.Errorf("%d of %d requests have failed, the first: %w", len(counted.Failures), counted.Sent, counted.Failures[0])
	}
	if counted.Sent < least {
		return fmt.Errorf("the client has sent %d requests only", counted.Sent)
	}
	return nil
}
