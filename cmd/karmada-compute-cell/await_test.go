// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// hastyClock is a hundred times faster than the real one.
type hastyClock struct {
	clock.RealClock
	began time.Time
}

func (c hastyClock) Now() time.Time { return c.began.Add(100 * time.Since(c.began)) }

func (c hastyClock) NewTimer(d time.Duration) clock.Timer { return c.RealClock.NewTimer(d / 100) }

// await awaits an API server, and counts the log lines about the wait.
func await(ctx context.Context, config *rest.Config, said *atomic.Int32) error {
	s := component.Server{
		Name: "the cell", Flag: "--kubeconfig", Config: config, Clock: hastyClock{began: time.Now()},
		Log: funcr.New(func(_, args string) {
			if strings.Contains(args, "Waiting for an API server") && strings.Contains(args, `"from"="--kubeconfig"`) {
				said.Add(1)
			}
		}, funcr.Options{}),
	}
	return s.Await(ctx)
}

// TestWrongKubeconfig: a fault that waiting does not change is an error that names the remedy.
func TestWrongKubeconfig(t *testing.T) {
	withToken, nobody, stranger := rest.AnonymousClientConfig(testenv.Config(t)),
		rest.AnonymousClientConfig(testenv.Config(t)), rest.CopyConfig(testenv.Config(t))
	withToken.BearerToken = "wrong"
	ca, _, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stranger.CAData = ca
	missing := rest.CopyConfig(testenv.Config(t))
	missing.CertData, missing.CertFile = nil, "/no/such/file"
	elsewhere := rest.CopyConfig(testenv.Config(t))
	elsewhere.Host += "/elsewhere"
	for name, test := range map[string]struct {
		config *rest.Config
		want   string
		waits  bool
	}{
		"a token that is not known (401)": {withToken, "the cell does not accept the credential of --kubeconfig", true},
		"a user without rights (403)":     {nobody, "the cell does not accept the credential of --kubeconfig", true},
		"another CA":                      {stranger, "correct its address and CA in --kubeconfig", false},
		"another path (404)":              {elsewhere, "correct its address and CA in --kubeconfig", false},
		"a certificate that is missing":   {missing, "see --kubeconfig", false},
	} {
		var said atomic.Int32
		err := await(t.Context(), test.config, &said)
		if err == nil || !strings.Contains(err.Error(), test.want) || (said.Load() > 0) != test.waits {
			t.Errorf("%s: after %d lines of the log: %v", name, said.Load(), err)
		}
	}
}

// TestAwaited: an unavailable API server is awaited indefinitely, with a log line every 30 s, and the end of the
// process ends the wait at once.
func TestAwaited(t *testing.T) {
	way := testenv.NewProxy(t, testenv.Config(t))
	way.Cut()
	ctx, stop := context.WithCancel(t.Context())
	var said atomic.Int32
	ended := make(chan error, 1)
	go func() { ended <- await(ctx, way.Config(testenv.Config(t)), &said) }()
	for said.Load() < 3 {
		select {
		case err := <-ended:
			t.Fatalf("it does not wait: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the end of the process: %v", err)
	}
	go func() { ended <- await(t.Context(), way.Config(testenv.Config(t)), &said) }()
	way.Restore(t)
	if err := <-ended; err != nil {
		t.Errorf("an API server that is back: %v", err)
	}
}
