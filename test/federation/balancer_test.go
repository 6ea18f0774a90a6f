// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// backend answers every request with its own number.
func backend(t *testing.T, number int) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, number)
	}))
	t.Cleanup(server.Close)
	return server
}

// freeAddress reserves a port for the length of the test.
func freeAddress(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	ports, err := reservePorts(folder, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := releasePorts(folder); err != nil {
			t.Error(err)
		}
	})
	return address(ports[0])
}

// ask sends one request over a new connection.
func ask(ctx context.Context, address string) (string, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address, nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func TestBalancer(t *testing.T) {
	servers := []*httptest.Server{backend(t, 0), backend(t, 1), backend(t, 2)}
	balancer := &Balancer{Listen: freeAddress(t), Log: slog.New(slog.DiscardHandler)}
	for _, server := range servers {
		balancer.Backends = append(balancer.Backends, strings.TrimPrefix(server.URL, "http://"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- balancer.Serve(ctx) }()
	answered := func(ctx context.Context) error {
		_, err := ask(ctx, balancer.Listen)
		return err
	}
	if err := waitReady(t.Context(), Process{Ready: answered}, &exit{done: make(chan struct{})}); err != nil {
		t.Fatal(err)
	}

	answers := func() []string {
		var answers []string
		for range 6 {
			answer, err := ask(t.Context(), balancer.Listen)
			if err != nil {
				t.Fatal(err)
			}
			answers = append(answers, answer)
		}
		slices.Sort(answers)
		return answers
	}
	if got, want := answers(), []string{"0", "0", "1", "1", "2", "2"}; !slices.Equal(got, want) {
		t.Errorf("answers %v, want %v", got, want)
	}
	servers[1].Close()
	if got := answers(); slices.Contains(got, "1") {
		t.Errorf("answers %v come from a dead backend", got)
	}

	open, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", balancer.Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Close() }()
	cancel()
	if err := <-served; err != nil {
		t.Errorf("the balancer ended with %v", err)
	}
	if _, err := open.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlives the balancer")
	}
}
