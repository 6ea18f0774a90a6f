// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package planes provides a hub and a project for the tests of the hub's controllers. Both are on the kube-apiserver of
// testenv: their objects differ by namespace, and a controller reads and writes each through a separate Plane.
package planes

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/milo/networking"
	"github.com/karmada-compute/karmada-compute/milo/quota"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// ProjectUID is the UID of the project.
const ProjectUID = types.UID("project-uid")

// Planes holds a hub and a project of one test.
type Planes struct {
	// Hub is the hub as the controller reads it, in production from a cache, and writes it.
	Hub *Plane
	// HubAPI is the hub as the controller reads it without the cache.
	HubAPI *Plane
	// Project is the project as the controller reads and writes it.
	Project *Plane
	// Client is the test's own client for both.
	Client client.WithWatch
	// Namespace is the namespace in the project.
	Namespace *corev1.Namespace
	// HubNamespace is the name of its hub namespace. It does not exist yet.
	HubNamespace string
	// Adopted are the UIDs that Workloads of the project had on an earlier hub.
	Adopted map[string]types.UID

	cluster *projectCluster
}

// ProjectName is the name of the project.
const ProjectName multicluster.ClusterName = "north"

// New creates a project with a new namespace. The hub has Karmada's kinds.
func New(t testing.TB) *Planes {
	t.Helper()
	shared.once.Do(func() { shared.err = shared.start(t) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	p := &Planes{Hub: newPlane(shared.onHub), HubAPI: newPlane(shared.onHub), Project: newPlane(shared.client), Client: shared.client}
	p.Namespace = testenv.Namespace(t, p.Client, "project")
	p.HubNamespace = naming.HubNamespace(string(ProjectUID), string(p.Namespace.UID))
	p.Adopted = map[string]types.UID{}
	p.cluster = &projectCluster{Cluster: shared.cluster, client: p.Project, adopted: p.Adopted}
	return p
}

// Config returns the configuration of an administrator of both planes.
func (p *Planes) Config() *rest.Config { return shared.cluster.GetConfig() }

// Reengage replaces the project's cluster, as when a replica engages it again.
func (p *Planes) Reengage() {
	p.cluster = &projectCluster{Cluster: p.cluster.Cluster, client: p.cluster.client, adopted: p.Adopted}
}

// Get returns the project's cluster. With UID, Planes implements the projects that a replica has engaged.
func (p *Planes) Get(_ context.Context, name multicluster.ClusterName) (cluster.Cluster, error) {
	if name != ProjectName {
		return nil, multicluster.ErrClusterNotFound
	}
	return p.cluster, nil
}

// UID returns the identity of the project.
func (p *Planes) UID(name multicluster.ClusterName) (types.UID, error) {
	if name != ProjectName {
		return "", multicluster.ErrClusterNotFound
	}
	return ProjectUID, nil
}

// projectCluster is the cluster of a project whose client is a Plane, and which reads nothing from a cache.
type projectCluster struct {
	cluster.Cluster
	client  *Plane
	adopted map[string]types.UID
}

// AdoptedWorkload returns the UID that a Workload had on an earlier hub.
func (c *projectCluster) AdoptedWorkload(_ context.Context, name string) (types.UID, error) {
	return c.adopted[name], nil
}

// GetClient returns the project's Plane.
func (c *projectCluster) GetClient() client.Client { return c.client }

// GetAPIReader returns the project's Plane.
func (c *projectCluster) GetAPIReader() client.Reader { return c.client }

// GetEventRecorderFor returns the real recorder, whose calls the Plane records.
func (c *projectCluster) GetEventRecorderFor(name string) record.EventRecorder {
	return &recorder{EventRecorder: c.Cluster.GetEventRecorderFor(name), plane: c.client} //nolint:staticcheck // See Project.Recorder.
}

type recorder struct {
	record.EventRecorder
	plane *Plane
}

// Eventf records an event.
func (r *recorder) Eventf(about runtime.Object, kind, reason, message string, args ...any) {
	object, _ := about.(client.Object)
	r.plane.record(Call{Verb: "event " + reason, Kind: r.plane.kind(about), Name: object.GetName()})
	r.EventRecorder.Eventf(about, kind, reason, message, args...)
}

// connection is to the kube-apiserver of the package under test.
type connection struct {
	once   sync.Once
	client client.WithWatch
	// onHub is the controllers' client of the hub.
	onHub   client.WithWatch
	cluster cluster.Cluster
	err     error
}

var shared connection

func (s *connection) start(t testing.TB) error {
	config := rest.CopyConfig(testenv.Config(t))
	config.QPS = -1
	crds, err := karmadaCRDs(context.Background())
	if err != nil {
		return err
	}
	quotaCRDs, err := quotaCRDs()
	if err != nil {
		return err
	}
	if _, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{
		Paths: append(crds, quotaCRDs...), CRDs: []*apiextensionsv1.CustomResourceDefinition{clusterCRD()}, ErrorIfPathMissing: true,
		MaxTime: crdPatience,
	}); err != nil {
		return fmt.Errorf("install the kinds of Karmada: %w", err)
	}
	scheme := testenv.Scheme(t, v1alpha.AddToScheme, quota.AddToScheme, networking.AddToScheme, policyv1alpha1.Install,
		workv1alpha1.Install, workv1alpha2.Install, clusterv1alpha1.Install)
	if s.client, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if s.onHub, err = s.limited(config); err != nil {
		return err
	}
	s.cluster, err = cluster.New(config, func(o *cluster.Options) { o.Scheme = scheme })
	return err
}

// crdPatience bounds the time until an API server serves the kinds, on a busy machine.
const crdPatience = 2 * time.Minute

// karmadaCRDs returns the files of the kinds that Karmada installs on its hub and that the add-on uses.
func karmadaCRDs(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/karmada-io/karmada").Output()
	if err != nil {
		return nil, fmt.Errorf("find the module of Karmada: %w", err)
	}
	var files []string
	for _, file := range []string{
		"policy/policy.karmada.io_propagationpolicies.yaml", "work/work.karmada.io_works.yaml", "work/work.karmada.io_resourcebindings.yaml",
		"work/work.karmada.io_clusterresourcebindings.yaml",
	} {
		files = append(files, filepath.Join(strings.TrimSpace(string(out)), "charts", "karmada", "_crds", "bases", filepath.FromSlash(file)))
	}
	return files, nil
}

// quotaCRDs returns the files of the kinds of Milo's quota that the add-on uses.
func quotaCRDs() ([]string, error) {
	repository, err := tools.FindRepository()
	var files []string
	for _, kind := range []string{"resourcegrants", "resourceclaims", "allowancebuckets"} {
		files = append(files, filepath.Join(repository, "milo", "crds", "quota.miloapis.com_"+kind+".yaml"))
	}
	return files, err
}

// clusterCRD returns a CRD in the place of Karmada's aggregated API for Clusters.
func clusterCRD() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "clusters." + clusterv1alpha1.GroupName},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: clusterv1alpha1.GroupName,
			Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "clusters", Singular: "cluster", Kind: "Cluster", ListKind: "ClusterList",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: clusterv1alpha1.GroupVersion.Version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)},
				},
			}},
		},
	}
}

