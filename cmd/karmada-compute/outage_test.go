// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/webhook"
)

// root implements the part of Milo's API that admission uses: every project exists, has city DFW and allows everything.
// Control planes of projects answer also while the root does not. It is the hub as well, which has the key of the
// webhooks' paths and an instance type, and answers always.
type root struct {
	down atomic.Pointer[http.HandlerFunc]
}

// pathKey is the key of the webhooks' paths.
var pathKey = bytes.Repeat([]byte{1}, 32)

// secretOf is the suffix of a path, for callers without credentials.
func secretOf(path string) string {
	mac := hmac.New(sha256.New, pathKey)
	mac.Write([]byte(path))
	return hex.EncodeToString(mac.Sum(nil))
}

func (m *root) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	const projects = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/"
	name, inProject, isInProject := strings.Cut(strings.TrimPrefix(r.URL.Path, projects), "/control-plane")
	down := m.down.Load()
	switch {
	case r.URL.Path == "/api/v1/namespaces/karmada-system/secrets/karmada-compute-webhook-path":
		fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"karmada-compute-webhook-path","namespace":"karmada-system","resourceVersion":"1"},
			"data":{"current":%q}}`, base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString(pathKey))))
	case r.URL.Path == "/apis/compute.datumapis.com/v1alpha":
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"APIResourceList","groupVersion":"compute.datumapis.com/v1alpha",
			"resources":[{"name":"instancetypes","singularName":"instancetype","kind":"InstanceType","verbs":["list"]}]}`)
	case r.URL.Path == "/apis/compute.datumapis.com/v1alpha/instancetypes":
		fmt.Fprint(w, `{"apiVersion":"compute.datumapis.com/v1alpha","kind":"InstanceTypeList","items":[{"metadata":{"name":"datumcloud-d1-standard-2"},
			"spec":{"resources":{"cpu":"1","memory":"2Gi"}}}]}`)
	case isInProject && strings.HasSuffix(inProject, "/locationbindings"):
		fmt.Fprint(w, `{"apiVersion":"networking.datumapis.com/v1alpha","kind":"LocationBindingList","items":[{"metadata":{"name":"a"},
			"spec":{"topology":{"topology.datum.net/city-code":"DFW"}},"status":{"conditions":[{"type":"Available","status":"True"}]}}]}`)
	case isInProject && strings.HasSuffix(inProject, "/workloads"):
		fmt.Fprint(w, `{"apiVersion":"compute.datumapis.com/v1alpha","kind":"WorkloadList","items":[]}`)
	case isInProject && strings.HasSuffix(inProject, "/subjectaccessreviews"):
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","status":{"allowed":true}}`)
	case isInProject:
		http.NotFound(w, r)
	case down != nil:
		(*down)(w, r)
	default:
		fmt.Fprintf(w, `{"apiVersion":"resourcemanager.miloapis.com/v1alpha1","kind":"Project","metadata":{"name":%q,"uid":"1"},
			"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, name)
	}
}

// replica is the process with its webhooks only.
type replica struct {
	webhook, health string
	client          *http.Client
}

func startReplica(t *testing.T, milo string) *replica {
	t.Helper()
	dir := t.TempDir()
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["c"] = &clientcmdapi.Cluster{Server: milo}
	kubeconfig.Contexts["c"] = &clientcmdapi.Context{Cluster: "c"}
	kubeconfig.CurrentContext = "c"
	path := filepath.Join(dir, "kubeconfig")
	if err := errors.Join(err, clientcmd.WriteToFile(*kubeconfig, path),
		os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600), os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600)); err != nil {
		t.Fatal(err)
	}
	port, health := strconv.Itoa(testenv.FreePort(t)), testenv.FreeAddress(t)
	startProcess(t,
		"--kubeconfig="+path, "--milo-kubeconfig="+path, "--controllers=-*", "--webhooks=workloads",
		"--register-webhooks=false", "--webhook-cert-dir="+dir, "--webhook-bind-address=127.0.0.1", "--webhook-port="+port,
		"--metrics-bind-address=0", "--peer-bind-address=0", "--health-probe-bind-address="+health, "--shutdown-delay-duration=0",
	)
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 25}
	t.Cleanup(transport.CloseIdleConnections)
	return &replica{
		webhook: "https://127.0.0.1:" + port + webhook.ValidatePath + "/" + secretOf(webhook.ValidatePath),
		health:  "http://" + health + "/readyz", client: &http.Client{Transport: transport},
	}
}

// do sends a request and returns the answer's body.
func (r *replica) do(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answer is %d: %s", response.StatusCode, content)
	}
	// Probes have connections of their own.
	if response.Close && method == http.MethodPost {
		return nil, errors.New("the connection is closed after the answer")
	}
	return content, nil
}

func (r *replica) ready(ctx context.Context) error {
	_, err := r.do(ctx, http.MethodGet, r.health, nil)
	return err
}

const (
	// callerWaits is the timeout in the URL of requests.
	callerWaits = time.Second
	// callTimeout is the timeout of the client, long enough for a slow machine.
	callTimeout = time.Minute
)

// create sends the review of a create in a project, as an API server does.
func (r *replica) create(ctx context.Context, project string) (*admissionv1.AdmissionResponse, error) {
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "u", Operation: admissionv1.Create, Namespace: "default",
			Kind: metav1.GroupVersionKind{Group: "compute.datumapis.com", Version: "v1alpha", Kind: "Workload"},
			UserInfo: authenticationv1.UserInfo{Username: "consumer", Extra: map[string]authenticationv1.ExtraValue{
				"iam.miloapis.com/parent-api-group": {"resourcemanager.miloapis.com"},
				"iam.miloapis.com/parent-type":      {"Project"},
				"iam.miloapis.com/parent-name":      {project},
			}},
			Object: runtime.RawExtension{Raw: []byte(`{"apiVersion":"compute.datumapis.com/v1alpha","kind":"Workload","metadata":{"name":"web","namespace":"default"},
				"spec":{"placements":[{"name":"main","cityCodes":["DFW"],"scaleSettings":{"minReplicas":1}}],"template":{"spec":{
				"networkInterfaces":[{"network":{"name":"default"}}],"runtime":{"resources":{"instanceType":"datumcloud/d1-standard-2"},
				"sandbox":{"containers":[{"name":"app","image":"docker.io/library/nginx:1.27"}]}}}}}}`)},
		},
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	content, err := r.do(ctx, http.MethodPost, r.webhook+"?timeout="+callerWaits.String(), body)
	if err != nil {
		return nil, err
	}
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(content, &review); err != nil || review.Response == nil {
		return nil, fmt.Errorf("the answer is no review: %q: %w", content, err)
	}
	return review.Response, nil
}

// reachable is the value of the metric.
func reachable() (float64, error) {
	families, err := metrics.Registry.Gather()
	if err != nil {
		return 0, err
	}
	for _, family := range families {
		if family.GetName() == "karmada_compute_milo_reachable" {
			return family.GetMetric()[0].GetGauge().GetValue(), nil
		}
	}
	return 0, errors.New("there is no such metric")
}

func eventually(t *testing.T, check func() error) {
	t.Helper()
	var last error
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		last = check()
		return last == nil, nil
	}); err != nil {
		t.Fatal(last)
	}
}

func isReachable(want float64) func() error {
	return func() error {
		if got, err := reachable(); err != nil || got != want {
			return fmt.Errorf("the metric is %v, want %v: %w", got, want, err)
		}
		return nil
	}
}

// TestOutage: while Milo's root fails, in whatever way, every request for an unknown project gets an error that names
// the outage, no connection is closed, and the replica is ready. Requests for a known project are admitted.
func TestOutage(t *testing.T) {
	milo := &root{}
	server := httptest.NewServer(milo)
	released := make(chan struct{})
	t.Cleanup(func() {
		// Requests outlive their callers, and Close would wait for them, also for one that has just arrived.
		close(released)
		server.CloseClientConnections()
		server.Close()
	})
	r := startReplica(t, server.URL)
	eventually(t, func() error { return r.ready(t.Context()) })
	if response, err := r.create(t.Context(), "north"); err != nil || !response.Allowed {
		t.Fatalf("answer is %+v, %v", response, err)
	}
	eventually(t, isReachable(1))
	for _, outage := range []struct {
		name string
		down http.HandlerFunc
	}{
		{"errors", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }},
		{"closes", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{"hangs", func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-released:
			}
		}},
	} {
		t.Run(outage.name, func(t *testing.T) {
			milo.down.Store(&outage.down)
			var group sync.WaitGroup
			for i := range 30 {
				group.Go(func() { r.isToldOfTheOutage(t, fmt.Sprintf("unknown-%s-%d", outage.name, i)) })
			}
			group.Wait()
			eventually(t, isReachable(0))
			if response, err := r.create(t.Context(), "north"); err != nil || !response.Allowed {
				t.Errorf("a known project: %+v, %v", response, err)
			}
			if err := r.ready(t.Context()); err != nil {
				t.Errorf("in the outage: %v", err)
			}
		})
	}
}

func (r *replica) isToldOfTheOutage(t *testing.T, project string) {
	t.Helper()
	response, err := r.create(t.Context(), project)
	if err != nil {
		t.Error(err)
		return
	}
	if result := response.Result; response.Allowed || result.Code != http.StatusServiceUnavailable ||
		!strings.Contains(result.Message, "try again: Milo cannot be reached") {
		t.Errorf("answer is %+v", response)
	}
}
