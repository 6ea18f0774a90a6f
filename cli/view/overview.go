// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Level is how much attention a Workload needs.
type Level string

// Levels of Workloads. A broken one needs an action; a rolling one changes, or waits, by itself.
const (
	LevelBroken  Level = "broken"
	LevelRolling Level = "rolling"
	LevelWell    Level = "well"
)

// Overview has the columns of a Workload in a list.
type Overview struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Cities are the codes of the cities that have a deployment, in the order of the alphabet.
	Cities []string `json:"cities,omitempty"`
	// Deployments are its deployments, in the order of cities and names.
	Deployments []CityOverview `json:"deployments,omitempty"`
	// Ready and Desired are numbers of Instances.
	Ready   int32 `json:"ready"`
	Desired int32 `json:"desired"`
	// Rollout is the phase of the rollout, with the city that it is in while it has not ended.
	Rollout string `json:"rollout,omitempty"`
	// Reason is the most specific reason of the Workload and its deployments.
	Reason string `json:"reason,omitempty"`
	Level  Level  `json:"level"`
	// Finding is the cause of a fault; nil when all is well.
	Finding *Finding `json:"finding,omitempty"`
	// Images are the images of the containers, in their order.
	Images []string `json:"images,omitempty"`
	// Addresses are the addresses of the cities that serve, if the Workload is exposed.
	Addresses []string    `json:"addresses,omitempty"`
	Created   metav1.Time `json:"created"`
}

// Equals reports whether two rows show the same; other may be nil.
func (o *Overview) Equals(other *Overview) bool { return reflect.DeepEqual(o, other) }

// CityOverview has the columns of a deployment in a list.
type CityOverview struct {
	City string `json:"city"`
	Name string `json:"name"`
	// State, Ready, Desired and Reason are the ones of its Node.
	State   string `json:"state"`
	Ready   int32  `json:"ready"`
	Desired int32  `json:"desired"`
	Reason  string `json:"reason,omitempty"`
	// Standing is the standing of the city, as far as the deployment shows it.
	Standing Standing `json:"standing"`
	// ReplacedBy is the city that runs its Instances instead.
	ReplacedBy string `json:"replacedBy,omitempty"`
}

// Overviews is a list of Workloads.
type Overviews struct {
	Items []Overview `json:"items"`
}

// Names returns the names of the Workloads, as `kubectl get -o name` prints them.
func (o *Overviews) Names() (names []string) {
	for i := range o.Items {
		names = append(names, "workload."+v1alpha.GroupVersion.Group+"/"+o.Items[i].Name)
	}
	return names
}

// ReadOverviews reads the Workloads that the options select, by namespace and name.
func ReadOverviews(ctx context.Context, project client.Reader, now time.Time, options ...client.ListOption) ([]Overview, error) {
	return Ordering(nil).ReadOverviews(ctx, project, now, options...)
}

// Ordering sorts Workloads that are ordered by namespace and name. It may be nil.
type Ordering func([]v1alpha.Workload) error

