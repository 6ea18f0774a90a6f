// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// probe starts the probes of a container whose process runs, until ctx ends. Readiness and liveness begin when startup has
// succeeded.
func (c *container) probe(ctx context.Context) *sync.WaitGroup {
	running := &sync.WaitGroup{}
	running.Go(func() {
		if c.spec.Load().StartupProbe != nil && !c.awaitStartup(ctx) {
			return
		}
		c.set(func() { c.started, c.ready = true, c.spec.Load().ReadinessProbe == nil })
		if probe := c.spec.Load().ReadinessProbe; probe != nil {
			running.Go(func() {
				c.repeat(ctx, "Readiness", probe, func(ok bool, _ error) bool {
					c.set(func() { c.ready = ok })
					return true
				})
			})
		}
		if probe := c.spec.Load().LivenessProbe; probe != nil {
			running.Go(func() { c.repeat(ctx, "Liveness", probe, c.restartUnless("liveness", probe)) })
		}
	})
	return running
}

// awaitStartup returns true when the startup probe has succeeded. If it fails, the process is restarted.
func (c *container) awaitStartup(ctx context.Context) bool {
	probe, succeeded := c.spec.Load().StartupProbe, false
	c.repeat(ctx, "Startup", probe, func(ok bool, err error) bool {
		succeeded = ok
		return c.restartUnless("startup", probe)(ok, err) && !ok
	})
	return succeeded
}

func (c *container) restartUnless(name string, probe *corev1.Probe) func(bool, error) bool {
	return func(ok bool, err error) bool {
		if !ok {
			c.restart(fmt.Sprintf("failed its %s probe: %v", name, err), probe.TerminationGracePeriodSeconds)
		}
		return ok
	}
}

// repeat repeats a probe until ctx ends or decided returns false. It calls decided for each change: when the probe has succeeded
// or failed as many times in a row as its threshold requires.
func (c *container) repeat(ctx context.Context, name string, probe *corev1.Probe, decided func(bool, error) bool) {
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
			if !decided(err == nil, err) {
				return
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// ask executes a probe once.
func (c *container) ask(ctx context.Context, probe *corev1.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(max(probe.TimeoutSeconds, 1))*time.Second)
	defer cancel()
	switch {
	case probe.HTTPGet != nil:
		return c.askHTTP(ctx, probe.HTTPGet)
	case probe.TCPSocket != nil:
		address, err := c.probed(probe.TCPSocket.Host, probe.TCPSocket.Port)
		if err != nil {
			return err
		}
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return connection.Close()
	}
	return errors.New("its type is not supported on this node")
}

// probed returns the address of a probe; the default host is the Pod's address.
func (c *container) probed(host string, port intstr.IntOrString) (string, error) {
	number := port.IntValue()
	if port.Type == intstr.String {
		number = 0
		for _, named := range c.spec.Load().Ports {
			if named.Name == port.StrVal {
				number = int(named.ContainerPort)
			}
		}
	}
	if number <= 0 {
		return "", fmt.Errorf("container %s has no port %q", c.name, port.String())
	}
	if host == "" {
		host = c.pod.address.Local
	}
	return net.JoinHostPort(host, strconv.Itoa(number)), nil
}

// prober sends requests as kubelet does: over a new connection each time, and without verifying certificates.
var prober = &http.Client{Transport: &http.Transport{
	DisableKeepAlives: true,
	TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // Kubernetes says so.
}}

func (c *container) askHTTP(ctx context.Context, get *corev1.HTTPGetAction) (err error) {
	address, err := c.probed(get.Host, get.Port)
	if err != nil {
		return err
	}
	scheme := "http"
	if get.Scheme == corev1.URISchemeHTTPS {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+address+get.Path, nil)
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
