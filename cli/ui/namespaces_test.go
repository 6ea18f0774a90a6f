// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/page"
)

// TestBoardsAreBounded: pages show a bounded number of namespaces. A board without a page ends, unless it is the last one.
func TestBoardsAreBounded(t *testing.T) {
	nowhere := t.TempDir() + "/kubeconfig"
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig = &nowhere
	clock := clocktesting.NewFakePassiveClock(time.Unix(10_000, 0))
	b := newBoards(t.Context(), command.New(command.Options{Flags: flags, Clock: clock}), "")
	message := func(source page.Source) string {
		for {
			changed := source.Changed()
			if state := source.State(t.Context(), page.Query{}); state.Problem != nil {
				return state.Problem.Message
			}
			<-changed
		}
	}
	var leaves []func()
	for i := range mostBoards {
		source, leave := b.of(fmt.Sprint("shop-", i))
		leaves = append(leaves, leave)
		if got := message(source); strings.Contains(got, "maximum") {
			t.Errorf("%d: %s", i, got)
		}
	}
	if source, leave := b.of("another"); !strings.Contains(message(source), "close one of them") {
		t.Error("a further board has begun")
	} else {
		leave()
	}
	if again, leave := b.of("shop-0"); again != page.Source(b.open["shop-0"].board) {
		t.Error("a second page of a namespace has a board of its own")
	} else {
		leave()
	}
	for i, leave := range leaves {
		b.endIdle(fmt.Sprint("shop-", i))
		if len(b.open) != mostBoards-i {
			t.Errorf("%d boards with a page are left, want %d", len(b.open), mostBoards-i)
		}
		leave()
		b.endIdle(fmt.Sprint("shop-", i))
	}
	if len(b.open) != 1 {
		t.Errorf("%d boards are left", len(b.open))
	}
}

// TestAgeDecides: a state that was not confirmed for too long is not current, as after a machine has slept.
func TestAgeDecides(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(10_000, 0))
	b := newBoard(&command.Command{Options: command.Options{Clock: clock}}, "shop")
	b.publish(&connected{})
	b.states[page.Query{}], b.fresh[page.Query{}] = &page.State{Namespace: "shop", Loaded: true}, true
	if state := b.State(t.Context(), page.Query{}); state.Problem != nil {
		t.Errorf("got %+v", state.Problem)
	}
	clock.SetTime(clock.Now().Add(boardStale + time.Second))
	if state := b.State(t.Context(), page.Query{}); !state.Loaded || state.Problem == nil || !state.Problem.Since.Equal(time.Unix(10_000, 0)) {
		t.Errorf("got %+v", state)
	}
}
