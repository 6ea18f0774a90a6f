// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

const sessionKey = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
`

func session(change func(*v1alpha.InstanceSessionSpec)) *v1alpha.InstanceSession {
	s := &v1alpha.InstanceSession{Spec: v1alpha.InstanceSessionSpec{
		Type: v1alpha.SessionExec, InstanceRef: v1alpha.SessionInstanceReference{Name: "web-main-dfw-0", UID: "uid"},
		Command: []string{"sh"}, PublicKey: sessionKey, TTLSeconds: 900,
	}}
	change(&s.Spec)
	return s
}

func TestSession(t *testing.T) {
	logs := func(options v1alpha.SessionLogOptions) func(*v1alpha.InstanceSessionSpec) {
		return func(s *v1alpha.InstanceSessionSpec) {
			s.Type, s.Command, s.Logs = v1alpha.SessionLogs, nil, &options
		}
	}
	for name, c := range map[string]struct {
		change func(*v1alpha.InstanceSessionSpec)
		want   []string
	}{
		"a command":    {change: func(*v1alpha.InstanceSessionSpec) {}},
		"a shell":      {change: func(s *v1alpha.InstanceSessionSpec) { s.Stdin, s.TTY, s.ContainerName = true, true, "app" }},
		"logs":         {change: logs(v1alpha.SessionLogOptions{Follow: true, SinceSeconds: new(int64(5))})},
		"another type": {func(s *v1alpha.InstanceSessionSpec) { s.Type, s.Command = "Proxy", nil }, []string{"spec.type"}},
		"no Instance": {
			func(s *v1alpha.InstanceSessionSpec) { s.InstanceRef.Name, s.InstanceRef.UID = "", "" },
			[]string{"spec.instanceRef.name", "spec.instanceRef.uid"},
		},
		"a path as a name":    {func(s *v1alpha.InstanceSessionSpec) { s.InstanceRef.Name = "../secrets" }, []string{"spec.instanceRef.name"}},
		"a path as container": {func(s *v1alpha.InstanceSessionSpec) { s.ContainerName = "a/b" }, []string{"spec.containerName"}},
		"no key":              {func(s *v1alpha.InstanceSessionSpec) { s.PublicKey = "" }, []string{"spec.publicKey"}},
		"too short":           {func(s *v1alpha.InstanceSessionSpec) { s.TTLSeconds = 59 }, []string{"spec.ttlSeconds"}},
		"too long":            {func(s *v1alpha.InstanceSessionSpec) { s.TTLSeconds = 3601 }, []string{"spec.ttlSeconds"}},
		"no command":          {func(s *v1alpha.InstanceSessionSpec) { s.Command = nil }, []string{"spec.command"}},
		"many arguments":      {func(s *v1alpha.InstanceSessionSpec) { s.Command = make([]string, 65) }, []string{"spec.command"}},
		"large arguments": {
			func(s *v1alpha.InstanceSessionSpec) { s.Command = []string{"sh", strings.Repeat("a", 16<<10)} }, []string{"spec.command"},
		},
		"logs with a command": {func(s *v1alpha.InstanceSessionSpec) { s.Type = v1alpha.SessionLogs }, []string{"spec.command"}},
		"logs with a terminal": {
			func(s *v1alpha.InstanceSessionSpec) {
				s.Type, s.Command, s.TTY, s.Stdin = v1alpha.SessionLogs, nil, true, true
			}, []string{"spec.stdin", "spec.tty"},
		},
		"ports": {change: func(s *v1alpha.InstanceSessionSpec) {
			s.Type, s.Command, s.Ports = v1alpha.SessionPortForward, nil, []int32{1, 65535}
		}},
		"no ports": {func(s *v1alpha.InstanceSessionSpec) { s.Type, s.Command = v1alpha.SessionPortForward, nil }, []string{"spec.ports"}},
		"ports that are none": {
			func(s *v1alpha.InstanceSessionSpec) {
				s.Type, s.Command, s.Ports = v1alpha.SessionPortForward, nil, []int32{0, 65536, 80}
			}, []string{"spec.ports[0]", "spec.ports[1]"},
		},
		"many ports": {
			func(s *v1alpha.InstanceSessionSpec) {
				s.Type, s.Command, s.Ports = v1alpha.SessionPortForward, nil, make([]int32, 17)
			}, []string{"spec.ports"},
		},
		"a command with ports": {func(s *v1alpha.InstanceSessionSpec) { s.Ports = []int32{80} }, []string{"spec.ports"}},
		"two times": {
			logs(v1alpha.SessionLogOptions{SinceSeconds: new(int64(5)), SinceTime: &metav1.Time{}}), []string{"spec.logs.sinceTime"},
		},
		"a command with options of a log": {
			func(s *v1alpha.InstanceSessionSpec) { s.Logs = &v1alpha.SessionLogOptions{} }, []string{"spec.logs"},
		},
	} {
		var got []string
		for _, problem := range validation.Session(session(c.change)) {
			got = append(got, problem.Field)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: problems of %v, want %v", name, got, c.want)
		}
	}
}
