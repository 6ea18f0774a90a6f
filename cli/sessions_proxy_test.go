// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/hub/sessions"
)

const (
	// asCommand is an environment variable that makes the test binary the plugin of kubectl: Go reads the proxies of the
	// environment once in a process.
	asCommand = "KARMADA_COMPUTE_TEST_AS_COMMAND"
	// behindProxy is a host that only a proxy of these tests can resolve.
	behindProxy = "sessions.karmada-compute.test"
)

// runAsCommand runs the plugin with the arguments of the process.
func runAsCommand() int {
	root := New(Options{
		Use: "kubectl-compute", Flags: genericclioptions.NewConfigFlags(true), Clock: clock.RealClock{},
		Streams: genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr},
	})
	util.CheckErr(root.Execute())
	return 0
}

// forwardProxy is an HTTP proxy for TLS.
type forwardProxy struct {
	url string

	mu    sync.Mutex
	asked map[string]bool
}

// newForwardProxy starts a proxy that connects to the address that resolve returns for a host with a port.
func newForwardProxy(t *testing.T, resolve func(string) string) *forwardProxy {
	t.Helper()
	p := &forwardProxy{asked: map[string]bool{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked[r.Host] = true
		p.mu.Unlock()
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil || r.Method != http.MethodConnect {
			return
		}
		fmt.Fprint(connection, "HTTP/1.1 200 OK\r\n\r\n")
		join(t.Context(), connection, resolve(r.Host))
	}))
	t.Cleanup(server.CloseClientConnections)
	p.url = server.URL
	return p
}

// hosts returns the hosts that the proxy was asked for.
func (p *forwardProxy) hosts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.asked))
}

// throughProxy answers logs and commands.
func throughProxy(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") == "" {
		fmt.Fprintln(w, "through the proxy")
		return
	}
	streams, connection := openCommand(w, r)
	if streams == nil {
		return
	}
	defer func() { _ = connection.Close() }()
	fmt.Fprintln(streams[1], "through the proxy")
	succeed(streams)
}

// TestProxy verifies that streams pass the proxy of the kubeconfig.
func TestProxy(t *testing.T) {
	f := newFixture(t)
	f.reachable()
	var replica string
	f.serveSessions(http.HandlerFunc(throughProxy), func(o *sessions.Options) { replica = strings.TrimPrefix(o.URL, "https://") })
	proxy := newForwardProxy(t, func(host string) string { return host })
	config := rest.CopyConfig(f.Config())
	config.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxy.url) }
	f.want(f.kubectl(config, "logs", "web-texas-dfw-0"), 0, "through the proxy")
	f.want(f.kubectl(config, "exec", "web-texas-dfw-0", "--", "sh"), 0, "through the proxy")
	if asked := proxy.hosts(); !slices.Contains(asked, replica) || len(asked) != 2 {
		t.Errorf("the proxy was asked for %v, and not for %s", asked, replica)
	}
}

// TestProxyOfTheEnvironment verifies that logs and commands pass the proxy of HTTPS_PROXY.
func TestProxyOfTheEnvironment(t *testing.T) {
	f := newFixture(t)
	f.reachable()
	var replica string
	f.serveSessions(http.HandlerFunc(throughProxy), func(o *sessions.Options) {
		replica = strings.TrimPrefix(o.URL, "https://")
		o.URL = "https://" + behindProxy
	})
	proxy := newForwardProxy(t, func(string) string { return replica })
	for _, args := range [][]string{{"logs", "web-texas-dfw-0"}, {"exec", "web-texas-dfw-0", "--", "sh"}} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		// The API server of the project is at the loopback address, for which Go uses no proxy.
		cmd.Env = append(os.Environ(), asCommand+"=true", "KUBECONFIG="+f.kubeconfig(f.Config()), "HTTPS_PROXY="+proxy.url, "NO_PROXY=")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil || out.String() != "through the proxy\n" {
			t.Errorf("%v: %v, %q", args, err, out.String())
		}
	}
	if asked := proxy.hosts(); !slices.Equal(asked, []string{behindProxy + ":443"}) {
		t.Errorf("the proxy was asked for %v", asked)
	}
}
