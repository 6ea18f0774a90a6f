// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/live"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// ErrNotServed is the problem of a kubeconfig that leads elsewhere.
var ErrNotServed = errors.New("the API server does not serve Workloads; does the kubeconfig lead to the project?")

// Connect connects to the control planes that the flags name.
func (c *Command) Connect() (*Session, error) { return c.connectBy(c.Flags) }

func (c *Command) connectBy(flags *genericclioptions.ConfigFlags) (*Session, error) {
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	s := &Session{ProjectName: c.Project, Now: c.Clock.Now}
	if s.Namespace, _, err = flags.ToRawKubeConfigLoader().Namespace(); err != nil {
		return nil, err
	}
	if !c.Operator {
		s.Project, err = PlaneOf(config)
		return s, err
	}
	if s.Hub, err = PlaneOf(config); err != nil || c.MiloKubeconfig == "" {
		return s, err
	}
	root, err := clientcmd.BuildConfigFromFlags("", c.MiloKubeconfig)
	if err != nil {
		return nil, fmt.Errorf("--milo-kubeconfig: %w", err)
	}
	s.Project, err = PlaneOf(below(root, "apis/resourcemanager.miloapis.com/v1alpha1/projects", c.Project, "control-plane"))
	return s, err
}

// Reconnect connects as Connect does, with the kubeconfig as it is now.
func (c *Command) Reconnect() (*Session, error) { return c.connectBy(withoutKubeconfig(c.Flags)) }

// withoutKubeconfig returns the flags without the kubeconfig that they have read: it may have another credential since.
func withoutKubeconfig(flags *genericclioptions.ConfigFlags) *genericclioptions.ConfigFlags {
	result := genericclioptions.NewConfigFlags(false)
	from, target := reflect.ValueOf(flags).Elem(), reflect.ValueOf(result).Elem()
	for i := range from.NumField() {
		if from.Type().Field(i).IsExported() {
			target.Field(i).Set(from.Field(i))
		}
	}
	return result
}

// below returns the configuration of a control plane that an API server serves below a path. The path ends with a
// slash: Milo answers 404 without it.
func below(config *rest.Config, path ...string) *rest.Config {
	config = rest.CopyConfig(config)
	config.Host = strings.Join(append([]string{strings.TrimSuffix(config.Host, "/")}, path...), "/") + "/"
	return config
}

// ConnectToWorkload connects as Connect does. A Workload is in a project: an operator must name it.
func (c *Command) ConnectToWorkload() (*Session, error) {
	if c.Operator && c.Project == "" {
		return nil, errors.New("--project is required: the name of the project, as `kubectl get workloaddeployments -A` on the hub " +
			"shows it in annotation " + v1alpha.AnnotationProjectName)
	}
	return c.Connect()
}

// ConnectToProject connects as ConnectToWorkload does, and fails unless it reaches the project: where projects are namespaces of the
// hub, the hub has it.
func (c *Command) ConnectToProject(ctx context.Context) (*Session, error) {
	s, err := c.ConnectToWorkload()
	if err != nil || s.Project != nil {
		return s, err
	}
	project := &corev1.Namespace{}
	err = s.Hub.Client.Get(ctx, client.ObjectKey{Name: c.Project}, project)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return nil, fmt.Errorf("find out whether project %s is a namespace of the hub: %w", c.Project, err)
	case project.Labels[v1alpha.LabelNamespaceProject] == "":
		return nil, fmt.Errorf("this command needs the project itself, and no namespace %s of the hub has label %s: "+
			"name the right project with --project, or the kubeconfig that leads to it with --milo-kubeconfig", c.Project,
			v1alpha.LabelNamespaceProject)
	}
	s.Project, s.Namespace = s.Hub, c.Project
	return s, nil
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
	version(policyv1alpha1.GroupVersion):  {"PropagationPolicy": meta.RESTScopeNamespace, "OverridePolicy": meta.RESTScopeNamespace},
	view.LocationBindings.GroupVersion():  {view.LocationBindings.Kind: meta.RESTScopeRoot},
	miloProjects:                          {"Project": meta.RESTScopeRoot},
	reasons.RecordKind.GroupVersion():     {reasons.RecordKind.Kind: meta.RESTScopeNamespace},
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

// timeout bounds a request, so that the user does not wait forever for a control plane that does not answer.
const timeout = 32 * time.Second

// PlaneOf returns a control plane, with a client that knows the kinds that the commands read.
func PlaneOf(config *rest.Config) (*live.Plane, error) {
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

// CellConfig returns a configuration for a cell through Karmada's proxy, with the user's rights in the cell.
func CellConfig(hub *rest.Config, cell string) *rest.Config {
	return below(hub, "apis/cluster.karmada.io/v1alpha1/clusters", cell, "proxy")
}
