// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

// collectTimeout bounds the time until all planes answer.
const collectTimeout = time.Minute

// collector reads views of a namespace of projects.
type collector struct {
	// namespaceIn returns the namespace of the Workloads in a project.
	namespaceIn func(project string) string
	// withoutMilo is true if projects are namespaces of the hub.
	withoutMilo bool
	// hubNamespaces by project.
	hubNamespaces map[string]string
	// cities are the cells of each city.
	cities map[string][]string
	planes map[string]client.Client
}

// newCollector finds the hub namespaces of the projects of a soak.
func newCollector(ctx context.Context, s *Soak) (*collector, error) {
	f, projects := s.Federation, s.Projects
	c := &collector{
		namespaceIn: s.namespaceIn, withoutMilo: f.WithoutMilo(),
		hubNamespaces: map[string]string{}, cities: map[string][]string{}, planes: map[string]client.Client{},
	}
	planes := []string{hubPlane}
	if !c.withoutMilo {
		planes = append(planes, miloPlane)
	}
	for _, project := range projects {
		planes = append(planes, "project/"+project)
	}
	for _, cell := range f.Cells() {
		planes = append(planes, "cell/"+cell.Name)
		city := strings.ToUpper(cell.City)
		c.cities[city] = append(c.cities[city], cell.Name)
	}
	for _, plane := range planes {
		c.planes[plane] = s.Client(plane, federation.Admin)
	}
	for _, project := range projects {
		place, err := s.Place(ctx, project, s.namespaceIn(project))
		if err != nil {
			return nil, err
		}
		c.hubNamespaces[project] = place.HubNamespace
	}
	return c, nil
}

// collect reads one view per project. It fails when any plane does not answer.
func (c *collector) collect(ctx context.Context) ([]*View, error) {
	ctx, cancel := context.WithTimeout(ctx, collectTimeout)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4) // the machine is busy with what is watched
	projects := slices.Sorted(maps.Keys(c.hubNamespaces))
	views := make([]*View, len(projects))
	for i, project := range projects {
		group.Go(func() error {
			view, err := c.view(ctx, project)
			views[i] = view
			return err
		})
	}
	return views, group.Wait()
}

// view reads the planes from the cells upwards: a report was true a moment before.
func (c *collector) view(ctx context.Context, project string) (*View, error) {
	v := &View{Project: project, Cities: c.cities, Cells: map[string]*CellView{}, Works: map[string][]Work{}}
	namespace := c.hubNamespaces[project]
	for _, cells := range c.cities {
		for _, cell := range cells {
			var err error
			if v.Cells[cell], err = c.cell(ctx, cell, namespace); err != nil {
				return nil, fmt.Errorf("cell %s: %w", cell, err)
			}
			if v.Works[cell], err = c.works(ctx, cell, namespace); err != nil {
				return nil, fmt.Errorf("hub: %w", err)
			}
		}
	}
	if err := c.hub(ctx, v, namespace); err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	var workloads v1alpha.WorkloadList
	var deployments v1alpha.WorkloadDeploymentList
	var instances v1alpha.InstanceList
	err := list(ctx, c.planes["project/"+project], c.namespaceIn(project), &workloads, &deployments, &instances)
	if err != nil {
		return nil, fmt.Errorf("project %s: %w", project, err)
	}
	v.Workloads, v.Deployments, v.Instances = workloads.Items, deployments.Items, instances.Items
	return v, nil
}

func (c *collector) cell(ctx context.Context, cell, namespace string) (*CellView, error) {
	var deployments v1alpha.WorkloadDeploymentList
	var instances v1alpha.InstanceList
	var pods corev1.PodList
	plane := c.planes["cell/"+cell]
	found, err := readNamespace(ctx, plane, namespace)
	if err == nil {
		err = list(ctx, plane, namespace, &deployments, &instances, &pods)
	}
	return &CellView{Namespace: found, Deployments: deployments.Items, Instances: instances.Items, Pods: pods.Items}, err
}

func (c *collector) hub(ctx context.Context, v *View, namespace string) (err error) {
	var copies v1alpha.WorkloadDeploymentList
	var policies policyv1alpha1.PropagationPolicyList
	var bindings workv1alpha2.ResourceBindingList
	if v.Namespace, err = readNamespace(ctx, c.planes[hubPlane], namespace); err == nil {
		err = list(ctx, c.planes[hubPlane], namespace, &copies, &policies, &bindings)
	}
	v.Copies, v.Policies, v.Bindings = copies.Items, policies.Items, bindings.Items
	return err
}

func (c *collector) works(ctx context.Context, cell, namespace string) ([]Work, error) {
	var all workv1alpha1.WorkList
	if err := list(ctx, c.planes[hubPlane], karmadanames.GenerateExecutionSpaceName(cell), &all); err != nil {
		return nil, err
	}
	var works []Work
	for i := range all.Items {
		work, err := readWork(&all.Items[i], namespace)
		if err != nil {
			return nil, err
		}
		if work != nil {
			works = append(works, *work)
		}
	}
	return works, nil
}

// list lists the objects of several kinds in a namespace.
func list(ctx context.Context, c client.Client, namespace string, lists ...client.ObjectList) error {
	for _, list := range lists {
		if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return err
		}
	}
	return nil
}

// readNamespace returns nil if the namespace does not exist.
func readNamespace(ctx context.Context, c client.Client, name string) (*corev1.Namespace, error) {
	namespace := &corev1.Namespace{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, namespace); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return namespace, nil
}
