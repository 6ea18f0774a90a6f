// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/karmada-compute/karmada-compute/hub/sessions"
	"github.com/karmada-compute/karmada-compute/webhook"
)

// TestSessionOptions: sessions need a credential of their own and an address only where they are turned on.
func TestSessionOptions(t *testing.T) {
	for name, c := range map[string]struct {
		gates     string
		arguments []string
		want      []string
	}{
		"off":             {},
		"without a value": {gates: "InstanceLogs=true", want: []string{"--session-kubeconfig", "--session-url"}},
		"on":              {gates: "InstanceExec=true", arguments: []string{"--session-kubeconfig=a", "--session-url=https://a.example:9444"}},
		"apart": {
			gates: "InstanceExec=true", arguments: []string{
				"--session-kubeconfig=a", "--session-url=https://a.example:9444", "--session-streams=only",
			},
		},
		"apart, but off": {arguments: []string{"--session-streams=only"}, want: []string{"--session-streams"}},
		"nowhere":        {arguments: []string{"--session-streams=nowhere"}, want: []string{"--session-streams"}},
		"no HTTPS": {
			gates: "InstanceExec=true", arguments: []string{"--session-kubeconfig=a", "--session-url=http://a.example"},
			want: []string{"--session-url"},
		},
		"bounds": {
			arguments: []string{"--max-streams=0", "--max-user-sessions=0", "--max-project-sessions=-1", "--session-port=0"},
			want:      []string{"--max-streams", "--max-user-sessions", "--max-project-sessions", "--session-port"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var o sessionOptions
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			o.addFlags(flags)
			features := webhook.NewFeatureGate()
			if err := errors.Join(flags.Parse(c.arguments), features.Set(c.gates)); err != nil {
				t.Fatal(err)
			}
			found := slices.DeleteFunc(o.check(features), func(err error) bool { return err == nil })
			if len(found) != len(c.want) {
				t.Errorf("mistakes are %v, want %v", found, c.want)
			}
			for _, want := range c.want {
				if !strings.Contains(errors.Join(found...).Error(), want) {
					t.Errorf("%v lacks %s", found, want)
				}
			}
		})
	}
	if o := (sessionOptions{limits: sessions.Limits{PerUser: 1, PerProject: 1, Streams: 1}}); o.enabled(webhook.NewFeatureGate()) {
		t.Error("sessions are on by default")
	}
}

// TestWritersOfSessions: the process that carries streams may write the status of sessions, too.
func TestWritersOfSessions(t *testing.T) {
	a := newApp()
	a.users.known.Store(&[]string{"controllers"})
	a.users.own.Store(new("webhooks"))
	a.options.sessions.users = []string{"streams"}
	got, err := a.sessionWriters(t.Context())
	if err != nil || !slices.Equal(got, []string{"controllers", "webhooks", "streams"}) {
		t.Errorf("the writers are %v, %v", got, err)
	}
}