// ReadOverviews reads the Workloads that the options select, in the order in which they are shown.
func (o Ordering) ReadOverviews(
	ctx context.Context, project client.Reader, now time.Time, options ...client.ListOption,
) ([]Overview, error) {
	workloads, deployments, err := readSelected(ctx, project, options)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(workloads, func(a, b v1alpha.Workload) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	if o != nil {
		if err := o(workloads); err != nil {
			return nil, err
		}
	}
	byWorkload := map[types.UID][]v1alpha.WorkloadDeployment{}
	for i := range deployments {
		uid := deployments[i].Spec.WorkloadRef.UID
		byWorkload[uid] = append(byWorkload[uid], deployments[i])
	}
	result := make([]Overview, 0, len(workloads))
	for i := range workloads {
		result = append(result, OverviewOf(&workloads[i], byWorkload[workloads[i].UID], now))
	}
	return result, nil
}

// readSelected reads the Workloads that the options select, and the deployments where these may be.
func readSelected(
	ctx context.Context, project client.Reader, options []client.ListOption,
) ([]v1alpha.Workload, []v1alpha.WorkloadDeployment, error) {
	workloads := &v1alpha.WorkloadList{}
	if err := project.List(ctx, workloads, options...); err != nil || len(workloads.Items) == 0 {
		return nil, nil, err
	}
	deployments := &v1alpha.WorkloadDeploymentList{}
	if err := project.List(ctx, deployments, withoutSelector(options)...); err != nil {
		return nil, nil, err
	}
	return workloads.Items, deployments.Items, nil
}

// withoutSelector returns the options without the labels. These are the Workloads': their deployments and Instances may
// have others.
func withoutSelector(options []client.ListOption) []client.ListOption {
	return slices.DeleteFunc(slices.Clone(options), func(option client.ListOption) bool {
		_, selects := option.(client.MatchingLabelsSelector)
		return selects
	})
}

// OverviewOf returns the overview of a Workload, from its deployments among all. It changes neither.
func OverviewOf(workload *v1alpha.Workload, all []v1alpha.WorkloadDeployment, now time.Time) Overview {
	s := &Snapshot{Name: workload.Name, Namespace: workload.Namespace, Workload: workload, Now: now}
	for i := range all {
		if all[i].Namespace == workload.Namespace && all[i].Spec.WorkloadRef.UID == workload.UID {
			s.Deployments = append(s.Deployments, all[i])
		}
	}
	s.sort()

	tree := s.Tree()
	o := Overview{
		Namespace: workload.Namespace, Name: workload.Name, Created: workload.CreationTimestamp,
		Ready: workload.Status.ReadyReplicas, Desired: workload.Status.DesiredReplicas,
		Rollout: rolloutOf(workload), Reason: tree.Reason, Finding: tree.Finding, Images: ImagesOf(&workload.Spec.Template),
		Addresses: addressesOf(workload.Status.Endpoints, true),
	}
	if o.Finding != nil {
		o.Reason = o.Finding.Reason
	}
	for _, city := range tree.Children {
		o.Cities = append(o.Cities, city.City)
		o.Deployments = append(o.Deployments, CityOverview{
			City: city.City, Name: city.Name, State: city.State, Ready: *city.Ready, Desired: *city.Desired, Reason: city.Reason,
			Standing: city.standing(workload), ReplacedBy: city.ReplacedBy,
		})
		if city.Finding != nil && (o.Finding == nil || city.Finding.supersedes(o.Finding)) {
			o.Finding, o.Reason = city.Finding, city.Finding.Reason
		}
	}
	if found := s.workloadFinding(); found != nil {
		o.Finding, o.Reason = found, found.Reason
	}
	slices.Sort(o.Cities)
	o.Cities = slices.Compact(o.Cities)
	o.Level = o.level(workload)
	return o
}

func (o *Overview) level(workload *v1alpha.Workload) Level {
	if level := levelOf(o.Finding, o.Ready, o.Desired); level != LevelWell || !rolls(workload) {
		return level
	}
	return LevelRolling
}

// standing returns the standing of the city of a deployment. While another city runs the Instances, only the cells count.
func (n *Node) standing(workload *v1alpha.Workload) Standing {
	if n.ReplacedBy != "" {
		return standingOf(n.covered, LevelWell)
	}
	return standingOf(n.Finding, levelIn(n, workload))
}

// levelIn returns the level of a deployment of a Workload: its city is rolling while the rollout is there.
func levelIn(city *Node, workload *v1alpha.Workload) Level {
	level := levelOf(city.Finding, *city.Ready, *city.Desired)
	if level == LevelWell && rolls(workload) && workload.Status.Rollout.City == city.City {
		return LevelRolling
	}
	return level
}

// levelOf returns the level of an object with a finding, which may be nil, and so many Instances.
func levelOf(finding *Finding, ready, desired int32) Level {
	fault := finding != nil && !finding.Warning
	switch {
	case fault && finding.urgent():
		return LevelBroken
	case fault, ready < desired:
		return LevelRolling
	}
	return LevelWell
}

// rolls reports whether a rollout of a Workload has not ended.
func rolls(workload *v1alpha.Workload) bool {
	rollout := workload.Status.Rollout
	return rollout != nil && rollout.Phase != v1alpha.RolloutComplete
}

// rolloutOf returns the phase of the rollout of a Workload, with the city that it is in.
func rolloutOf(workload *v1alpha.Workload) string {
	rollout := workload.Status.Rollout
	if rollout == nil {
		return ""
	}
	return strings.TrimSpace(string(rollout.Phase) + " " + rollout.City)
}

// ImagesOf returns the images of the containers of a template; none for a virtual machine.
func ImagesOf(template *v1alpha.InstanceTemplateSpec) []string {
	sandbox := template.Spec.Runtime.Sandbox
	if sandbox == nil {
		return nil
	}
	var images []string
	for i := range sandbox.Containers {
		images = append(images, sandbox.Containers[i].Image)
	}
	return images
}
