// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2/ktesting"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) {
	// Most tests wait for intervals of a replica.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(testenv.Main(m, testenv.Options{}))
}

// project is the one project of a test. It implements Projects.
type project struct {
	client client.Client
	// refuses: the user has lost the permission. mute: Milo does not answer. recreated: the project is another one.
	refuses, mute, recreated atomic.Bool
	mu                       sync.Mutex
	asked                    []authorizationv1.SubjectAccessReviewSpec
}

func (p *project) Client(_ context.Context, name string, uid types.UID) (client.Client, error) {
	if p.mute.Load() {
		return nil, io.ErrUnexpectedEOF
	}
	if name != string(planes.ProjectName) || uid != planes.ProjectUID || p.recreated.Load() {
		return nil, ErrProjectGone
	}
	return p.client, nil
}

func (p *project) Review(ctx context.Context, name string, uid types.UID, spec authorizationv1.SubjectAccessReviewSpec) (bool, error) {
	if _, err := p.Client(ctx, name, uid); err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, spec)
	return !p.refuses.Load(), nil
}

// fixture is a replica that serves sessions, a project with one Instance in a cell, and a hub with a stand-in for
// Karmada's proxy.
type fixture struct {
	*planes.Planes
	project *project
	server  *Server
	// admission is of another process. It runs in tests of it.
	admission *Admission
	url       string
	cell      *clusterv1alpha1.Cluster
	instance  *v1alpha.Instance
	copy      *v1alpha.WorkloadDeployment
	stop      func()
	// trusted is the CA of the replica.
	trusted *x509.CertPool
	bundle  []byte
}

// newFixture starts a replica. cells answers requests through Karmada's proxy.
func newFixture(t *testing.T, cells http.Handler, change ...func(*Options)) *fixture {
	t.Helper()
	f := &fixture{Planes: planes.New(t)}
	f.project = &project{client: f.Client}
	f.cell = f.Cell(t, planes.City())
	f.setUpInstance(t)
	hub := httptest.NewServer(cells)
	// Streams of this test may last until the replica ends.
	t.Cleanup(hub.CloseClientConnections)
	transport := &http.Transport{MaxResponseHeaderBytes: 64 << 10}
	t.Cleanup(transport.CloseIdleConnections)

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.url = "https://" + listener.Addr().String()
	serving, bundle := certificate(t, newKey(t), "127.0.0.1")
	f.trusted, f.bundle = x509.NewCertPool(), bundle
	f.trusted.AppendCertsFromPEM(bundle)
	logger, _ := ktesting.NewTestContext(t)
	options := Options{
		Grants: &Grants{
			Hub: f.Client, Namespace: testenv.Namespace(t, f.Client, "grants").Name, Clock: clock.RealClock{},
			Limits: Limits{PerUser: 10, PerProject: 20, Streams: 100},
		},
		Projects: f.project, Cells: transport, Hub: hub.URL, URL: f.url, Clock: clock.RealClock{},
		Registerer: prometheus.NewRegistry(), Log: logger,
		Certificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return serving, nil },
		Bundle:      func(context.Context) ([]byte, error) { return bundle, nil },
	}
	for _, one := range change {
		one(&options)
	}
	if f.server, err = New(options); err != nil {
		t.Fatal(err)
	}
	f.admission = NewAdmission(options.Grants, options.Projects, options.Clock, logger)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.server.Serve(ctx, listener) }()
	f.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(f.stop)
	return f
}

