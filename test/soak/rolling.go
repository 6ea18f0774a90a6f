// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

// RollingFault names the process that is down during one rollout.
type RollingFault struct {
	// Name of the fault, and Processes that are killed.
	Name      string
	Processes []string
}

// RollingFaults are the faults of a rolling soak, in order.
var RollingFaults = []RollingFault{
	{Name: "nothing"},
	{Name: "the hub's apiserver", Processes: []string{"hub-kube-apiserver"}},
	{Name: "karmada-controller-manager", Processes: []string{"karmada-controller-manager"}},
	{Name: "karmada-scheduler", Processes: []string{"karmada-scheduler"}},
	{Name: "one replica", Processes: []string{"replica/0"}},
	{Name: "both replicas", Processes: []string{"replica/0", "replica/1"}},
	{Name: "Milo", Processes: []string{"milo"}},
	{Name: "the apiserver of the cell in progress", Processes: []string{"cell-dfw-kube-apiserver"}},
	{Name: "the agent of the cell in progress", Processes: []string{"agent/dfw"}},
}

const (
	// rollingCity is how many Instances each of two cities has, and rollingMinimum how many stay Available in both
	// together.
	rollingCity, rollingMinimum = 4, 6
	// rollingReady lets a rollout last longer than the kill takes.
	rollingReady = 3
	// lookInterval is the time between two reads of the state of a rollout.
	lookInterval = 100 * time.Millisecond
	rollingName  = "rolling"
)

// Rolling is a soak of rollouts with a disruption budget: one rollout for each fault, during which its processes are
// down.
type Rolling struct {
	*Soak
	// Down is how long the processes of a fault are down.
	Down time.Duration
	// Faults default to RollingFaults.
	Faults []RollingFault

	project client.Client
	cells   *availability
}

// RollingResult is the result of one rollout.
type RollingResult struct {
	Fault string
	// Recovered is how long after the processes were started again the rollout was complete.
	Recovered time.Duration
	// Fewest is how many Instances were Available in all cells at least, and Replaced how many were replaced.
	Fewest, Replaced int
	Problems         []string
}

// Row is the result as a row of the table in docs/reliability.md.
func (r *RollingResult) Row() string {
	return fmt.Sprintf("| %s | %d of %d, minimum %d | %d | %.0f s |", r.Fault, r.Fewest, 2*rollingCity, rollingMinimum,
		r.Replaced, r.Recovered.Seconds())
}

// Err has what the fault has violated.
func (r *RollingResult) Err() error {
	if len(r.Problems) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", r.Fault, strings.Join(r.Problems, "; "))
}

// Run rolls out once for each fault.
func (r *Rolling) Run(ctx context.Context) ([]RollingResult, error) {
	if len(r.Faults) == 0 {
		r.Faults = RollingFaults
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := r.connectRolling(ctx); err != nil {
		return nil, err
	}
	if err := r.prepareRolling(ctx); err != nil {
		return nil, err
	}
	var results []RollingResult
	for i, fault := range r.Faults {
		result, err := r.roll(ctx, i+1, fault)
		if err != nil {
			return results, fmt.Errorf("%s: %w", fault.Name, err)
		}
		r.printf("%s", result.Row())
		results = append(results, *result)
	}
	return results, nil
}

// prepareRolling creates the Workload and waits until its budget is in force.
func (r *Rolling) prepareRolling(ctx context.Context) error {
	wanted := &Wanted{Image: rollingImage(0), Placements: []Placement{{Name: "main", Cities: []string{"DFW", "ORD"}, Replicas: rollingCity}}}
	workload := wanted.Workload(r.namespaceIn(r.Projects[0]), rollingName)
	workload.Spec.MinReadySeconds = new(int32(rollingReady))
	workload.Spec.Placements[0].ScaleSettings.InstanceManagementPolicy = v1alpha.Parallel
	unavailable, minimum := intstr.FromInt32(2*rollingCity-rollingMinimum), intstr.FromInt32(rollingMinimum)
	workload.Spec.Rollout = &v1alpha.WorkloadRollout{MaxUnavailable: &unavailable}
	workload.Spec.Disruption = &v1alpha.WorkloadDisruption{MinAvailable: &minimum}
	if err := r.project.Create(ctx, workload); err != nil {
		return fmt.Errorf("create the Workload of the rollouts: %w", err)
	}
	return r.await(ctx, "has its budget in force", settledWith(rollingImage(0)))
}

// connectRolling connects to the project and watches the cells until ctx ends.
func (r *Rolling) connectRolling(ctx context.Context) (err error) {
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	r.processes = NewProcesses(r.Federation, r.AddOn)
	if err := r.connect(ctx); err != nil {
		return err
	}
	r.project = r.Client("project/"+r.Projects[0], federation.Consumer)
	r.cells, err = watchAvailability(ctx, r.Federation, r.collector.hubNamespaces[r.Projects[0]], true)
	return err
}

// roll rolls out a template, with the processes of a fault down in the middle.
func (r *Rolling) roll(ctx context.Context, number int, fault RollingFault) (*RollingResult, error) {
	r.cells.begin()
	image := rollingImage(number)
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"template": (&Wanted{Image: image}).template()}})
	if err != nil {
		return nil, err
	}
	key := &v1alpha.Workload{}
	key.Namespace, key.Name = r.namespaceIn(r.Projects[0]), rollingName
	if err := r.project.Patch(ctx, key, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return nil, fmt.Errorf("change the template: %w", err)
	}
	if err := r.await(ctx, "has an Instance with the new template", func(w *v1alpha.Workload) bool {
		return runsImage(w, image) && w.Status.ObservedGeneration == w.Generation && w.Status.UpdatedReplicas > 0
	}); err != nil {
		return nil, err
	}
	if err := r.down(ctx, fault.Processes); err != nil {
		return nil, err
	}
	up := r.Clock.Now()
	if err := r.await(ctx, "is rolled out", settledWith(image)); err != nil {
		return nil, err
	}
	result := &RollingResult{Fault: fault.Name, Recovered: r.Clock.Since(up)}
	var when string
	result.Fewest, result.Replaced, when = r.cells.end()
	if result.Fewest < rollingMinimum {
		result.Problems = append(result.Problems, fmt.Sprintf("%d Instances were Available, and the minimum is %d: %s",
			result.Fewest, rollingMinimum, when))
	}
	if result.Replaced != 2*rollingCity {
		result.Problems = append(result.Problems, fmt.Sprintf("%d Instances were replaced by a rollout of %d", result.Replaced, 2*rollingCity))
	}
	return result, nil
}

