// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestTree(t *testing.T) {
	f := newFixture(t)
	f.scene()
	r := f.kubectl(f.Config(), "tree", "web")
	want := strings.Join([]string{
		"Workload web               1/2 Ready  AvailablePlacementFound",
		"└─ DFW  web-texas-dfw      0/2 Ready  InstancesProvisioning    Instances start",
		"   ├─ web-texas-dfw-0      Ready      Available                10.0.0.1",
		"   └─ web-texas-dfw-1      not Ready  QuotaExceeded            no vcpus are left",
	}, "\n")
	if squeeze(r.out) != squeeze(want) || r.code != 0 || r.errOut != "" {
		t.Errorf("code %d, %v, got\n%s\nwant\n%s", r.code, r.err, r.out, want)
	}

	f.want(f.kubectl(f.Config(), "tree", "web", "-o", "wide"), 0, "-> consumer: Ask for fewer or smaller Instances",
		"since 2026-05-01 12:00:00Z")
	f.want(f.kubectl(f.Config(), "tree", "web", "-o", "jsonpath={.children[0].children[1].finding.reason}"), 0, "QuotaExceeded")
	f.want(f.kubectl(f.Config(), "tree", "web", "-o", "yaml"), 0, "kind: WorkloadTree",
		"apiVersion: cli.compute.datumapis.com/v1alpha", "city: DFW")
	f.want(f.kubectl(f.Config(), "tree", "web", "-o", "nonsense"), 1, "nonsense")
	f.want(f.kubectl(f.Config(), "tree", "web", "--color=always"), 0, "\x1b[32mReady\x1b[0m", "\x1b[31mnot Ready\x1b[0m")
	f.want(f.kubectl(f.Config(), "tree", "web", "--color=on"), 1, "--color", "auto, always, never")
	for _, format := range []string{"json", "yaml", "name"} {
		if r := f.kubectl(f.Config(), "tree", "web", "--color=always", "-o", format); r.code != 0 || strings.Contains(r.out, "\x1b") {
			t.Errorf("programs that read format %s get colours: %q, %v", format, r.out, r.err)
		}
	}
	names := f.kubectl(f.Config(), "tree", "web", "-o", "name")
	if names.code != 0 || names.out != "workload.compute.datumapis.com/web\nworkloaddeployment.compute.datumapis.com/web-texas-dfw\n"+
		"instance.compute.datumapis.com/web-texas-dfw-0\ninstance.compute.datumapis.com/web-texas-dfw-1\n" {
		t.Errorf("the names are %v %s", names.err, names.out)
	}
	// Commands take what is printed.
	f.want(f.kubectl(f.Config(), "explain", strings.Fields(names.out)[2]), 0)
	// A command that shows no objects by name lists its formats.
	f.want(f.kubectl(f.Config(), "explain", "web", "-o", "name"), 1, "json", "wide")
	f.want(f.kubectl(f.Config(), "explain"), 1, "explain takes")
}

// squeeze replaces repeated blanks by one.
func squeeze(text string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

func TestTreeOfNothing(t *testing.T) {
	f := newFixture(t)
	r := f.kubectl(f.Config(), "tree", "none")
	f.want(r, 1, `workloads.compute.datumapis.com "none" not found`)
	if r.out != "" {
		t.Errorf("output of a Workload that does not exist: %q", r.out)
	}
}

// TestTreeWithoutRights: objects that the user may not read are left out; a user without any rights gets the reason.
func TestTreeWithoutRights(t *testing.T) {
	f := newFixture(t)
	f.scene()
	r := f.kubectl(f.user(may(read, "workloads", "workloaddeployments")), "tree", "web")
	f.want(r, 0, "DFW web-texas-dfw", "left out, since you may not read it: instances")
	if strings.Contains(r.out, "web-texas-dfw-0") || strings.Contains(r.out, "left out") {
		t.Errorf("an Instance that may not be seen, or the notice, is in the output:\n%s", r.out)
	}
	r = f.kubectl(f.user(may(read, "instances")), "tree", "web")
	f.want(r, 0, "Workload web", "not visible", "web-texas-dfw-1")
	f.want(f.kubectl(f.user(), "tree", "web"), 1, `you may not read Workload "web"`, "forbidden")
}

func TestTreeOfPlaneThatIsDown(t *testing.T) {
	f := newFixture(t)
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	f.want(f.kubectl(&rest.Config{Host: server.URL}, "tree", "web"), 1, "was refused - did you specify the right host or port?")
	f.want(f.call(call{config: &rest.Config{Host: server.URL}, operator: true}, "tree", "web", "--project", "north"), 1, "was refused")
}

// TestTreeOfOtherServer: an API server without the add-on's kinds is not shown as an empty project.
func TestTreeOfOtherServer(t *testing.T) {
	f := newFixture(t)
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	f.want(f.kubectl(&rest.Config{Host: server.URL}, "tree", "web"), 1, "does not serve Workloads; does the kubeconfig lead to the project?")
}

// TestTreeOnHub: an operator sees the cells, with and without the project.
func TestTreeOnHub(t *testing.T) {
	f := newFixture(t)
	_, d := f.scene()
	onHub := f.copied(d)
	onHub.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{
		{Name: "dfw-1", Indices: []v1alpha.IndexRange{{First: 0, Last: 0}}}, {Name: "dfw-2", Indices: []v1alpha.IndexRange{{First: 1, Last: 1}}},
	}}
	if err := f.Client.Update(t.Context(), onHub); err != nil {
		t.Fatal(err)
	}
	planes.SetReport(t, onHub, "dfw-1", wire.Instance{Name: d.Name + "-0", Conditions: []metav1.Condition{ready}})
	planes.SetReport(t, onHub, "dfw-2", wire.Instance{Name: d.Name + "-1", Conditions: []metav1.Condition{gated, exceeded}})
	onHub.Status.ReplicaCounts = v1alpha.ReplicaCounts{ReadyReplicas: 1, DesiredReplicas: 2}
	f.update(onHub)
	r := f.karmadactl("tree", "web", "--project", "north")
	f.want(r, 0, "Project north", "Workload web", "DFW web-texas-dfw 1/2 Ready", "cell dfw-1 1/1 Ready",
		"cell dfw-2 0/1 Ready", "web-texas-dfw-1 not Ready QuotaExceeded")
	if names := f.karmadactl("tree", "web", "--project", "north", "-o", "name").out; strings.Contains(names, "north") ||
		strings.Count(names, "\n") != 4 {
		t.Errorf("the names of the project's objects are %s", names)
	}
	f.want(f.karmadactl("tree", "web", "--project", "south"), 1, "not found")
	f.want(f.karmadactl("tree", "web"), 1, "--project is required")
}

