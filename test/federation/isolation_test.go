// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

const isolated = "isolated"

// buildCommand builds the federation command.
func buildCommand(t *testing.T) string {
	t.Helper()
	repository, err := tools.FindRepository()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := tools.DefaultCache()
	if err != nil {
		t.Fatal(err)
	}
	builder := tools.Builder{Repository: repository, Cache: cache, Printf: t.Logf}
	built, err := builder.Own(t.Context(), ownCommand)
	if err != nil {
		t.Fatal(err)
	}
	return built["federation"]
}

// startIsolated runs a server in an isolation: a balancer that forwards
// connections to the address that it can reach.
func startIsolated(t *testing.T, command, reach string) (f *Federation, served string) {
	t.Helper()
	f, served = newFolder(t), freeAddress(t)
	isolation := &Isolation{
		Sockets: "agents", Reach: []string{reach}, Serve: []string{served},
		Command: []string{command, "balancer", "--listen=" + served, "--backend=" + reach},
	}
	err := f.StartProcess(t.Context(), Process{
		Name: isolated, Path: command, Args: isolation.args(false),
		Ready: func(ctx context.Context) error {
			_, err := ask(ctx, served)
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f, served
}

func TestIsolation(t *testing.T) {
	if err := NetworkNamespaces(); err != nil {
		t.Skip(err)
	}
	command := buildCommand(t)
	t.Run("reaches only the given address", func(t *testing.T) { testReach(t, command) })
	t.Run("ends with SIGTERM", func(t *testing.T) { testEnd(t, command, (*Federation).StopProcess) })
	t.Run("ends with SIGKILL", func(t *testing.T) { testEnd(t, command, (*Federation).KillProcess) })
}

func testReach(t *testing.T, command string) {
	near, far := serverAddress(backend(t, 1)), serverAddress(backend(t, 2))
	f, served := startIsolated(t, command, near)
	sockets := filepath.Join(f.folder, "agents")
	// The request goes into the isolation, and from there to a server outside.
	if answer, err := ask(t.Context(), served); answer != "1" || err != nil {
		t.Errorf("through the isolation the answer is %q, error %v", answer, err)
	}
	for address, want := range map[string]bool{near: true, far: false, "192.0.2.1:80": false} {
		if got, err := probe(t.Context(), sockets, address); got != want || err != nil {
			t.Errorf("inside %s is reached: %t, want %t; error %v", address, got, want, err)
		}
	}
	if answer, err := ask(t.Context(), far); answer != "2" || err != nil {
		t.Errorf("the address that is unreachable inside must answer outside, got %q, error %v", answer, err)
	}
	if _, err := probe(t.Context(), sockets, "no address"); err == nil {
		t.Error("a probe of an invalid address returned no error")
	}
}

func testEnd(t *testing.T, command string, end func(*Federation, string) error) {
	f, _ := startIsolated(t, command, serverAddress(backend(t, 1)))
	rec, err := f.record(isolated)
	if err != nil {
		t.Fatal(err)
	}
	inside := descendants(t, rec.PID)
	if len(inside) != 2 {
		t.Fatalf("processes inside are %v, want the forwarder and the command", inside)
	}
	if err := end(f, isolated); err != nil {
		t.Fatal(err)
	}
	gone := func(context.Context) error {
		if slices.ContainsFunc(inside, record.alive) {
			return errors.New("a process inside is still running")
		}
		return nil
	}
	if err := waitReady(t.Context(), Process{Ready: gone}, &exit{done: make(chan struct{})}); err != nil {
		t.Error(err)
	}
}

func serverAddress(server *httptest.Server) string { return strings.TrimPrefix(server.URL, "http://") }

// descendants returns the child processes of a process, and their descendants.
func descendants(t *testing.T, pid int) []record {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	var found []record
	for _, list := range lists {
		content, err := os.ReadFile(list)
		if errors.Is(err, os.ErrNotExist) {
			continue // the thread has ended
		}
		if err != nil {
			t.Fatal(err)
		}
		for field := range strings.FieldsSeq(string(content)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			started, _, err := processStat(child)
			if err != nil {
				t.Fatal(err)
			}
			found = append(append(found, record{PID: child, StartTime: started}), descendants(t, child)...)
		}
	}
	return found
}