// down kills processes, keeps them down and starts them again, also after a failure. A client of an API server is
// killed before it and started after it.
func (r *Rolling) down(ctx context.Context, processes []string) error {
	if len(processes) == 0 {
		return nil
	}
	clientsFirst := slices.Clone(processes)
	slices.SortStableFunc(clientsFirst, func(a, b string) int { return cmp.Compare(killRank(a), killRank(b)) })
	errs := []error{r.keepDown(ctx, clientsFirst)}
	for _, process := range slices.Backward(clientsFirst) {
		errs = append(errs, r.processes.Start(context.WithoutCancel(ctx), process))
	}
	started, err := r.processes.StartEnded(context.WithoutCancel(ctx))
	if len(started) > 0 {
		r.printf("started again, since they had ended by themselves: %s", strings.Join(started, ", "))
	}
	return errors.Join(append(errs, err, context.Cause(ctx))...)
}

// killRank orders processes: replicas, then the clients of API servers, then API servers.
func killRank(process string) int {
	switch {
	case strings.HasPrefix(process, replicaPrefix):
		return 0
	case !strings.HasSuffix(process, "-kube-apiserver"):
		return 1
	}
	return 2
}

// keepDown kills processes and keeps them down.
func (r *Rolling) keepDown(ctx context.Context, processes []string) error {
	for _, process := range processes {
		r.printf("kill %s for %.0f s", process, r.Down.Seconds())
		if err := errors.Join(r.processes.Kill(ctx, process), r.processes.KeepDown(ctx, process)); err != nil {
			return err
		}
	}
	until := r.Clock.Now().Add(r.Down)
	for r.Clock.Now().Before(until) {
		for _, process := range processes {
			// A node starts the container of an agent again.
			if strings.HasPrefix(process, agentPrefix) {
				if err := r.processes.Kill(ctx, process); err != nil && !errors.Is(err, federation.ErrNotRunning) {
					return err
				}
			}
		}
		if !sleepUntil(ctx, r.Clock, r.Clock.Now().Add(lookInterval)) {
			break
		}
	}
	return nil
}

// await waits until the Workload is as it should be.
func (r *Rolling) await(ctx context.Context, what string, is func(*v1alpha.Workload) bool) error {
	begin, supervised, workload := r.Clock.Now(), r.Clock.Now(), &v1alpha.Workload{}
	for r.Clock.Since(begin) < r.Patience {
		err := r.project.Get(ctx, client.ObjectKey{Namespace: r.namespaceIn(r.Projects[0]), Name: rollingName}, workload)
		if err == nil && is(workload) {
			return nil
		}
		if r.Clock.Since(supervised) > superviseInterval {
			// As a kubelet does.
			if _, err := r.processes.StartEnded(ctx); err != nil {
				return err
			}
			supervised = r.Clock.Now()
		}
		if !sleepUntil(ctx, r.Clock, r.Clock.Now().Add(lookInterval)) {
			return context.Cause(ctx)
		}
	}
	status, err := json.Marshal(workload.Status)
	return errors.Join(fmt.Errorf("after %s it is not so that the Workload %s: %s", r.Patience, what, status), err)
}

func rollingImage(number int) string { return fmt.Sprintf("docker.io/library/nginx:1.%d", number) }

func runsImage(w *v1alpha.Workload, image string) bool {
	sandbox := w.Spec.Template.Spec.Runtime.Sandbox
	return sandbox != nil && sandbox.Containers[0].Image == image
}

// settledWith reports whether a Workload is rolled out, all Instances are Available, and its budget is in force.
func settledWith(image string) func(*v1alpha.Workload) bool {
	return func(w *v1alpha.Workload) bool {
		status, budget := &w.Status, meta.FindStatusCondition(w.Status.Conditions, v1alpha.ConditionDisruptionBudget)
		return runsImage(w, image) && status.ObservedGeneration == w.Generation && status.UpdatedAvailableReplicas == 2*rollingCity &&
			status.Rollout != nil && status.Rollout.Phase == v1alpha.RolloutComplete &&
			budget != nil && budget.Reason == v1alpha.ReasonBudgetInForce
	}
}
