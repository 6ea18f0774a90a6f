// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"k8s.io/client-go/rest"
)

// cut ends a run at one request that changes something. The API server executes it, and its answer is lost.
type cut struct {
	// left is how many changes are executed and answered before.
	left int
	end  context.CancelFunc
	// last is the request whose answer is lost.
	last string
}

// cutting is a transport with a cut.
type cutting struct {
	next http.RoundTripper
	*cut
}

// RoundTrip implements http.RoundTripper.
func (c cutting) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet {
		return c.next.RoundTrip(request)
	}
	if c.last != "" {
		return nil, errors.New("the command has ended")
	}
	response, err := c.next.RoundTrip(request)
	if c.left--; c.left >= 0 || err != nil {
		return response, err
	}
	c.last = request.Method + " " + request.URL.Path
	c.end()
	return nil, errors.Join(context.Canceled, response.Body.Close())
}

// cutPlanes connects to all planes, with one cut.
func (s *site) cutPlanes(o *options) (*cut, *session) {
	s.t.Helper()
	shared := &cut{}
	run, err := o.connect()
	if err != nil {
		s.t.Fatal(err)
	}
	run.out = io.Discard
	for _, at := range []**plane{&run.host, &run.hub, &run.milo} {
		if *at == nil {
			continue
		}
		config := rest.CopyConfig((*at).config)
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return cutting{next, shared} })
		if *at, err = planeOf((*at).name, config); err != nil {
			s.t.Fatal(err)
		}
	}
	return shared, run
}

// disableCutAt runs disable, and ends it after a number of changes.
func (s *site) disableCutAt(shared *cut, connected *session, changes int) error {
	ctx, end := context.WithCancel(s.t.Context())
	defer end()
	*shared = cut{left: changes, end: end}
	run := *connected
	return s.run(ctx, &run)
}

// disableCut runs disable again and again, each time up to two changes later, and returns how often it was interrupted.
func (s *site) disableCut(o *options, first int) (times int) {
	s.t.Helper()
	shared, connected := s.cutPlanes(o)
	for ; ; times++ {
		err := s.disableCutAt(shared, connected, first+2*times)
		switch {
		case shared.last == "" && err != nil:
			s.t.Fatalf("after %d interruptions: %v", times, err)
		case shared.last == "":
			return times
		case !errors.Is(err, context.Canceled):
			s.t.Fatalf("interrupted at %s: %v", shared.last, err)
		}
	}
}

// disabling is a way to disable an addon: with its Workloads or without, and for Milo with the credentials that the host stores.
type disabling struct {
	withMilo, stored bool
	workloads        string
	// first is the number of changes before the first interruption.
	first int
}

// TestDisableInterruptedAtEachChange: a command that has lost the answer to one change, then to a later one and so on
// ends when it is run again, and leaves no more than one that was never interrupted.
func TestDisableInterruptedAtEachChange(t *testing.T) {
	for name, test := range map[string]disabling{
		"with Milo":              {true, false, workloadsDelete, 0},
		"without Milo, and kept": {false, false, workloadsKeep, 1},
	} {
		t.Run(name, func(t *testing.T) { interruptAtEachChange(t, test) })
	}
}

// TestLongDisableInterruptedAtEachChange has the other ways. With them each change is lost in one of the cases.
func TestLongDisableInterruptedAtEachChange(t *testing.T) {
	for name, test := range map[string]disabling{
		"with the stored credentials":           {true, true, workloadsDelete, 1},
		"with the stored credentials, and kept": {true, true, workloadsKeep, 0},
		"without Milo":                          {false, false, workloadsDelete, 0},
	} {
		t.Run(name, func(t *testing.T) { interruptAtEachChange(t, test) })
	}
}

func interruptAtEachChange(t *testing.T, test disabling) {
	t.Helper()
	s := newSite(t)
	o := s.options()
	values := map[string]any{}
	if !test.withMilo {
		o.miloKubeconfig, values = "", nested([]string{"projects", "mode"}, modeNamespaces)
	}
	if err := s.enable(t.Context(), o, values); err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	known := s.inventory()
	if o.workloads = test.workloads; test.stored {
		o.miloKubeconfig = ""
	}
	if times := s.disableCut(o, test.first); times < 5 {
		t.Errorf("it was interrupted only %d times", times)
	}
	if test.workloads == workloadsKeep {
		if left := s.left(inventory{onHost: known[onHost]}); len(left) > 0 {
			t.Errorf("left at the host: %v", left)
		}
		o.workloads = workloadsRefuse
		if test.withMilo {
			o.miloKubeconfig = s.kube // The kinds at Milo are left.
		}
		if err := s.disable(t.Context(), o); err != nil {
			t.Fatalf("when nothing is kept any more: %v", err)
		}
	}
	if left := append(s.left(known), s.registered()...); len(left) > 0 || s.inventory() != nil {
		t.Errorf("left: %v", left)
	}
}
