// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

// Metrics that are read from each process of the add-on. They come from Prometheus' collectors.
const (
	memoryMetric = "process_resident_memory_bytes"
	startMetric  = "process_start_time_seconds"
)

// Usage holds the resources that a process uses.
type Usage struct {
	// Memory is the resident memory in bytes.
	Memory float64
	// Started is the start time of the process, in seconds since 1970. It changes when a killed process is restarted.
	Started float64
}

// endpoint is the address at which a process serves its metrics, with the token for reading them; without a token an
// administrator of Milo reads them.
type endpoint struct{ address, token string }

func (s *Soak) endpoints(ctx context.Context) map[string]endpoint {
	endpoints := map[string]endpoint{}
	for i := range s.AddOn.Replicas() {
		if address, err := s.AddOn.MetricsAddress(i); err == nil {
			endpoints[replicaPrefix+strconv.Itoa(i)] = endpoint{address: address}
		}
	}
	for _, cell := range s.Federation.Cells() {
		if token, address, err := s.AddOn.AgentMetrics(ctx, cell.Name); err == nil {
			endpoints[agentPrefix+cell.Name] = endpoint{address, token}
		}
	}
	return endpoints
}

func (s *Soak) usage(ctx context.Context, of endpoint) (usage Usage, err error) {
	// The certificate of the metrics is self-signed, and all processes are on one machine.
	config := &rest.Config{Host: of.address, BearerToken: of.token, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	if of.token == "" {
		// the certificate is the same on every plane, and every federation has a hub
		admin, err := s.Federation.Config(hubPlane, federation.Admin)
		if err != nil {
			return usage, err
		}
		config.CertData, config.KeyData = admin.CertData, admin.KeyData
	}
	caller, err := rest.HTTPClientFor(config)
	if err != nil {
		return usage, err
	}
	defer caller.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, superviseInterval)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+of.address+"/metrics", http.NoBody)
	if err != nil {
		return usage, err
	}
	response, err := caller.Do(request)
	if err != nil {
		return usage, fmt.Errorf("read metrics: %w", err)
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return usage, fmt.Errorf("read metrics of %s: %s", of.address, response.Status)
	}
	return parseUsage(response.Body)
}

// parseUsage reads the usage of a process from its metrics in Prometheus' text format. The error names missing metrics.
func parseUsage(metrics io.Reader) (Usage, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(metrics)
	if err != nil {
		return Usage{}, fmt.Errorf("read metrics: %w", err)
	}
	var usage Usage
	for name, into := range map[string]*float64{memoryMetric: &usage.Memory, startMetric: &usage.Started} {
		for _, metric := range families[name].GetMetric() {
			*into += metric.GetGauge().GetValue() + metric.GetUntyped().GetValue()
		}
		if *into == 0 {
			return Usage{}, fmt.Errorf("there is no metric %s", name)
		}
	}
	return usage, nil
}
