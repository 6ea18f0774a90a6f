// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// maxGrace is the longest time that an Instance may take to stop, in seconds: a rollout, a drained node and a deletion
	// wait for it.
	maxGrace = 600
	// defaultGrace is the default of Kubernetes.
	defaultGrace = 30
	// maxProbeSeconds and maxThreshold are beyond any sensible probe.
	maxProbeSeconds, maxThreshold = 3600, 1000
	// maxCommand and maxCommandBytes bound the command of a probe, which a node runs every few seconds.
	maxCommand, maxCommandBytes = 64, 16 << 10
)

// probes validates the probes and the lifecycle of a container.
func (p *problems) probes(at place, container *v1alpha.SandboxContainer, grace *int64) {
	p.probe(at.child("readinessProbe"), container.ReadinessProbe, container)
	p.probe(at.child("livenessProbe"), container.LivenessProbe, container)
	p.probe(at.child("startupProbe"), container.StartupProbe, container)
	if probe := container.ReadinessProbe; probe != nil && probe.TerminationGracePeriodSeconds != nil {
		p.forbidden(at.child("readinessProbe", "terminationGracePeriodSeconds"), *probe.TerminationGracePeriodSeconds,
			"a readiness probe stops nothing; set it in livenessProbe or startupProbe")
	}
	p.stopping(at.child("livenessProbe"), container.LivenessProbe)
	p.stopping(at.child("startupProbe"), container.StartupProbe)
	p.lifecycle(at.child("lifecycle"), container, ptr.Deref(grace, defaultGrace))
}

// stopping validates the fields specific to probes whose failure stops a container.
func (p *problems) stopping(at place, probe *corev1.Probe) {
	if probe == nil {
		return
	}
	if probe.SuccessThreshold > 1 {
		p.invalid(at.child("successThreshold"), probe.SuccessThreshold, "must be 1")
	}
	bounded(p, at.child("terminationGracePeriodSeconds"), probe.TerminationGracePeriodSeconds, 1, maxGrace)
}

// probe validates one probe. A number of 0 stands for the default, as in a Pod.
func (p *problems) probe(at place, probe *corev1.Probe, container *v1alpha.SandboxContainer) {
	if probe == nil {
		return
	}
	bounded(p, at.child("initialDelaySeconds"), &probe.InitialDelaySeconds, 0, maxProbeSeconds)
	bounded(p, at.child("timeoutSeconds"), &probe.TimeoutSeconds, 0, maxProbeSeconds)
	bounded(p, at.child("periodSeconds"), &probe.PeriodSeconds, 0, maxProbeSeconds)
	bounded(p, at.child("successThreshold"), &probe.SuccessThreshold, 0, maxThreshold)
	bounded(p, at.child("failureThreshold"), &probe.FailureThreshold, 0, maxThreshold)
	const one = "must have exactly one of exec, httpGet, tcpSocket and grpc"
	set := 0
	if probe.Exec != nil {
		set++
		p.exec(at.child("exec"), probe.Exec)
	}
	if probe.HTTPGet != nil {
		set++
		p.httpGet(at.child("httpGet"), probe.HTTPGet, container)
	}
	if probe.TCPSocket != nil {
		set++
		p.probePort(at.child("tcpSocket", "port"), probe.TCPSocket.Port, container)
		p.noHost(at.child("tcpSocket", "host"), probe.TCPSocket.Host)
	}
	if probe.GRPC != nil {
		set++
		p.probePort(at.child("grpc", "port"), intstr.FromInt32(probe.GRPC.Port), container)
		p.text(at.child("grpc", "service"), ptr.Deref(probe.GRPC.Service, ""))
	}
	switch {
	case set == 0:
		p.required(at, one)
	case set > 1:
		p.forbidden(at, set, one)
	}
}

// fieldsPage ends the problems of fields that a Pod may have otherwise.
const fieldsPage = "; docs/reference/template-fields.md has the differences to a Pod"

// bounded requires a number from least to most, if there is one, where a Pod has no such bound.
func bounded[T int32 | int64](p *problems, at place, value *T, least, limit T) {
	if value != nil && (*value < least || *value > limit) {
		p.invalid(at, *value, validation.InclusiveRangeError(int(least), int(limit))+fieldsPage)
	}
}

// within requires a number from least to most, if there is one.
func within[T int32 | int64](p *problems, at place, value *T, least, limit T) {
	if value != nil && (*value < least || *value > limit) {
		p.invalid(at, *value, validation.InclusiveRangeError(int(least), int(limit)))
	}
}

