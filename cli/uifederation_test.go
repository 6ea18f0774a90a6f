// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/page"
)

// startOperatorUI starts karmadactl compute ui.
func (f *fixture) startOperatorUI(config *rest.Config, args ...string) *uiPage {
	f.Helper()
	ctx, interrupt := context.WithCancel(f.Context())
	out, done := &buffer{}, make(chan result, 1)
	args = append([]string{"ui", "--system-namespace", f.Namespace.Name}, args...)
	go func() { done <- f.call(call{config: config, operator: true, ctx: ctx, out: out}, args...) }()
	f.Cleanup(func() {
		interrupt()
		f.want(<-done, exitInterrupted)
	})
	f.eventually(out, "http://127.0.0.1:")
	return &uiPage{fixture: f, address: strings.TrimSpace(out.String())}
}

// faultyCell creates a cell without an agent.
func (f *fixture) faultyCell() string {
	f.Helper()
	cell := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{
		Name: "cell-of-" + f.Namespace.Name, Labels: map[string]string{v1alpha.LabelTopologyCity: "dfw"},
	}}
	f.create(cell)
	cell.Status.Conditions = []metav1.Condition{
		is(clusterv1alpha1.ClusterConditionReady, metav1.ConditionTrue, "ClusterReady", ""),
		is(v1alpha.ConditionComputeAgentReady, metav1.ConditionFalse, v1alpha.ReasonAgentNotReady, "no replica is available"),
	}
	f.update(cell)
	return cell.Name
}

// cellOf returns a cell of the page.
func cellOf(s *page.State, name string) *page.Federation {
	if s.Federation == nil || s.Federation.Problem != nil {
		return nil
	}
	for _, cell := range s.Federation.Cells {
		if cell.Name == name {
			return s.Federation
		}
	}
	return nil
}

// TestOperatorUI: the operator's page has replicas, cells with their faults, and the time of the read; with --project
// also the project.
func TestOperatorUI(t *testing.T) {
	f := newFixture(t)
	f.lease("a", now)
	cell := f.faultyCell()
	hub := f.startOperatorUI(f.Config())
	state := hub.until("", func(s *page.State) bool { return cellOf(s, cell) != nil })
	found := cellOf(state, cell)
	if !found.Read.Equal(now) || found.Well || len(found.Replicas) != 1 || !found.Replicas[0].Running || state.Problem != nil {
		t.Errorf("got %+v", found)
	}
	if fault := found.Cells[0].Finding; fault == nil || fault.Do == "" {
		t.Errorf("a cell without a fault is first: %+v", found.Cells)
	}

	f.scene()
	root, _ := f.behindProxy()
	both := f.startOperatorUI(f.Config(), "--project", "north", "--milo-kubeconfig", f.kubeconfig(root))
	both.until("web", func(s *page.State) bool { return cellOf(s, cell) != nil && s.Workload != nil && !s.Workload.Gone })
	f.want(f.karmadactl("ui", "--project", "north"), 1, "--milo-kubeconfig belong together")
}

// TestOperatorUIWithoutHub: a hub that refuses the credential is a problem with what to do.
func TestOperatorUIWithoutHub(t *testing.T) {
	f := newFixture(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401}`))
	}))
	defer server.Close()
	u := f.startOperatorUI(&rest.Config{Host: server.URL})
	state := u.until("", func(s *page.State) bool { return s.Federation != nil && s.Problem != nil })
	if !strings.Contains(state.Problem.Message, "expired") || !strings.Contains(state.Problem.Do, "Sign in again") {
		t.Errorf("got %+v", state.Problem)
	}
}
