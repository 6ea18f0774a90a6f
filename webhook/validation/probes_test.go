// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func TestProbes(t *testing.T) {
	const readiness, liveness = containerPath + "readinessProbe", containerPath + "livenessProbe"
	exec := corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"cat", "/ready"}}}
	http := func(change func(*corev1.HTTPGetAction)) corev1.ProbeHandler {
		action := &corev1.HTTPGetAction{Port: intstr.FromString("http"), Path: "/healthz"}
		change(action)
		return corev1.ProbeHandler{HTTPGet: action}
	}
	tcp := func(port intstr.IntOrString, host string) corev1.ProbeHandler {
		return corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port, Host: host}}
	}
	ready := func(probe corev1.Probe) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) { container(w).ReadinessProbe = &probe }
	}
	by := func(handler corev1.ProbeHandler) func(*v1alpha.Workload) {
		return ready(corev1.Probe{ProbeHandler: handler})
	}
	command := func(command ...string) func(*v1alpha.Workload) {
		return by(corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: command}})
	}
	both := func(probe corev1.Probe) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) { container(w).LivenessProbe, container(w).StartupProbe = &probe, &probe }
	}
	checkRules(t, []rule{
		{"exec", nil, by(exec), nil},
		{"http to a name", nil, by(http(func(*corev1.HTTPGetAction) {})), nil},
		{"http to a number", nil, by(http(func(a *corev1.HTTPGetAction) { a.Port = intstr.FromInt32(8080) })), nil},
		{"https with a header", nil, by(http(func(a *corev1.HTTPGetAction) {
			a.Scheme, a.HTTPHeaders = "HTTPS", []corev1.HTTPHeader{{Name: "Host", Value: "example.com"}}
		})), nil},
		{"tcp", nil, by(tcp(intstr.FromInt32(80), "")), nil},
		{"grpc", nil, by(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 80, Service: new("ready")}}), nil},
		{"nothing", nil, by(corev1.ProbeHandler{}), []string{readiness + " " + required}},
		{
			"two handlers", nil, by(corev1.ProbeHandler{Exec: exec.Exec, GRPC: &corev1.GRPCAction{Port: 80}}), []string{readiness + " " + forbidden},
		},
		{
			"a port that the container does not have", nil, by(tcp(intstr.FromString("admin"), "")),
			[]string{readiness + ".tcpSocket.port " + notFound},
		},
		{"port 0", nil, by(tcp(intstr.FromInt32(0), "")), []string{readiness + ".tcpSocket.port " + invalid}},
		{
			"grpc to port 65536", nil, by(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 65536}}), []string{readiness + ".grpc.port " + invalid},
		},
		{"a long name of a port", nil, func(w *v1alpha.Workload) {
			container(w).Ports[0].Name = "a-name-of-more-than-15"
			by(tcp(intstr.FromString("a-name-of-more-than-15"), ""))(w)
		}, []string{readiness + ".tcpSocket.port " + invalid, containerPath + "ports[0].name " + invalid}},
		{"another host by tcp", nil, by(tcp(intstr.FromInt32(80), "169.254.169.254")), []string{readiness + ".tcpSocket.host " + forbidden}},
		{
			"another host by http", nil, by(http(func(a *corev1.HTTPGetAction) { a.Host = "10.0.0.1" })),
			[]string{readiness + ".httpGet.host " + forbidden},
		},
		{
			"another scheme", nil, by(http(func(a *corev1.HTTPGetAction) { a.Scheme = "ftp" })),
			[]string{readiness + ".httpGet.scheme " + unsupported},
		},
		{"a wrong header", nil, by(http(func(a *corev1.HTTPGetAction) {
			a.HTTPHeaders = []corev1.HTTPHeader{{Name: "a b"}}
		})), []string{readiness + ".httpGet.httpHeaders[0].name " + invalid}},
		{"no command", nil, command(), []string{readiness + ".exec.command " + required}},
		{"a long list", nil, command(slices.Repeat([]string{"a"}, 65)...), []string{readiness + ".exec.command " + invalid}},
		{"a long script", nil, command("sh", "-c", strings.Repeat("a", 16<<10)), []string{readiness + ".exec.command " + invalid}},
		{"a NUL", nil, command("a\x00"), []string{readiness + ".exec.command[0] " + invalid}},
		{"negative numbers", nil, ready(corev1.Probe{
			ProbeHandler: exec, InitialDelaySeconds: -1, TimeoutSeconds: -1, PeriodSeconds: -1, SuccessThreshold: -1, FailureThreshold: -1,
		}), []string{
			readiness + ".initialDelaySeconds " + invalid, readiness + ".timeoutSeconds " + invalid, readiness + ".periodSeconds " + invalid,
			readiness + ".successThreshold " + invalid, readiness + ".failureThreshold " + invalid,
		}},
		{
			"a period of a day", nil, ready(corev1.Probe{ProbeHandler: exec, PeriodSeconds: 86400}),
			[]string{readiness + ".periodSeconds " + invalid},
		},
		{"readiness after two successes", nil, ready(corev1.Probe{ProbeHandler: exec, SuccessThreshold: 2}), nil},
		{"liveness after two successes", nil, both(corev1.Probe{ProbeHandler: exec, SuccessThreshold: 2}), []string{
			liveness + ".successThreshold " + invalid, containerPath + "startupProbe.successThreshold " + invalid,
		}},
		{"readiness with a grace period", nil, ready(corev1.Probe{ProbeHandler: exec, TerminationGracePeriodSeconds: new(int64(5))}), []string{
			readiness + ".terminationGracePeriodSeconds " + forbidden,
		}},
		{"liveness with a grace period", nil, both(corev1.Probe{ProbeHandler: exec, TerminationGracePeriodSeconds: new(int64(5))}), nil},
		{"liveness with a grace period of a day", nil, both(corev1.Probe{
			ProbeHandler: exec, TerminationGracePeriodSeconds: new(int64(86400)),
		}), []string{
			liveness + ".terminationGracePeriodSeconds " + invalid, containerPath + "startupProbe.terminationGracePeriodSeconds " + invalid,
		}},
	})
}

