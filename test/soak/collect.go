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

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
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

// NewScheme returns a scheme of the kinds in the planes of a federation.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha.AddToScheme, clusterv1alpha1.Install, policyv1alpha1.Install,
		workv1alpha1.Install, workv1alpha2.Install, configv1alpha1.Install,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("build the scheme: %w", err)
		}
	}
	return scheme, nil
}

// NewClient returns a client of a plane that neither limits itself nor repeats warnings. With groups the user claims to
// be in these.
func NewClient(f *federation.Federation, plane, user string, groups ...string) (client.Client, error) {
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	config, err := f.Config(plane, user)
	if err != nil {
		return nil, err
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	if len(groups) > 0 {
		config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	}
	return client.New(config, client.Options{Scheme: scheme})
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
		var err error
		if c.planes[plane], err = NewClient(f, plane, federation.Admin); err != nil {
			return nil, err
		}
	}
	for _, project := range projects {
		var found corev1.Namespace
		if err := c.planes["project/"+project].Get(ctx, client.ObjectKey{Name: c.namespaceIn(project)}, &found); err != nil {
			return nil, fmt.Errorf("read namespace %s of project %s: %w", c.namespaceIn(project), project, err)
		}
		projectUID, err := c.projectUID(ctx, project)
		if err != nil {
			return nil, err
		}
		c.hubNamespaces[project] = naming.HubNamespace(projectUID, string(found.UID))
	}
	return c, nil
}

// projectUID reads the identity of a project.
func (c *collector) projectUID(ctx context.Context, name string) (string, error) {
	project := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "resourcemanager.miloapis.com/v1alpha1", Kind: "Project"}}
	plane := miloPlane
	if c.withoutMilo {
		project.TypeMeta, plane = metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, hubPlane
	}
	if err := c.planes[plane].Get(ctx, client.ObjectKey{Name: name}, project); err != nil {
		return "", fmt.Errorf("read project %s: %w", name, err)
	}
	return string(project.UID), nil
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
