// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// probe starts the probes of a container whose process runs, until ctx ends.
func (c *container) probe(ctx context.Context) *sync.WaitGroup {
	running := &sync.WaitGroup{}
	c.set(func() { c.started, c.ready = true, c.spec.ReadinessProbe == nil })
	if probe := c.spec.ReadinessProbe; probe != nil {
		running.Go(func() { c.repeat(ctx, "Readiness", probe, func(err error) { c.set(func() { c.ready = err == nil }) }) })
	}
	if probe := c.spec.LivenessProbe; probe != nil {
		running.Go(func() {
			c.repeat(ctx, "Liveness", probe, func(err error) {
				if err != nil {
					c.restart(fmt.Sprintf("failed its liveness probe: %v", err))
				}
			})
		})
	}
	return running
}

// repeat repeats a probe until ctx ends. It calls decided for each change: when the probe has succeeded or failed as
// many times in a row as its threshold requires.
func (c *container) repeat(ctx context.Context, name string, probe *corev1.Probe, decided func(error)) {
	if !sleep(ctx, time.Now().Add(time.Duration(probe.InitialDelaySeconds)*time.Second), nil) {
		return
	}
	ticker := time.NewTicker(time.Duration(max(probe.PeriodSeconds, 1)) * time.Second)
	defer ticker.Stop()
	var successes, failures int32
	for {
		err := c.ask(ctx, probe)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			successes, failures = successes+1, 0
		} else {
			successes, failures = 0, failures+1
			c.pod.node.warn(c.pod.current(), "Unhealthy", fmt.Sprintf("%s probe of container %s failed: %v", name, c.name, err))
		}
		if successes == max(probe.SuccessThreshold, 1) || failures == max(probe.FailureThreshold, 1) {
			decided(err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// probed returns the address of a probe.
func (c *container) probed(get *corev1.HTTPGetAction) (string, error) {
	number := get.Port.IntValue()
	if get.Port.Type == intstr.String {
		number = 0
		for _, named := range c.spec.Ports {
			if named.Name == get.Port.StrVal {
				number = int(named.ContainerPort)
			}
		}
	}
	if number <= 0 {
		return "", fmt.Errorf("container %s has no port %q", c.name, get.Port.String())
	}
	return net.JoinHostPort(cmp.Or(get.Host, c.pod.address.Local), strconv.Itoa(number)), nil
}

// prober sends requests as kubelet does: over a new connection each time, and without verifying certificates.
var prober = &http.Client{Transport: &http.Transport{
	DisableKeepAlives: true,
	TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // Kubernetes says so.
}}

// ask executes a probe once.
func (c *container) ask(ctx context.Context, probe *corev1.Probe) (err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(max(probe.TimeoutSeconds, 1))*time.Second)
	defer cancel()
	get := probe.HTTPGet
	address, err := c.probed(get)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.ToLower(string(get.Scheme))+"://"+address+get.Path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "kube-probe/karmada-compute")
	for _, header := range get.HTTPHeaders {
		request.Header.Add(header.Name, header.Value)
	}
	response, err := prober.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusBadRequest {
		body, _ := io.ReadAll(io.LimitReader(response.Body, 1024)) // only the status counts
		return fmt.Errorf("HTTP probe failed with statuscode: %d; %s", response.StatusCode, body)
	}
	return nil
}
