// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/federation"
)

const (
	// leftoverTimeout is how long the hub and the cells may take to remove the objects of a deleted Workload.
	leftoverTimeout  = 2 * time.Minute
	leftoverInterval = 250 * time.Millisecond
	// hubNamespacePrefix is the prefix of the names of hub namespaces.
	hubNamespacePrefix = "ns-"
)

// leftover is the number of objects of a kind that are left in a plane.
type leftover struct {
	plane, kind string
	count       int
}

// search is a kind to count in a plane.
type search struct {
	kind string
	list client.ObjectList
	// ours reports whether an object counts. Nil: all count.
	ours func(client.Object) bool
}

func inHubNamespace(object client.Object) bool {
	return strings.HasPrefix(object.GetNamespace(), hubNamespacePrefix)
}

func isHubNamespace(object client.Object) bool {
	return strings.HasPrefix(object.GetName(), hubNamespacePrefix)
}

// isOurWork reports whether a Work carries the hub namespace or an object in it. Karmada also has Works for its own purposes.
func (d *demo) isOurWork(object client.Object) bool {
	work, ok := object.(*workv1alpha1.Work)
	if !ok {
		return false
	}
	for i := range work.Spec.Workload.Manifests {
		if bytes.Contains(work.Spec.Workload.Manifests[i].Raw, []byte(d.hubNamespace)) {
			return true
		}
	}
	return false
}

// searches returns the kinds to count in a plane.
func (d *demo) searches(plane string) []search {
	deployments := search{kind: "workloaddeployments", list: &v1alpha.WorkloadDeploymentList{}}
	instances := search{kind: "instances", list: &v1alpha.InstanceList{}}
	namespaces := search{kind: "namespaces " + hubNamespacePrefix + "*", list: &corev1.NamespaceList{}, ours: isHubNamespace}
	switch plane {
	case project:
		own := func(object client.Object) bool { return object.GetNamespace() == d.federation.NamespaceIn(projectName) }
		deployments.ours, instances.ours = own, own
		return []search{{kind: "workloads", list: &v1alpha.WorkloadList{}, ours: own}, deployments, instances}
	case "hub":
		// Without Milo the originals are on the hub, too.
		deployments.ours = inHubNamespace
		return []search{
			deployments, namespaces,
			{kind: "propagationpolicies", list: &policyv1alpha1.PropagationPolicyList{}, ours: inHubNamespace},
			{kind: "resourcebindings", list: &workv1alpha2.ResourceBindingList{}, ours: inHubNamespace},
			{kind: "works", list: &workv1alpha1.WorkList{}, ours: d.isOurWork},
		}
	default:
		return []search{
			deployments, instances, namespaces,
			{kind: "pods in " + hubNamespacePrefix + "*", list: &corev1.PodList{}, ours: inHubNamespace},
		}
	}
}

// findLeftovers counts the leftover objects in every plane until no object is left.
func (d *demo) findLeftovers(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, leftoverTimeout, errTooLate)
	defer cancel()
	var found []leftover
	err := wait.PollUntilContextCancel(ctx, leftoverInterval, true, func(ctx context.Context) (bool, error) {
		current, err := d.countLeftovers(ctx)
		if err != nil {
			return false, err
		}
		found = current
		d.screen.Show([]string{summary(found)})
		return total(found) == 0, nil
	})
	d.screen.End()
	for _, line := range leftoverTable(d.running, found) {
		d.screen.Line("  %s", line)
	}
	// The timeout may also have ended a request, with another error.
	if err != nil && errors.Is(context.Cause(ctx), errTooLate) {
		return fmt.Errorf("timed out after %s, waiting until nothing of the Workload is left; %s", leftoverTimeout, summary(found))
	}
	if err != nil {
		return fmt.Errorf("count the objects that are left: %w", err)
	}
	return nil
}

func (d *demo) countLeftovers(ctx context.Context) ([]leftover, error) {
	planes := []string{project, "hub"}
	for _, cell := range d.federation.Cells() {
		planes = append(planes, "cell/"+cell.Name)
	}
	var result []leftover
	for _, plane := range planes {
		c, err := d.client(plane, federation.Admin)
		if err != nil {
			return nil, err
		}
		for _, s := range d.searches(plane) {
			count, err := s.count(ctx, c)
			if err != nil {
				return nil, fmt.Errorf("%s in %s: %w", s.kind, plane, err)
			}
			result = append(result, leftover{plane: plane, kind: s.kind, count: count})
		}
	}
	return result, nil
}

func (s *search) count(ctx context.Context, c client.Client) (int, error) {
	if err := c.List(ctx, s.list); err != nil {
		return 0, err
	}
	if s.ours == nil {
		return meta.LenList(s.list), nil
	}
	count := 0
	err := meta.EachListItem(s.list, func(item runtime.Object) error {
		if object, ok := item.(client.Object); ok && s.ours(object) {
			count++
		}
		return nil
	})
	return count, err
}

func total(found []leftover) int {
	sum := 0
	for _, l := range found {
		sum += l.count
	}
	return sum
}

// summary lists the leftover objects in one line.
func summary(found []leftover) string {
	var parts []string
	for _, l := range found {
		if l.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s in %s", l.count, l.kind, l.plane))
		}
	}
	if len(parts) == 0 {
		return "nothing is left"
	}
	return "left: " + strings.Join(parts, ", ")
}

// leftoverTable shows every count next to the count while the Workload ran. A plane is named in its first row only. Both lists have the
// same kinds in the same order.
func leftoverTable(running, found []leftover) []string {
	rows := [][]string{{"PLANE", "KIND", "RUNNING", "LEFT"}}
	last := ""
	for i, l := range found {
		name := l.plane
		if name == last {
			name = ""
		}
		last = l.plane
		rows = append(rows, []string{name, l.kind, strconv.Itoa(running[i].count), strconv.Itoa(l.count)})
	}
	return terminal.Align(rows)
}
