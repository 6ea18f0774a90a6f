// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/testenv"
)

func TestMain(m *testing.M) {
	// The watches of the simulated controllers log through it.
	log.SetLogger(logr.Discard())
	pollInterval, kindTimeout = 20*time.Millisecond, time.Second
	var files []string
	if out, err := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/karmada-io/karmada").Output(); err == nil {
		for _, group := range []string{"config", "policy", "work"} {
			files = append(files, filepath.Join(strings.TrimSpace(string(out)), "charts", "karmada", "_crds", "bases", group))
		}
	}
	os.Exit(testenv.Main(m, testenv.Options{CRDPaths: files, CRDs: []*apiextensionsv1.CustomResourceDefinition{
		withStatus(anything("clusters", "Cluster", "cluster.karmada.io", "v1alpha1")),
		anything("projects", "Project", "resourcemanager.miloapis.com", "v1alpha1"), locationBindings,
	}}))
}

// locationBindings is a kind that an operator installs at Milo.
var locationBindings = anything("locationbindings", "LocationBinding", "networking.datumapis.com", "v1alpha")

// uninstall takes a kind away until the test ends.
func (s *site) uninstall(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	version := schema.GroupVersion{Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name}
	kinds, err := discovery.NewDiscoveryClientForConfig(testenv.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	await := func(ctx context.Context, served bool) {
		err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			_, err := kinds.ServerResourcesForGroupVersion(version.String())
			return (err == nil) == served, nil
		})
		if err != nil {
			t.Errorf("%s is served: %v is not reached: %v", crd.Name, served, err)
		}
	}
	t.Cleanup(func() {
		// The context of the test has ended.
		ctx := context.WithoutCancel(t.Context())
		if err := s.Create(ctx, crd.DeepCopy()); err != nil {
			t.Error(err)
		}
		await(ctx, true)
	})
	if err := s.Delete(t.Context(), crd.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	await(t.Context(), false)
}

// anything is a cluster-scoped kind that stands for one of another API server.
func anything(plural, kind, group, version string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: plural, Singular: strings.ToLower(kind), Kind: kind, ListKind: kind + "List",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)},
				},
			}},
		},
	}
}

// withStatus gives a kind the subresource status.
func withStatus(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	crd.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	return crd
}

// site is a host, a hub and a Milo on one real kube-apiserver, with simulated controllers.
type site struct {
	client.Client
	t         *testing.T
	namespace string
	kube      string
	out       bytes.Buffer
	// rolls is called before a Deployment has rolled out.
	rolls atomic.Pointer[func(name string)]
}

// newSite creates a site whose host is a separate namespace.
func newSite(t *testing.T) *site {
	t.Helper()
	c, err := client.New(testenv.Config(t), client.Options{Scheme: testenv.Scheme(t, apiextensionsv1.AddToScheme)})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Client: c, t: t, kube: filepath.Join(t.TempDir(), "kubeconfig")}
	s.namespace = testenv.Namespace(t, c, "host").Name
	hub := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: hubNamespace}}
	if err := client.IgnoreAlreadyExists(c.Create(t.Context(), hub)); err != nil {
		t.Fatal(err)
	}
	if err := clientcmd.WriteToFile(kubeconfigOf(testenv.Config(t)), s.kube); err != nil {
		t.Fatal(err)
	}
	s.startControllers(t)
	return s
}

// startControllers runs the simulated controllers until the test ends.
func (s *site) startControllers(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	in := func(namespace string) cache.ByObject {
		return cache.ByObject{Namespaces: map[string]cache.Config{namespace: {}}}
	}
	interpreter := interpreters[0].object()
	watched := map[client.Object]cache.ByObject{
		&appsv1.Deployment{}: in(s.namespace), &corev1.Namespace{}: {}, interpreter: {},
		&admissionregistrationv1.ValidatingWebhookConfiguration{}: {},
	}
	changes, err := cache.New(testenv.Config(t), cache.Options{Scheme: s.Scheme(), ByObject: watched})
	if err != nil {
		t.Fatal(err)
	}
	changed := make(chan struct{}, 1)
	notify := func() {
		select {
		case changed <- struct{}{}:
		default: // a round is due already
		}
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := changes.Start(ctx); err != nil {
			t.Errorf("watch for the simulated controllers: %v", err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	for object := range watched {
		informer, err := changes.GetInformer(ctx, object)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { notify() }, UpdateFunc: func(any, any) { notify() }, DeleteFunc: func(any) { notify() },
		}); err != nil {
			t.Fatal(err)
		}
	}
	running.Go(func() { s.control(ctx, changed) })
}

func kubeconfigOf(config *rest.Config) clientcmdapi.Config {
	return clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}
}

