// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nameserver runs the DNS server of a zone for a test.
package nameserver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// Zone is zone example.com at a CoreDNS, which knows no other name.
type Zone struct {
	// Address is the HOST:PORT of the server.
	Address string
	file    string
	serial  int
}

// Start starts the server with records of the zone, until the test ends.
func Start(t *testing.T, records string) *Zone {
	t.Helper()
	z := &Zone{Address: testenv.FreeAddress(t), file: filepath.Join(t.TempDir(), "zone")}
	z.Write(t, records)
	repository, err := tools.FindRepository()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := tools.DefaultCache()
	if err != nil {
		t.Fatal(err)
	}
	built, err := (&tools.Builder{Repository: repository, Cache: cache, Printf: t.Logf}).Build(t.Context(), tools.CoreDNS)
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(z.Address)
	if err != nil {
		t.Fatal(err)
	}
	ready := testenv.FreeAddress(t)
	config := filepath.Join(t.TempDir(), "Corefile")
	content := fmt.Sprintf("example.com:%s {\n  bind %s\n  ready %s\n  errors\n  file %s {\n    reload 1s\n  }\n}\n",
		port, host, ready, z.file)
	if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.CommandContext(context.Background(), built[tools.CoreDNS], "-conf="+config) //nolint:gosec // the built one
	server.Stdout, server.Stderr = t.Output(), t.Output()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill() // Wait reports the end
		_ = server.Wait()         // it was killed
	})
	serves := func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+ready+"/ready", http.NoBody)
		if err != nil {
			return false, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, nil //nolint:nilerr // it does not listen yet
		}
		return response.StatusCode == http.StatusOK, response.Body.Close()
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, serves); err != nil {
		t.Fatal("CoreDNS is not ready: ", err)
	}
	return z
}

// Write replaces the records. The server notices within seconds.
func (z *Zone) Write(t *testing.T, records string) {
	t.Helper()
	z.serial++
	content := fmt.Sprintf("$ORIGIN example.com.\n$TTL 1\n@ SOA ns root %d 60 60 60 1\n@ NS ns\nns A 192.0.2.53\n%s\n", z.serial, records)
	// The server reads whole files alone.
	next := z.file + ".next"
	if err := os.WriteFile(next, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, z.file); err != nil {
		t.Fatal(err)
	}
}
