// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestPace(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(now)
	p := newPace(clock)
	web, other := types.NamespacedName{Namespace: "ns", Name: "web"}, types.NamespacedName{Namespace: "ns", Name: "other"}
	if rest := p.rest(web); rest > 0 {
		t.Errorf("the first write waits %s", rest)
	}
	p.wrote(web)
	clock.SetTime(now.Add(400 * time.Millisecond))
	if rest := p.rest(web); rest != 600*time.Millisecond {
		t.Errorf("the second write waits %s", rest)
	}
	if rest := p.rest(other); rest > 0 {
		t.Errorf("another deployment waits %s", rest)
	}
	clock.SetTime(now.Add(time.Second))
	if rest := p.rest(web); rest > 0 {
		t.Errorf("a second later a write waits %s", rest)
	}
	p.wrote(web)
	p.forget(web)
	if rest := p.rest(web); rest > 0 || len(p.last) != 0 {
		t.Errorf("a deployment that is gone is remembered: waits %s, %v", rest, p.last)
	}
}