// sessionsNamespace is the namespace of the grants of sessions.
const sessionsNamespace = "karmada-compute-sessions"

// control simulates the hub's namespace controller, the host's Deployment controller and the add-on itself, after each
// change of what they read.
func (s *site) control(ctx context.Context, changed <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
		for _, name := range []string{agentBinding.Namespace, sessionsNamespace} {
			namespace := &corev1.Namespace{}
			if s.Get(ctx, client.ObjectKey{Name: name}, namespace) == nil && namespace.DeletionTimestamp != nil {
				namespace.Spec.Finalizers = nil
				_ = s.SubResource("finalize").Update(ctx, namespace)
			}
		}
		s.roll(ctx, webhookServiceAccount)
		s.roll(ctx, sessionsServiceAccount)
		if !s.roll(ctx, Name) {
			continue
		}
		_ = s.Create(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: Name}})
		interpreter := interpreters[0].object()
		interpreter.Object["spec"] = map[string]any{
			"target":         map[string]any{"apiVersion": "compute.datumapis.com/v1alpha", "kind": "WorkloadDeployment"},
			"customizations": map[string]any{},
		}
		_ = s.Create(ctx, interpreter)
	}
}

// roll simulates the host's Deployment controller, and returns false while the Deployment does not exist or is being
// deleted.
func (s *site) roll(ctx context.Context, name string) bool {
	deployment := &appsv1.Deployment{}
	if s.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, deployment) != nil {
		return false
	}
	if deployment.DeletionTimestamp != nil {
		deployment.Finalizers = nil // no garbage collector runs here
		_ = s.Update(ctx, deployment)
		return false
	}
	if deployment.Status.ObservedGeneration < deployment.Generation {
		if rolls := s.rolls.Load(); rolls != nil {
			(*rolls)(name)
		}
		deployment.Status = appsv1.DeploymentStatus{
			ObservedGeneration: deployment.Generation, Replicas: *deployment.Spec.Replicas, UpdatedReplicas: *deployment.Spec.Replicas,
			AvailableReplicas: *deployment.Spec.Replicas, ReadyReplicas: *deployment.Spec.Replicas,
		}
		_ = s.Status().Update(ctx, deployment)
	}
	return true
}

// options are the options of an administrator with all permissions.
func (s *site) options() *options {
	return &options{
		karmada:        karmadaOptions{hostKubeconfig: s.kube, hubKubeconfig: s.kube, namespace: s.namespace, timeout: time.Minute},
		miloKubeconfig: s.kube, replicas: 2, interpreterMode: "customization", workloads: workloadsRefuse,
	}
}

// enable runs both halves, as karmadactl does.
func (s *site) enable(ctx context.Context, o *options, values map[string]any) error {
	run, err := o.connect()
	if err != nil {
		return err
	}
	s.out.Reset()
	run.out, run.values = &s.out, values
	if err := run.prepare(ctx); err != nil {
		return err
	}
	return run.finish(ctx)
}

// disable runs the steps of the command.
func (s *site) disable(ctx context.Context, o *options) error {
	run, err := o.connect()
	if err != nil {
		return err
	}
	s.out.Reset()
	run.out = &s.out
	return s.run(ctx, run)
}

// run runs both halves of disable, as karmadactl does.
func (s *site) run(ctx context.Context, run *session) error {
	if enabled, err := run.prepareDisable(ctx); !enabled || err != nil {
		return err
	}
	return run.remove(ctx)
}

// inventory is the host's list of created objects.
func (s *site) inventory() inventory {
	s.t.Helper()
	host, err := planeOf("the host", testenv.Config(s.t))
	if err != nil {
		s.t.Fatal(err)
	}
	known, err := readInventory(s.t.Context(), host, s.namespace)
	if err != nil {
		s.t.Fatal(err)
	}
	return known
}

// left are the objects of an inventory that exist and are not being deleted.
func (s *site) left(known inventory) []string {
	s.t.Helper()
	var left []string
	for plane, entries := range known {
		for _, e := range entries {
			if e.Adopted {
				continue // testenv has installed the kinds
			}
			object := e.object()
			err := s.Get(s.t.Context(), client.ObjectKey{Namespace: e.Namespace, Name: e.Name}, object)
			if err == nil && object.GetDeletionTimestamp() == nil {
				left = append(left, fmt.Sprintf("%s at %s", describe(object), plane))
			}
		}
	}
	return left
}

func testConfig(t *testing.T) *rest.Config {
	t.Helper()
	return testenv.Config(t)
}