func TestLifecycle(t *testing.T) {
	const stop = containerPath + "lifecycle.preStop"
	before := func(handler corev1.LifecycleHandler) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) { container(w).Lifecycle = &corev1.Lifecycle{PreStop: &handler} }
	}
	sleep := func(seconds int64) func(*v1alpha.Workload) {
		return before(corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}})
	}
	grace := func(seconds int64) func(*v1alpha.Workload) {
		return func(w *v1alpha.Workload) {
			w.Spec.Template.Spec.Runtime.Sandbox.TerminationGracePeriodSeconds = &seconds
		}
	}
	tcp := &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}
	checkRules(t, []rule{
		{"exec", nil, before(corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"drain"}}}), nil},
		{"sleep", nil, sleep(30), nil},
		{"a sleep beyond the default grace period", nil, sleep(31), []string{stop + ".sleep.seconds " + invalid}},
		{"a sleep within a longer grace period", nil, func(w *v1alpha.Workload) { grace(60)(w); sleep(31)(w) }, nil},
		{"no sleep", nil, sleep(0), []string{stop + ".sleep.seconds " + invalid}},
		{"nothing", nil, before(corev1.LifecycleHandler{}), []string{stop + " " + required}},
		{"tcp", nil, before(corev1.LifecycleHandler{TCPSocket: tcp}), []string{stop + ".tcpSocket " + forbidden}},
		{"two", nil, before(corev1.LifecycleHandler{
			Sleep: &corev1.SleepAction{Seconds: 1}, Exec: &corev1.ExecAction{Command: []string{"a"}},
		}), []string{stop + " " + forbidden}},
		{"after the start", nil, func(w *v1alpha.Workload) {
			container(w).Lifecycle = &corev1.Lifecycle{
				PostStart: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("no")}},
			}
		}, []string{containerPath + "lifecycle.postStart.httpGet.port " + notFound}},
		{"a signal", nil, func(w *v1alpha.Workload) {
			container(w).Lifecycle = &corev1.Lifecycle{StopSignal: new(corev1.SIGUSR1)}
		}, []string{containerPath + "lifecycle.stopSignal " + forbidden}},
		{"no grace period", nil, grace(0), nil},
		{"the longest grace period", nil, grace(600), nil},
		{"a grace period of a day", nil, grace(86400), []string{sandboxPath + "terminationGracePeriodSeconds " + invalid}},
		{"a negative grace period", nil, grace(-1), []string{sandboxPath + "terminationGracePeriodSeconds " + invalid}},
	})
}

func TestProbeWarnings(t *testing.T) {
	w := sandbox()
	for port, want := range map[int]string{80: "", 8080: "containers[0].livenessProbe.tcpSocket.port: no container has port 8080"} {
		container(w).LivenessProbe = &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt(port)}},
		}
		if got := fmt.Sprint(Warnings(w)); !strings.Contains(got, want) || want == "" && strings.Contains(got, "livenessProbe") {
			t.Errorf("port %d: %s", port, got)
		}
	}
}
