// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/live"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

// session holds the connections to the control planes that the user reaches.
type session struct {
	// project and hub are nil if the user does not reach them.
	project, hub *live.Plane
	projectName  string
	namespace    string
	// now is the clock.
	now func() time.Time
}

// connect connects to the control planes that the flags name.
func (c *command) connect() (*session, error) { return c.connectBy(c.Flags) }

func (c *command) connectBy(flags *genericclioptions.ConfigFlags) (*session, error) {
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	s := &session{projectName: c.project, now: c.Clock.Now}
	if s.namespace, _, err = flags.ToRawKubeConfigLoader().Namespace(); err != nil {
		return nil, err
	}
	if !c.Operator {
		s.project, err = planeOf(config)
		return s, err
	}
	if s.hub, err = planeOf(config); err != nil || c.miloKubeconfig == "" {
		return s, err
	}
	root, err := clientcmd.BuildConfigFromFlags("", c.miloKubeconfig)
	if err != nil {
		return nil, fmt.Errorf("--milo-kubeconfig: %w", err)
	}
	s.project, err = planeOf(below(root, "apis/resourcemanager.miloapis.com/v1alpha1/projects", c.project, "control-plane"))
	return s, err
}

// below returns the configuration of a control plane that an API server serves below a path. The path ends with a
// slash: Milo answers 404 without it.
func below(config *rest.Config, path ...string) *rest.Config {
	config = rest.CopyConfig(config)
	config.Host = strings.Join(append([]string{strings.TrimSuffix(config.Host, "/")}, path...), "/") + "/"
	return config
}

// connectToWorkload connects as connect does. A Workload is in a project: an operator must name it.
func (c *command) connectToWorkload() (*session, error) {
	if c.Operator && c.project == "" {
		return nil, errors.New("--project is required: the name of the project, as `kubectl get workloaddeployments -A` on the hub " +
			"shows it in annotation " + v1alpha.AnnotationProjectName)
	}
	return c.connect()
}

// connectToProject connects as connectToWorkload does, and fails unless it reaches the project.
func (c *command) connectToProject() (*session, error) {
	s, err := c.connectToWorkload()
	if err == nil && s.project == nil {
		return nil, errors.New("this command needs the project itself: name Milo's root with --milo-kubeconfig or, without " +
			"Milo, run kubectl compute with the kubeconfig of the hub and --namespace=<project>")
	}
	return s, err
}

// Kinds that the commands read. A fixed list avoids discovery, which takes many requests, and rights that a consumer
// may not have.
var kinds = map[schema.GroupVersion]map[string]meta.RESTScope{
	v1alpha.GroupVersion: {
		v1alpha.KindWorkload: meta.RESTScopeNamespace, v1alpha.KindWorkloadDeployment: meta.RESTScopeNamespace,
		v1alpha.KindWorkloadRevision: meta.RESTScopeNamespace, v1alpha.KindInstance: meta.RESTScopeNamespace,
		v1alpha.KindInstanceSession: meta.RESTScopeNamespace, v1alpha.KindCell: meta.RESTScopeRoot,
	},
	version(workv1alpha1.GroupVersion):    {"Work": meta.RESTScopeNamespace},
	version(workv1alpha2.GroupVersion):    {"ResourceBinding": meta.RESTScopeNamespace},
	version(clusterv1alpha1.GroupVersion): {"Cluster": meta.RESTScopeRoot},
	view.LocationBindings.GroupVersion():  {view.LocationBindings.Kind: meta.RESTScopeRoot},
	miloProjects:                          {"Project": meta.RESTScopeRoot},
	{Version: "v1"}: {
		"Pod": meta.RESTScopeNamespace, "Event": meta.RESTScopeNamespace, "Namespace": meta.RESTScopeRoot,
		"ConfigMap": meta.RESTScopeNamespace, "Secret": meta.RESTScopeNamespace,
	},
	{Group: "coordination.k8s.io", Version: "v1"}: {"Lease": meta.RESTScopeNamespace},
	rbacv1.SchemeGroupVersion: {
		"RoleBinding": meta.RESTScopeNamespace, "Role": meta.RESTScopeNamespace, "ClusterRole": meta.RESTScopeRoot,
	},
}

func version(v metav1.GroupVersion) schema.GroupVersion {
	return schema.GroupVersion{Group: v.Group, Version: v.Version}
}

func planeOf(config *rest.Config) (*live.Plane, error) {
	config = rest.CopyConfig(config)
	if config.Timeout == 0 {
		config.Timeout = timeout
	}
	// As kubectl: API servers limit their clients themselves.
	config.QPS, config.Burst = 50, 300
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha.AddToScheme, workv1alpha1.Install, workv1alpha2.Install, clusterv1alpha1.Install,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	for gv, scopes := range kinds {
		for kind, scope := range scopes {
			mapper.Add(gv.WithKind(kind), scope)
			mapper.Add(gv.WithKind(kind+"List"), scope)
		}
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, err
	}
	return &live.Plane{Config: config, Client: c}, nil
}

// cellConfig returns a configuration for a cell through Karmada's proxy, with the user's rights in the cell.
func cellConfig(hub *rest.Config, cell string) *rest.Config {
	return below(hub, "apis/cluster.karmada.io/v1alpha1/clusters", cell, "proxy")
}

func (s *session) planes() view.Planes {
	p := view.Planes{ProjectName: s.projectName}
	if s.project != nil {
		p.Project = s.project.Client
	}
	if s.hub != nil {
		p.Hub = s.hub.Client
	}
	return p
}

func (s *session) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: s.namespace, Name: name}
}

// live returns the options to watch a Workload; "": all Workloads of the namespace.
func (s *session) live(name string) live.Options {
	return live.Options{Project: s.project, Hub: s.hub, ProjectName: s.projectName, Key: s.key(name), Now: s.now}
}

// read reads a Workload that must exist, and finds out whether its project is suspended.
func (s *session) read(ctx context.Context, workload string) (*view.Snapshot, error) {
	snapshot, err := view.Read(ctx, s.planes(), s.key(workload))
	if err != nil {
		return nil, err
	}
	snapshot.Now = s.now()
	if err := snapshot.MustExist(); err != nil {
		return nil, err
	}
	s.addSuspension(ctx, snapshot)
	return snapshot, nil
}
