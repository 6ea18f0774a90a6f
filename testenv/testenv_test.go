// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/version"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

func TestServesOurKinds(t *testing.T) {
	scheme := testenv.Scheme(t, v1alpha.AddToScheme)
	c, err := client.New(testenv.Config(t), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	var workloads v1alpha.WorkloadList
	if err := c.List(t.Context(), &workloads, client.InNamespace(testenv.Namespace(t, c, "kinds").Name)); err != nil {
		t.Error(err)
	}
}

// TestServersKnowTheirVersion: the agent of a cell leaves out of Pods what its API server is too old for.
func TestServersKnowTheirVersion(t *testing.T) {
	reader, err := discovery.NewDiscoveryClientForConfig(testenv.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	served, err := reader.ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if want := "v" + version.DefaultKubeBinaryVersion + "."; !strings.HasPrefix(served.GitVersion, want) {
		t.Errorf("the kube-apiserver has version %s, want %s", served.GitVersion, want)
	}
}

// TestServersOutliveThreads verifies that servers keep running when threads of the test binary end, for example when a
// goroutine returns that has locked its thread: the kernel ends a process with the thread that started it.
func TestServersOutliveThreads(t *testing.T) {
	host := testenv.Config(t).Host
	var locked, ended sync.WaitGroup
	leave := make(chan struct{})
	// More than the runtime had idle, so that each idle thread is taken.
	for range 200 {
		locked.Add(1)
		ended.Go(func() {
			runtime.LockOSThread()
			locked.Done()
			<-leave
		})
	}
	locked.Wait()
	close(leave)
	ended.Wait()
	// A killed server may answer for a moment.
	for range 20 {
		if err := answers(t.Context(), host); err != nil {
			t.Fatalf("the kube-apiserver of the tests does not answer any more: %v", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	c, err := client.New(testenv.Config(t), client.Options{Scheme: testenv.Scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	testenv.Namespace(t, c, "threads")
}

// doomedVariable is set in the environment of the process that the test kills.
const doomedVariable = "KARMADA_COMPUTE_TESTENV_DOOMED"

// TestServersEndWithTests verifies that killed tests leave no server behind.
func TestServersEndWithTests(t *testing.T) {
	if os.Getenv(doomedVariable) != "" {
		fmt.Println(testenv.Config(t).Host)
		<-t.Context().Done()
		return
	}
	doomed := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServersEndWithTests$", "-test.v=false")
	doomed.Env = append(os.Environ(), doomedVariable+"=yes")
	out, err := doomed.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := doomed.Start(); err != nil {
		t.Fatal(err)
	}
	var host string
	if _, err := fmt.Fscanln(bufio.NewReader(out), &host); err != nil {
		t.Fatal(err)
	}
	if err := answers(t.Context(), host); err != nil {
		t.Fatalf("the kube-apiserver of the tests does not answer: %v", err)
	}
	if err := doomed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = doomed.Wait() // it was killed
	for deadline := time.Now().Add(time.Minute); answers(t.Context(), host) == nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a minute after the tests were killed their kube-apiserver still answers")
		}
	}
}

// answers returns nil if a server sends any response.
func answers(ctx context.Context, host string) error {
	caller, err := rest.HTTPClientFor(&rest.Config{TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	if err != nil {
		return err
	}
	defer caller.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(host, "/")+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	response, err := caller.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
