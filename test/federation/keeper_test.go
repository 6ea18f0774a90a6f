// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// keeperOwner is the environment variable with the federation's folder for the process that the test kills.
const keeperOwner = "FEDERATION_TEST_KEEPER_OWNER"

// TestKeeper verifies that a federation whose program is killed with SIGKILL leaves no process behind.
func TestKeeper(t *testing.T) {
	if folder := os.Getenv(keeperOwner); folder != "" {
		ownFederation(t, folder)
		return
	}
	f := newFolder(t)
	if err := os.MkdirAll(f.binFolder(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := copyBinary(buildCommand(t), f.ownBinary()); err != nil {
		t.Fatal(err)
	}
	if err := writeJSON(f.stateFile(), f.state); err != nil {
		t.Fatal(err)
	}
	owner := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKeeper$")
	owner.Env = append(os.Environ(), keeperOwner+"="+f.folder)
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "started\n" {
		t.Fatalf("the owner prints %q: %v", line, err)
	}
	if !running(f, "guest") {
		t.Fatal("the owner did not start its process")
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // it was killed
	deadline := time.Now().Add(time.Minute)
	for len(f.Status()) > 0 {
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(f.folder, "log", "keeper.log"))
			t.Fatalf("a minute after the program was killed its processes are %v; log of the keeper: %s", f.Status(), log)
		}
		time.Sleep(goneInterval)
	}
}

// ownFederation is the body of the program that the test kills. It starts a process that only the keeper stops.
func ownFederation(t *testing.T, folder string) {
	f, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.startKeeper(); err != nil {
		t.Fatal(err)
	}
	if err := f.StartProcess(t.Context(), shell("guest", "trap '' TERM; while :; do sleep 1; done")); err != nil {
		t.Fatal(err)
	}
	fmt.Println("started")
	<-t.Context().Done() // the test kills this process before
}
