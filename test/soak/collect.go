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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/federation"
	"github.com/karmada-compute/karmada-compute/internal/naming"
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

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha.AddToScheme, policyv1alpha1.Install, workv1alpha1.Install, workv1alpha2.Install,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("build the scheme: %w", err)
		}
	}
	return scheme, nil
}

// NewClient returns a client of a plane that neither limits itself nor repeats warnings. With groups the user claims to be in these.
func NewClient(f *federation.Federation, plane, user string, groups ...string) (client.Client, error) {
	scheme, err := newScheme()
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
	r := &reader{ctx: ctx, client: c.planes["project/"+project], namespace: c.namespaceIn(project)}
	v.Workloads = read(r, &v1alpha.WorkloadList{}, func(l *v1alpha.WorkloadList) []v1alpha.Workload { return l.Items })
	v.Deployments = readDeployments(r)
	v.Instances = readInstances(r)
	if r.err != nil {
		return nil, fmt.Errorf("project %s: %w", project, r.err)
	}
	return v, nil
}

func (c *collector) cell(ctx context.Context, cell, namespace string) (*CellView, error) {
	r := &reader{ctx: ctx, client: c.planes["cell/"+cell], namespace: namespace}
	return &CellView{
		Namespace: r.readNamespace(), Deployments: readDeployments(r), Instances: readInstances(r),
		Pods: read(r, &corev1.PodList{}, func(l *corev1.PodList) []corev1.Pod { return l.Items }),
	}, r.err
}

func (c *collector) hub(ctx context.Context, v *View, namespace string) error {
	r := &reader{ctx: ctx, client: c.planes[hubPlane], namespace: namespace}
	v.Namespace, v.Copies = r.readNamespace(), readDeployments(r)
	v.Policies = read(r, &policyv1alpha1.PropagationPolicyList{}, func(l *policyv1alpha1.PropagationPolicyList) []policyv1alpha1.PropagationPolicy {
		return l.Items
	})
	v.Bindings = read(r, &workv1alpha2.ResourceBindingList{}, func(l *workv1alpha2.ResourceBindingList) []workv1alpha2.ResourceBinding {
		return l.Items
	})
	return r.err
}

func (c *collector) works(ctx context.Context, cell, namespace string) ([]Work, error) {
	r := &reader{ctx: ctx, client: c.planes[hubPlane], namespace: karmadanames.GenerateExecutionSpaceName(cell)}
	all := read(r, &workv1alpha1.WorkList{}, func(l *workv1alpha1.WorkList) []workv1alpha1.Work { return l.Items })
	var works []Work
	for i := range all {
		work, err := readWork(&all[i], namespace)
		if err != nil {
			return nil, err
		}
		if work != nil {
			works = append(works, *work)
		}
	}
	return works, r.err
}

// reader reads one namespace until something fails.
type reader struct {
	ctx       context.Context
	client    client.Client
	namespace string
	err       error
}

// read lists objects of a kind, and returns nil once something has failed.
func read[L client.ObjectList, T any](r *reader, list L, items func(L) []T) []T {
	if r.err == nil {
		r.err = r.client.List(r.ctx, list, client.InNamespace(r.namespace))
	}
	if r.err != nil {
		return nil
	}
	return items(list)
}

func readDeployments(r *reader) []v1alpha.WorkloadDeployment {
	return read(r, &v1alpha.WorkloadDeploymentList{}, func(l *v1alpha.WorkloadDeploymentList) []v1alpha.WorkloadDeployment { return l.Items })
}

func readInstances(r *reader) []v1alpha.Instance {
	return read(r, &v1alpha.InstanceList{}, func(l *v1alpha.InstanceList) []v1alpha.Instance { return l.Items })
}

// readNamespace returns nil if the namespace does not exist.
func (r *reader) readNamespace() *corev1.Namespace {
	if r.err != nil {
		return nil
	}
	namespace := &corev1.Namespace{}
	err := r.client.Get(r.ctx, client.ObjectKey{Name: r.namespace}, namespace)
	if err != nil {
		r.err = client.IgnoreNotFound(err)
		return nil
	}
	return namespace
}
