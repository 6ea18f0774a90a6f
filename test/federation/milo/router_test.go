// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const northPath = projectsPath + "north/control-plane"

// echo is a request as a backend of the tests received it.
type echo struct {
	Backend, Path, RawQuery, FrontProxy string
	Header                              http.Header
}

// fixture is a router with backends for the root and the project north; the project starting has no backend.
type fixture struct {
	ca     *authority
	ready  atomic.Bool
	places map[string]*backend
	url    string
	// held is a user whose requests to project north are not answered.
	held string
	// suspensions are the reasons of project north's suspensions.
	suspensions []string
	// release lets the backend's watch send its second event.
	release chan struct{}
}

func (f *fixture) backend(_ context.Context, project string) (*backend, error) {
	place, known := f.places[project]
	switch {
	case !known:
		return nil, errUnknownProject
	case place == nil:
		return nil, errStartingProject
	default:
		return place, nil
	}
}

func (f *fixture) registered(_ context.Context, resourceType string) (bool, error) {
	return resourceType == "example.com/registered", nil
}

func (f *fixture) hangs(project, user string) bool { return project == "north" && user == f.held }

func (f *fixture) suspended(string) []string { return f.suspensions }

func (f *fixture) terminating(_ context.Context, _ string, object objectKey) bool {
	return object.Resource == "workloads" && object.namespace == "default" && object.name == "terminating"
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{ca: newAuthority(t), release: make(chan struct{})}
	root := f.newBackend(t, "root")
	f.places = map[string]*backend{"north": f.newBackend(t, "north"), "starting": nil}
	cert, key, ca := f.ca.files(t, "router")
	tlsConfig, err := (&Options{CertFile: cert, KeyFile: key, ClientCAFile: ca}).tls()
	if err != nil {
		t.Fatal(err)
	}
	handler := &router{root: root, projects: f, ready: f.ready.Load, log: slog.New(slog.DiscardHandler)}
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.TLS = tlsConfig
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// newBackend starts a server that, as a kube-apiserver, trusts only its front
// proxy.
func (f *fixture) newBackend(t *testing.T, name string) *backend {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		seen := echo{
			Backend: name, Path: r.URL.EscapedPath(), RawQuery: r.URL.RawQuery, Header: r.Header,
			FrontProxy: r.TLS.VerifiedChains[0][0].Subject.CommonName,
		}
		if err := json.NewEncoder(w).Encode(seen); err != nil {
			t.Error(err)
		}
	})
	mux.HandleFunc("/watch", func(w http.ResponseWriter, r *http.Request) {
		for _, event := range []string{"first", "second"} {
			fmt.Fprintln(w, event)
			w.(http.Flusher).Flush()
			select {
			case <-f.release:
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("/upgrade", upgrade)
	mux.HandleFunc("/apis", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"APIGroupList","groups":[{"name":"networking.k8s.io"}]}`)
	})
	server := httptest.NewUnstartedServer(mux)
	server.TLS = &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{f.ca.pair(t, name)},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: f.ca.pool(),
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	frontCert, frontKey := f.ca.issue(t, "front-proxy")
	to, err := newBackend(
		&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: f.ca.pem}},
		rest.TLSClientConfig{CertData: frontCert, KeyData: frontKey},
	)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// upgrade upgrades the connection to one that echoes a line.
func upgrade(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "echo" {
		http.Error(w, "no upgrade", http.StatusBadRequest)
		return
	}
	connection, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = connection.Close() }()
	fmt.Fprint(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	if line, err := buffered.ReadString('\n'); err == nil {
		fmt.Fprint(connection, line)
	}
}

// client returns a client with a certificate for user, or without one if user is
// empty.
func (f *fixture) client(t *testing.T, user string, groups ...string) *http.Client {
	t.Helper()
	config := &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: f.ca.pool()}
	if user != "" {
		config.Certificates = []tls.Certificate{f.ca.pair(t, user, groups...)}
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// get sends a request with the given header and returns the response and its
// body.
func (f *fixture) get(t *testing.T, client *http.Client, path string, header http.Header) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		request.Header = header
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, body
}

// seen sends a request over HTTP/1.1, which allows every header, and returns it
// as the backend received it.
func (f *fixture) seen(t *testing.T, path string, header http.Header) echo {
	t.Helper()
	client := f.client(t, "jane", "dev", "ops")
	client.Transport.(*http.Transport).ForceAttemptHTTP2 = false
	response, body := f.get(t, client, path, header)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s", path, response.Status, body)
	}
	var got echo
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRouterSendsByPath(t *testing.T) {
	f := newFixture(t)
	for name, tc := range map[string]struct{ path, wantBackend, wantPath, wantQuery string }{
		"root":              {"/api/v1/namespaces?limit=5", "root", "/api/v1/namespaces", "limit=5"},
		"project":           {northPath + "/api/v1/namespaces?watch=true", "north", "/api/v1/namespaces", "watch=true"},
		"project, top":      {northPath + "/", "north", "/", ""},
		"escaped path":      {northPath + "/apis/example.com/v1/a%2Fb", "north", "/apis/example.com/v1/a%2Fb", ""},
		"Project itself":    {projectsPath + "north", "root", projectsPath + "north", ""},
		"Project's status":  {projectsPath + "north/status", "root", projectsPath + "north/status", ""},
		"list of Projects":  {strings.TrimSuffix(projectsPath, "/"), "root", strings.TrimSuffix(projectsPath, "/"), ""},
		"longer word":       {northPath + "s/api", "root", northPath + "s/api", ""},
		"another API group": {"/apis/x/v1/projects/north/control-plane/api", "root", "/apis/x/v1/projects/north/control-plane/api", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := f.seen(t, tc.path, nil)
			if got.Backend != tc.wantBackend || got.Path != tc.wantPath || got.RawQuery != tc.wantQuery {
				t.Errorf("got %s %s?%s, want %s %s?%s", got.Backend, got.Path, got.RawQuery, tc.wantBackend, tc.wantPath, tc.wantQuery)
			}
			if got.FrontProxy != "front-proxy" {
				t.Errorf("the backend saw client certificate %q", got.FrontProxy)
			}
		})
	}
}

func TestRouterRefuses(t *testing.T) {
	f := newFixture(t)
	for name, tc := range map[string]struct {
		user, path string
		wantCode   int
		wantReason metav1.StatusReason
		wantRetry  string
	}{
		"no slash after control-plane": {"jane", northPath, http.StatusNotFound, metav1.StatusReasonNotFound, ""},
		"unknown project":              {"jane", projectsPath + "nobody/control-plane/api", http.StatusNotFound, metav1.StatusReasonNotFound, ""},
		"starting project": {
			"jane", projectsPath + "starting/control-plane/api", http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "1",
		},
		"no certificate":          {"", "/api", http.StatusUnauthorized, metav1.StatusReasonUnauthorized, ""},
		"no certificate, project": {"", northPath + "/api", http.StatusUnauthorized, metav1.StatusReasonUnauthorized, ""},
	} {
		t.Run(name, func(t *testing.T) {
			response, body := f.get(t, f.client(t, tc.user), tc.path, nil)
			var status metav1.Status
			if err := json.Unmarshal(body, &status); err != nil {
				t.Fatalf("not a Status: %s", body)
			}
			if response.StatusCode != tc.wantCode || status.Code != int32(tc.wantCode) || status.Kind != "Status" || status.Reason != tc.wantReason {
				t.Errorf("got %s with %s", response.Status, body)
			}
			if got := response.Header.Get("Retry-After"); got != tc.wantRetry {
				t.Errorf("Retry-After %q, want %q", got, tc.wantRetry)
			}
		})
	}
}

func TestRouterRefusesForeignCertificate(t *testing.T) {
	f := newFixture(t)
	client := f.client(t, "jane")
	client.Transport.(*http.Transport).TLSClientConfig.Certificates = []tls.Certificate{newAuthority(t).pair(t, "jane", "system:masters")}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+"/api", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := client.Do(request); err == nil {
		_ = response.Body.Close()
		t.Errorf("a certificate of another CA was answered with %s", response.Status)
	}
}

func TestRouterReadiness(t *testing.T) {
	f := newFixture(t)
	client := f.client(t, "")
	if response, _ := f.get(t, client, ReadyPath, nil); response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("before: %s", response.Status)
	}
	f.ready.Store(true)
	if response, _ := f.get(t, client, ReadyPath, nil); response.StatusCode != http.StatusOK {
		t.Errorf("after: %s", response.Status)
	}
}

func TestRouterReplacesIdentity(t *testing.T) {
	f := newFixture(t)
	forged := http.Header{
		"X-Remote-User":  {"root"},
		"X-Remote-Group": {"system:masters"},
		"X-Remote-Uid":   {"0"},
		"X-Remote-Extra-Iam.miloapis.com%2fparent-Name": {"south"},
		"X-Remote-Extra-Scopes":                         {"all"},
		"Authorization":                                 {"Bearer something"},
		"Connection":                                    {"X-Remote-User, X-Remote-Extra-Iam.miloapis.com%2fparent-Name"},
	}
	for path, wantExtras := range map[string]map[string][]string{
		"/api":             {},
		northPath + "/api": parentExtras("north"),
	} {
		t.Run(path, func(t *testing.T) {
			got := f.seen(t, path, forged.Clone()).Header
			if want := []string{"jane"}; !slices.Equal(got["X-Remote-User"], want) {
				t.Errorf("user %q, want %q", got["X-Remote-User"], want)
			}
			if want := []string{"dev", "ops", "system:authenticated"}; !slices.Equal(got["X-Remote-Group"], want) {
				t.Errorf("groups %q, want %q", got["X-Remote-Group"], want)
			}
			if got.Get("X-Remote-Uid") != "" || got.Get("Authorization") != "" {
				t.Errorf("forged headers passed: %v", got)
			}
			wantSameExtras(t, got, remoteExtraPrefix, wantExtras)
			wantSameExtras(t, got, impersonateExtraPrefix, nil)
		})
	}
}

func TestRouterOverridesImpersonatedParents(t *testing.T) {
	f := newFixture(t)
	forged := http.Header{
		"Impersonate-User":  {"eve"},
		"Impersonate-Group": {"guests"},
		"Impersonate-Extra-Iam.miloapis.com%2fparent-Name":         {"south", "east"},
		"impersonate-extra-IAM%2Emiloapis%2Ecom%2Fparent%2Dtype":   {"Organization"},
		"Impersonate-Extra-Example.com%2fcolour":                   {"red"},
		"Impersonate-Extra-Iam.miloapis.com%2fparent-Name-As-Well": {"kept"},
	}
	inProject := parentExtras("north")
	inProject["example.com/colour"] = []string{"red"}
	inProject["iam.miloapis.com/parent-name-as-well"] = []string{"kept"}
	atRoot := map[string][]string{
		"iam.miloapis.com/parent-name":         {"south", "east"},
		"iam.miloapis.com/parent-type":         {"Organization"},
		"example.com/colour":                   {"red"},
		"iam.miloapis.com/parent-name-as-well": {"kept"},
	}
	for path, wantExtras := range map[string]map[string][]string{"/api": atRoot, northPath + "/api": inProject} {
		t.Run(path, func(t *testing.T) {
			got := f.seen(t, path, forged.Clone()).Header
			if got.Get("Impersonate-User") != "eve" || got.Get("Impersonate-Group") != "guests" {
				t.Errorf("impersonation did not pass: %v", got)
			}
			wantSameExtras(t, got, impersonateExtraPrefix, wantExtras)
		})
	}
}

func parentExtras(project string) map[string][]string {
	return map[string][]string{
		"iam.miloapis.com/parent-api-group": {"resourcemanager.miloapis.com"},
		"iam.miloapis.com/parent-type":      {"Project"},
		"iam.miloapis.com/parent-name":      {project},
	}
}

func TestRouterStreamsWatches(t *testing.T) {
	f := newFixture(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+northPath+"/watch", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := f.client(t, "jane").Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	events := bufio.NewScanner(response.Body)
	for _, want := range []string{"first", "second"} {
		// The backend sends its next event only after this one was received.
		if !events.Scan() || events.Text() != want {
			t.Fatalf("got event %q (%v), want %q", events.Text(), events.Err(), want)
		}
		f.release <- struct{}{}
	}
}

func TestRouterPassesUpgrades(t *testing.T) {
	f := newFixture(t)
	dialer := &tls.Dialer{
		NetDialer: &net.Dialer{Timeout: 5 * time.Second},
		Config: &tls.Config{
			MinVersion: tls.VersionTLS13, RootCAs: f.ca.pool(), NextProtos: []string{"http/1.1"},
			Certificates: []tls.Certificate{f.ca.pair(t, "jane")},
		},
	}
	connection, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(f.url, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	fmt.Fprintf(connection, "GET %s/upgrade HTTP/1.1\r\nHost: milo\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n", northPath)
	reader := bufio.NewReader(connection)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("got %s", response.Status)
	}
	fmt.Fprintln(connection, "hello")
	if line, err := reader.ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("got %q, %v", line, err)
	}
}

// TestRouterHangs verifies that requests of a held user to a project are not answered, while other users' requests are,
// and so are this user's requests to other projects.
func TestRouterHangs(t *testing.T) {
	f := newFixture(t)
	f.held = "slow"
	ctx, cancel := context.WithCancel(t.Context())
	const north = projectsPath + "north" + controlPlanePath + "/version"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+north, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	slow := f.client(t, "slow")
	ended := make(chan error)
	go func() {
		response, err := slow.Do(request)
		if err == nil {
			err = errors.Join(fmt.Errorf("it was answered with %s", response.Status), response.Body.Close())
		}
		ended <- err
	}()
	if response, _ := f.get(t, f.client(t, "fast"), north, nil); response.StatusCode != http.StatusOK {
		t.Errorf("another user is answered with %s", response.Status)
	}
	if response, _ := f.get(t, f.client(t, "slow"), "/version", nil); response.StatusCode != http.StatusOK {
		t.Errorf("the user is answered with %s at the root", response.Status)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the request that hangs ended with %v", err)
	}
}