func (p *problems) exec(at place, action *corev1.ExecAction) {
	at = at.child("command")
	if len(action.Command) == 0 {
		p.required(at, "must have a command, such as [\"cat\", \"/ready\"]; no shell runs it")
		return
	}
	bytes := 0
	for _, argument := range action.Command {
		bytes += len(argument)
	}
	if len(action.Command) > maxCommand || bytes > maxCommandBytes {
		p.invalid(at, len(action.Command), fmt.Sprintf("has %d items of %d bytes together, and may have %d of %d; put a script into the image"+
			fieldsPage,
			len(action.Command), bytes, maxCommand, maxCommandBytes))
	}
	p.arguments(at, action.Command)
}

func (p *problems) httpGet(at place, action *corev1.HTTPGetAction, container *v1alpha.SandboxContainer) {
	p.probePort(at.child("port"), action.Port, container)
	p.noHost(at.child("host"), action.Host)
	p.text(at.child("path"), action.Path)
	switch action.Scheme {
	case "", corev1.URISchemeHTTP, corev1.URISchemeHTTPS:
	default:
		p.unsupported(at.child("scheme"), string(action.Scheme), string(corev1.URISchemeHTTP), string(corev1.URISchemeHTTPS))
	}
	for i, header := range action.HTTPHeaders {
		item := at.child("httpHeaders").item(i, header.Name)
		p.messages(item.child("name"), header.Name, validation.IsHTTPHeaderName(header.Name))
		p.text(item.child("value"), header.Value)
	}
}

// noHost refuses another host than the Instance: the node would send requests there on behalf of a consumer.
func (p *problems) noHost(at place, host string) {
	if host != "" {
		p.forbidden(at, host, "a node probes the Instance itself only; for a virtual host set the header Host in httpHeaders"+fieldsPage)
	}
}

// probePort requires a number, or the name of a port of the container.
func (p *problems) probePort(at place, port intstr.IntOrString, container *v1alpha.SandboxContainer) {
	if port.Type == intstr.Int {
		p.messages(at, port.String(), validation.IsValidPortNum(port.IntValue()))
		return
	}
	for i := range container.Ports {
		if container.Ports[i].Name != port.StrVal {
			continue
		}
		if messages := validation.IsValidPortName(port.StrVal); len(messages) > 0 {
			// Stored templates may have a longer name, which a Pod leaves out.
			p.invalid(at, port.StrVal, messages[0])
		}
		return
	}
	p.notFound(at, port.StrVal)
}

func (p *problems) lifecycle(at place, container *v1alpha.SandboxContainer, grace int64) {
	if container.Lifecycle == nil {
		return
	}
	if signal := container.Lifecycle.StopSignal; signal != nil {
		p.forbidden(at.child("stopSignal"), *signal, "not every cell supports it; set STOPSIGNAL in the image, or use preStop"+fieldsPage)
	}
	p.handler(at.child("postStart"), container.Lifecycle.PostStart, container, grace)
	p.handler(at.child("preStop"), container.Lifecycle.PreStop, container, grace)
}

func (p *problems) handler(at place, handler *corev1.LifecycleHandler, container *v1alpha.SandboxContainer, grace int64) {
	if handler == nil {
		return
	}
	const one = "must have exactly one of exec, httpGet and sleep"
	set := 0
	if handler.Exec != nil {
		set++
		p.exec(at.child("exec"), handler.Exec)
	}
	if handler.HTTPGet != nil {
		set++
		p.httpGet(at.child("httpGet"), handler.HTTPGet, container)
	}
	if handler.Sleep != nil {
		set++
		if seconds := handler.Sleep.Seconds; seconds < 1 || seconds > grace {
			p.invalid(at.child("sleep", "seconds"), seconds,
				fmt.Sprintf("must be between 1 and %d, as terminationGracePeriodSeconds", grace))
		}
	}
	if handler.TCPSocket != nil {
		p.forbidden(at.child("tcpSocket"), "", "Kubernetes does not support it in lifecycle; use exec, httpGet or sleep")
	}
	switch {
	case set == 0 && handler.TCPSocket == nil:
		p.required(at, one)
	case set > 1:
		p.forbidden(at, set, one)
	}
}

// gracePeriod validates how long an Instance may take to stop.
func (p *problems) gracePeriod(at place, seconds *int64) {
	if seconds != nil && (*seconds < 0 || *seconds > maxGrace) {
		p.invalid(at, *seconds, validation.InclusiveRangeError(0, maxGrace)+": rollouts and drained nodes wait for it"+fieldsPage)
	}
}
