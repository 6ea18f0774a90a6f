// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cliflag "k8s.io/component-base/cli/flag"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/karmada-compute/karmada-compute/testenv"
	testplanes "github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

// TestStartWithoutAnybody: a replica with controllers that starts while neither hub nor Milo answers waits, alive and
// not ready. When the hub answers, all its controllers are set up and it joins the replicas that share the projects,
// without Milo.
func TestStartWithoutAnybody(t *testing.T) {
	p := testplanes.New(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "karmada-system"}}
	if err := client.IgnoreAlreadyExists(p.Client.Create(t.Context(), namespace)); err != nil {
		t.Fatal(err)
	}
	toHub, toMilo := testenv.NewProxy(t, p.Config()), testenv.NewProxy(t, p.Config())
	toHub.Cut()
	toMilo.Cut()
	health := testenv.FreeAddress(t)
	startProcess(t,
		"--kubeconfig="+testenv.Kubeconfig(t, toHub.Config(p.Config())), "--milo-kubeconfig="+testenv.Kubeconfig(t, toMilo.Config(p.Config())),
		"--replica-name=a", "--controllers=*", "--webhooks=", "--register-webhooks=false", "--metrics-bind-address=0",
		"--peer-bind-address=0", "--health-probe-bind-address="+health,
	)
	r := &replica{client: &http.Client{}}
	probe := func(path string) error {
		_, err := r.do(t.Context(), http.MethodGet, "http://"+health+path, nil)
		return err
	}
	eventually(t, func() error { return probe("/healthz") })
	if err := probe("/readyz"); err == nil || !strings.Contains(err.Error(), "the hub has not answered") {
		t.Errorf("before the hub answers: %v", err)
	}
	toHub.Restore(t)
	eventually(t, func() error { return probe("/readyz") })
	eventually(t, func() error {
		return p.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace.Name, Name: "karmada-compute-replica-a"}, &coordinationv1.Lease{})
	})
}

// startProcess runs the process with flags until the test ends.
func startProcess(t *testing.T, args ...string) {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	// A process registers its metrics once.
	metrics.Registry = prometheus.NewRegistry()
	a := newApp()
	var groups cliflag.NamedFlagSets
	a.AddFlags(&groups)
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, group := range groups.FlagSets {
		flags.AddFlagSet(group)
	}
	if err := errors.Join(flags.Parse(args), a.Validate()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