// count makes names unique.
var count atomic.Int64

// City returns the code of a city that no other test uses.
func City() string { return fmt.Sprintf("C%02d", count.Add(1)) }

// Cell creates a Ready Cluster of a city, with a unique name that sorts by creation, and the namespace of its Works.
func (p *Planes) Cell(t testing.TB, city string) *clusterv1alpha1.Cluster {
	t.Helper()
	cell := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{
		Name:   fmt.Sprintf("cell-%04d", count.Add(1)),
		Labels: map[string]string{v1alpha.LabelTopologyCity: naming.CityLabel(city)},
	}}
	// As `karmadactl join` writes it.
	cell.Spec.SyncMode, cell.Spec.APIEndpoint = clusterv1alpha1.Push, "https://127.0.0.1:6443"
	cell.Spec.ImpersonatorSecretRef = &clusterv1alpha1.LocalSecretReference{Namespace: "karmada-cluster", Name: cell.Name + "-impersonator"}
	works := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ExecutionSpace(cell.Name)}}
	for _, obj := range []client.Object{works, cell} {
		if err := p.Client.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	// The hub has reached its cells for a while, also by the clocks of tests.
	p.SetReady(t, cell, metav1.ConditionTrue, metav1.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC))
	return cell
}

// SetReady sets the Ready condition that Karmada writes for a cell, with its transition time.
func (p *Planes) SetReady(t testing.TB, cell *clusterv1alpha1.Cluster, status metav1.ConditionStatus, since metav1.Time) {
	t.Helper()
	cell.Status.Conditions = []metav1.Condition{{
		Type: clusterv1alpha1.ClusterConditionReady, Status: status, Reason: "Test", LastTransitionTime: since,
	}}
	if err := p.Client.Status().Update(t.Context(), cell); err != nil {
		t.Fatal(err)
	}
}

// ExecutionSpace returns the namespace of a cell's Works.
func ExecutionSpace(cell string) string { return "karmada-es-" + cell }
