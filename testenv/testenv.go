// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// patience bounds the start and stop of the kube-apiserver on a slow, busy machine.
const patience = 3 * time.Minute

// Options name the kinds that the kube-apiserver serves in addition to the kinds of api/crds.
type Options struct {
	// CRDPaths are files and folders of CustomResourceDefinitions, absolute or relative to the root of the repository.
	CRDPaths []string
	// CRDs are further CustomResourceDefinitions.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// GatewayAPI adds HTTPRoute, Gateway and GatewayClass of the Gateway API.
	GatewayAPI bool
	// NewEvents serves events.k8s.io, as a hub does.
	NewEvents bool
	// WithoutWatchCache reads lists from etcd. A list from the watch cache waits up to 100 ms while other kinds change, which
	// is most of the time of tests that list often; without it, lists of many objects take longer.
	WithoutWatchCache bool
}

// environment is the environment of the package under test.
var environment = newTestEnvironment()

type testEnvironment struct {
	options Options
	once    sync.Once
	started *envtest.Environment
	config  *rest.Config
	err     error
	// ctx ends when the tests have run.
	ctx context.Context
	end context.CancelFunc
}

func newTestEnvironment() *testEnvironment {
	ctx, end := context.WithCancel(context.Background())
	return &testEnvironment{ctx: ctx, end: end}
}

// Main is the body of a package's TestMain: it runs the tests, stops the servers and returns the exit code.
//
//	func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }
func Main(m *testing.M, o Options) int {
	if isServer() {
		fmt.Fprintln(os.Stderr, becomeServer())
		return 1
	}
	environment.options = o
	code := m.Run()
	environment.end()
	if environment.started == nil {
		return code
	}
	if err := errors.Join(environment.started.Stop(), os.RemoveAll(links)); err != nil {
		fmt.Fprintln(os.Stderr, "stop the kube-apiserver of the tests:", err)
		return 1
	}
	return code
}

// Config returns an administrator's configuration of the package's kube-apiserver, which the first call starts. If it
// does not start, the test fails. Callers must not change the configuration.
func Config(t testing.TB) *rest.Config {
	t.Helper()
	environment.once.Do(func() { environment.config, environment.err = start(context.Background(), environment.options, t.Logf) })
	if environment.err != nil {
		t.Fatal(environment.err)
	}
	return environment.config
}

// Context returns a context that ends when all tests of the package have run, before the kube-apiserver stops. It is
// for caches that tests share: the kube-apiserver waits a minute for watches that are still open.
func Context() context.Context { return environment.ctx }

// Scheme returns a scheme with the built-in kinds and the kinds that add registers.
func Scheme(t testing.TB, add ...func(*runtime.Scheme) error) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, one := range append(add, clientgoscheme.AddToScheme) {
		if err := one(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// Namespace creates a namespace for a test. It is never deleted.
func Namespace(t testing.TB, c client.Client, prefix string) *corev1.Namespace {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return namespace
}

func start(ctx context.Context, o Options, printf func(string, ...any)) (*rest.Config, error) {
	repository, err := tools.FindRepository()
	if err != nil {
		return nil, err
	}
	cache, err := tools.DefaultCache()
	if err != nil {
		return nil, err
	}
	builder := &tools.Builder{Repository: repository, Cache: cache, Printf: printf}
	binaries, err := builder.Build(ctx, tools.Etcd, tools.KubeAPIServer)
	if err != nil {
		return nil, err
	}
	if err := serveBy(binaries); err != nil {
		return nil, err
	}
	e := newEnvironment()
	e.CRDs, e.ControlPlane.Etcd.DataDir = o.CRDs, filepath.Join(links, "data")
	if err := base(ctx, repository, cache, binaries, e.ControlPlane.Etcd.DataDir); err != nil {
		return nil, err
	}
	// Milo's control planes serve only core v1 Events, so a controller that uses the other API fails its tests.
	e.ControlPlane.GetAPIServer().Configure().Append("runtime-config", fmt.Sprintf("events.k8s.io/v1=%t", o.NewEvents))
	e.ControlPlane.GetAPIServer().Configure().Append("watch-cache", strconv.FormatBool(!o.WithoutWatchCache))
	if o.GatewayAPI {
		files, err := builder.GatewayAPI(ctx)
		if err != nil {
			return nil, err
		}
		e.CRDDirectoryPaths = append(e.CRDDirectoryPaths, files...)
	}
	for _, path := range o.CRDPaths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(repository, path)
		}
		e.CRDDirectoryPaths = append(e.CRDDirectoryPaths, path)
	}
	config, err := startServers(e)
	if err == nil {
		err = serves(ctx, config, repository)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a kube-apiserver for the tests: %w", err), e.Stop())
	}
	environment.started = e
	return config, nil
}

// newEnvironment returns an environment of servers that end with this process. Nothing is started yet.
func newEnvironment() *envtest.Environment {
	e := &envtest.Environment{
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: patience, ControlPlaneStopTimeout: patience,
		CRDInstallOptions: envtest.CRDInstallOptions{MaxTime: patience},
	}
	e.ControlPlane.GetAPIServer().Path = filepath.Join(links, tools.KubeAPIServer)
	e.ControlPlane.Etcd = &envtest.Etcd{Path: filepath.Join(links, tools.Etcd)}
	return e
}