// setUpInstance creates Instance web-main-dfw-0 in the project, and the copy of its deployment on the hub.
func (f *fixture) setUpInstance(t *testing.T) {
	t.Helper()
	origin := projects.Origin{Project: string(planes.ProjectName), ProjectUID: planes.ProjectUID, Namespace: f.Namespace.Name}
	template := v1alpha.InstanceSpec{Runtime: v1alpha.InstanceRuntimeSpec{
		Resources: v1alpha.InstanceRuntimeResources{InstanceType: "datumcloud-d1-standard-2"},
		Sandbox:   &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "app", Image: "app:1"}}},
	}, NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "default"}}}}
	f.instance = &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "web-main-dfw-0"}, Spec: template}
	labels := origin.Labels()
	f.copy = &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: "web-main-dfw", Labels: labels},
		Spec: v1alpha.WorkloadDeploymentSpec{
			WorkloadRef: v1alpha.WorkloadReference{Name: "web", UID: "web-uid"}, PlacementName: "main", CityCode: "DFW",
			Template: v1alpha.InstanceTemplateSpec{Spec: template}, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1},
			Assignment: assigned(f.cell.Name),
		},
	}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.HubNamespace, Labels: labels}}
	for _, object := range []client.Object{f.instance, space, f.copy} {
		if err := f.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// declare changes the containers of the template that the cell has.
func (f *fixture) declare(t *testing.T, change func(*v1alpha.SandboxRuntime)) {
	t.Helper()
	change(f.copy.Spec.Template.Spec.Runtime.Sandbox)
	if err := f.Client.Update(t.Context(), f.copy); err != nil {
		t.Fatal(err)
	}
}

// declarePorts declares ports of the container.
func (f *fixture) declarePorts(t *testing.T, ports ...int32) {
	t.Helper()
	f.declare(t, func(sandbox *v1alpha.SandboxRuntime) {
		for i, port := range ports {
			sandbox.Containers[0].Ports = append(sandbox.Containers[0].Ports, v1alpha.NamedPort{Name: fmt.Sprintf("p%d", i), Port: port})
		}
	})
}

func assigned(cell string) *v1alpha.WorkloadDeploymentAssignment {
	return &v1alpha.WorkloadDeploymentAssignment{
		Cells: []v1alpha.CellAssignment{{Name: cell, Indices: []v1alpha.IndexRange{{First: 0, Last: 0}}}},
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// certificate returns a certificate of a key that the key itself has signed, and the same in PEM.
func certificate(t *testing.T, key *ecdsa.PrivateKey, address string) (*tls.Certificate, []byte) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "session"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	if address != "" {
		template.IPAddresses = []net.IP{net.ParseIP(address)}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// encodedKey returns the key of a certificate in PEM.
func encodedKey(t *testing.T, of *tls.Certificate) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(of.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// clientWith returns the configuration of a client of a session with the certificate of a key; nil: without one.
func (f *fixture) clientWith(t *testing.T, key *ecdsa.PrivateKey) *tls.Config {
	t.Helper()
	config := &tls.Config{RootCAs: f.trusted, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}}
	if key != nil {
		own, _ := certificate(t, key, "")
		config.Certificates = []tls.Certificate{*own}
	}
	return config
}

// create creates a session in the project, and records its grant as admission does.
func (f *fixture) create(
	t *testing.T, key *ecdsa.PrivateKey, change ...func(*v1alpha.InstanceSessionSpec),
) (*v1alpha.InstanceSession, *Grant) {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	session := &v1alpha.InstanceSession{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, GenerateName: "logs-"},
		Spec: v1alpha.InstanceSessionSpec{
			Type: v1alpha.SessionLogs, InstanceRef: v1alpha.SessionInstanceReference{Name: f.instance.Name, UID: f.instance.UID},
			PublicKey: string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})),
		},
	}
	for _, one := range change {
		one(&session.Spec)
	}
	if err := f.Client.Create(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	grant := &Grant{
		Project: string(planes.ProjectName), ProjectUID: planes.ProjectUID, Namespace: session.Namespace, Name: session.Name, UID: session.UID,
		User: authenticationv1.UserInfo{
			Username: "consumer", UID: "7", Groups: []string{"team"}, Extra: map[string]authenticationv1.ExtraValue{"a": {"b"}},
		},
		Spec: session.Spec,
	}
	grants := f.server.options.Grants
	if err := grants.Record(t.Context(), grant); err != nil {
		t.Fatal(err)
	}
	recorded, err := grants.get(t.Context(), session.UID)
	if err != nil {
		t.Fatal(err)
	}
	return session, recorded
}

func exec(s *v1alpha.InstanceSessionSpec) { s.Type, s.Command = v1alpha.SessionExec, []string{"sh"} }

// await waits until condition Ready of a session has a reason, and returns the session.
func (f *fixture) await(t *testing.T, session *v1alpha.InstanceSession, reason string) *v1alpha.InstanceSession {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	watch, err := f.Client.Watch(ctx, &v1alpha.InstanceSessionList{}, client.InNamespace(session.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	last := ""
	for event := range watch.ResultChan() {
		now, ok := event.Object.(*v1alpha.InstanceSession)
		if !ok || now.Name != session.Name {
			continue
		}
		if condition := meta.FindStatusCondition(now.Status.Conditions, v1alpha.ConditionReady); condition != nil {
			if last = condition.Reason + ": " + condition.Message; condition.Reason == reason {
				return now
			}
		}
	}
	t.Fatalf("session %s is not %s but %q", session.Name, reason, last)
	return nil
}

// get reads a session's URL with a key.
func (f *fixture) get(t *testing.T, address string, key *ecdsa.PrivateKey) *http.Response {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: f.clientWith(t, key)}
	t.Cleanup(transport.CloseIdleConnections)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Other headers of a client must not reach the cell.
	request.Header.Set("Authorization", "Bearer stolen")
	request.Header.Set("Impersonate-User", "system:admin")
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// addressOf returns the URL of a session on this replica.
func (f *fixture) addressOf(g *Grant) string {
	address, _ := url.JoinPath(f.url, PathPrefix, g.Project, g.Namespace, g.Name, string(g.UID))
	return address
}

func readAll(t *testing.T, response *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil && !strings.Contains(err.Error(), "EOF") {
		t.Fatal(err)
	}
	return string(body)
}
