// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/karmada-compute/karmada-compute/webhook/rotation"
)

func TestOptionsAreChecked(t *testing.T) {
	valid := Options{Store: rotation.Store{Client: fake.NewFakeClient(), Secret: secretName}, Names: []string{host}}
	for name, change := range map[string]func(*Options){
		"no client":         func(o *Options) { o.Client = nil },
		"no Secret":         func(o *Options) { o.Secret.Name = "" },
		"no names":          func(o *Options) { o.Names = nil },
		"not a name":        func(o *Options) { o.Names = []string{"web hook"} },
		"negative":          func(o *Options) { o.Interval = -1 },
		"CA before leaf":    func(o *Options) { o.CALifetime, o.LeafLifetime = day, 2*day },
		"no room to rotate": func(o *Options) { o.CALifetime, o.LeafLifetime = time.Minute, time.Minute },
	} {
		options := valid
		change(&options)
		if _, err := New(options); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	a, err := New(valid)
	if err != nil {
		t.Fatal(err)
	}
	if o := a.options; o.CALifetime != 365*day || o.LeafLifetime != 7*day || o.Delay != 5*time.Minute || o.Interval != 10*time.Second {
		t.Errorf("defaults: %+v", o)
	}
	short := valid
	short.CALifetime = 3 * time.Hour
	if a, err := New(short); err != nil || a.options.LeafLifetime != time.Hour {
		t.Errorf("a short CA lifetime alone: %v", err)
	}
	if a.NeedLeaderElection() {
		t.Error("every replica must run it")
	}
	valid.Registerer = prometheus.NewRegistry()
	if _, err := New(valid); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("the metric of two authorities in one registry would be one's alone")
		}
	}()
	_, _ = New(valid) // it panics
}