// TestTreeFollows: without a terminal, the command prints plain lines, and ends on Ctrl-C without a message.
func TestTreeFollows(t *testing.T) {
	f := newFixture(t)
	_, d := f.scene()
	ctx, interrupt := context.WithCancel(t.Context())
	out := &buffer{}
	done := make(chan result, 1)
	go func() { done <- f.call(call{config: f.Config(), ctx: ctx, out: out}, "tree", "web", "-w") }()
	f.eventually(out, "web-texas-dfw-1 not Ready QuotaExceeded")
	f.instance(d, 2, ready)
	f.eventually(out, "web-texas-dfw-2 Ready Available")
	interrupt()
	r := <-done
	f.want(r, exitInterrupted)
	if r.err != nil || strings.Contains(r.out, "\x1b") {
		t.Errorf("an interruption is told as an error, or a pipe gets control characters: %v %q", r.err, r.out)
	}
}

// TestTreeFollowsWithoutRights: kinds that the user may not list are left out; the command follows the others.
func TestTreeFollowsWithoutRights(t *testing.T) {
	f := newFixture(t)
	w, _ := f.scene()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := &buffer{}
	done := make(chan result, 1)
	user := f.user(may(read, "workloads"))
	go func() { done <- f.call(call{config: user, ctx: ctx, out: out}, "tree", "web", "-w") }()
	f.eventually(out, "Workload web 1/2 Ready")
	w.Status.ReadyReplicas = 2
	f.update(w)
	f.eventually(out, "Workload web 2/2 Ready")
	interrupt()
	f.want(<-done, exitInterrupted, "left out")
}

// TestTreeFollowsUntilGone: the command ends when the Workload is deleted.
func TestTreeFollowsUntilGone(t *testing.T) {
	f := newFixture(t)
	w := f.workload()
	out := &buffer{}
	done := make(chan result, 1)
	go func() { done <- f.call(call{config: f.Config(), out: out}, "tree", "web", "-w", "-o", "json") }()
	f.eventually(out, `"name": "web"`)
	if err := f.Client.Delete(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	r := <-done
	f.want(r, 0)
	var last view.Node
	decoder := json.NewDecoder(strings.NewReader(r.out))
	for {
		node := view.Node{}
		if err := decoder.Decode(&node); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		last = node
	}
	if last.State != view.StateGone {
		t.Errorf("the last state is %q", last.State)
	}
}

// eventually waits until a command has written a text.
func (f *fixture) eventually(out *buffer, want string) {
	f.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(squeeze(out.String()), want); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.Fatalf("%q was not written:\n%s", want, out.String())
		}
	}
}

// TestTreeFollowsThroughOutage: while the API server is down, the last known state is shown with a line about the
// outage. Afterwards the command shows what has changed.
func TestTreeFollowsThroughOutage(t *testing.T) {
	f := newFixture(t)
	w := f.workload()
	config, away := f.behindProxy()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := &buffer{}
	done := make(chan result, 1)
	go func() {
		done <- f.call(call{config: config, ctx: ctx, out: out}, "tree", "web", "-w")
	}()
	f.eventually(out, "Workload web 1/2 Ready")
	away(true)
	f.eventually(out, "! not updated since 12:01:00Z")
	w.Status.ReadyReplicas = 2
	f.update(w)
	away(false)
	f.eventually(out, "Workload web 2/2 Ready")
	w.Status.ReadyReplicas = 0
	f.update(w)
	f.eventually(out, "[ 0.0s]\nWorkload web 0/2 Ready")
	interrupt()
	f.want(<-done, exitInterrupted)
}

// behindProxy returns the API server behind a proxy that can simulate an outage and close all connections. As Milo's
// root it has project north.
func (f *fixture) behindProxy() (config *rest.Config, away func(bool)) {
	f.Helper()
	transport, err := rest.TransportFor(f.Config())
	if err != nil {
		f.Fatal(err)
	}
	target, err := url.Parse(f.Config().Host)
	if err != nil {
		f.Fatal(err)
	}
	var down atomic.Bool
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport, proxy.FlushInterval, proxy.ErrorLog = transport, -1, log.New(io.Discard, "", 0)
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if down.Load() {
			http.Error(response, "away", http.StatusServiceUnavailable)
			return
		}
		request.URL.Path = strings.TrimPrefix(request.URL.Path, "/apis/resourcemanager.miloapis.com/v1alpha1/projects/north/control-plane")
		proxy.ServeHTTP(response, request)
	}))
	f.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}, func(now bool) {
		down.Store(now)
		if now {
			server.CloseClientConnections()
		}
	}
}
