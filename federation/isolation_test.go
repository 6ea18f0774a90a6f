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
)

const isolated = "isolated"

// buildCommand builds the federation command, once for several tests.
func buildCommand(t *testing.T) string {
	t.Helper()
	repository, err := findRepository()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := buildOwn(t.Context(), repository, folder, "./cmd/federation"); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, "federation")
}

// startIsolated runs a server in an isolation: a balancer that passes what it
// is asked on to the address that it reaches.
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
	t.Run("reaches what it may", func(t *testing.T) { testReach(t, command) })
	t.Run("ends with SIGTERM", func(t *testing.T) { testEnd(t, command, (*Federation).StopProcess) })
	t.Run("ends with SIGKILL", func(t *testing.T) { testEnd(t, command, (*Federation).KillProcess) })
}

func testReach(t *testing.T, command string) {
	near, far := serverAddress(backend(t, 1)), serverAddress(backend(t, 2))
	f, served := startIsolated(t, command, near)
	sockets := filepath.Join(f.folder, "agents")
	// In and out again: from here to what runs inside, and from there to here.
	if answer, err := ask(t.Context(), served); answer != "1" || err != nil {
		t.Errorf("through the isolation the answer is %q, error %v", answer, err)
	}
	for address, want := range map[string]bool{near: true, far: false, "192.0.2.1:80": false} {
		if got, err := probe(t.Context(), sockets, address); got != want || err != nil {
			t.Errorf("inside %s is reached: %t, want %t; error %v", address, got, want, err)
		}
	}
	if answer, err := ask(t.Context(), far); answer != "2" || err != nil {
		t.Errorf("what cannot be reached inside must answer outside, it says %q, error %v", answer, err)
	}
	if _, err := probe(t.Context(), sockets, "no address"); err == nil {
		t.Error("a probe that cannot be made counts as an answer")
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
		t.Fatalf("%v run inside, want the forwarder and the command", inside)
	}
	if err := end(f, isolated); err != nil {
		t.Fatal(err)
	}
	gone := func(context.Context) error {
		if slices.ContainsFunc(inside, record.alive) {
			return errors.New("something still runs inside")
		}
		return nil
	}
	if err := waitReady(t.Context(), Process{Ready: gone}, &exit{done: make(chan struct{})}); err != nil {
		t.Error(err)
	}
}

func serverAddress(server *httptest.Server) string { return strings.TrimPrefix(server.URL, "http://") }

// descendants are the processes that a process started, and those that they
// did.
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
