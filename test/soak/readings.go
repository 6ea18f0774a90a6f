// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/federation"
)

// Metrics that are read from each process of the add-on. They come from Go's and from Prometheus' collectors.
const (
	memoryMetric    = "process_resident_memory_bytes"
	goroutineMetric = "go_goroutines"
	startMetric     = "process_start_time_seconds"
)

// Usage holds the resources that a process uses.
type Usage struct {
	// Memory is the resident memory in bytes.
	Memory float64
	// Goroutines is the number of goroutines.
	Goroutines float64
	// Started is the start time of the process, in seconds since 1970. It changes when a killed process is restarted.
	Started float64
}

// Reading holds the usage of the add-on's processes at a time, and the writes since the previous reading.
type Reading struct {
	// At is the time since the start.
	At time.Duration
	// Workloads is the number of Workloads.
	Workloads int
	// Processes by name: "replica/<number>" and "agent/<cell>". A process that did not answer is missing.
	Processes map[string]Usage
	// Writes per second, by plane, of all users.
	Writes map[string]float64
}

// String returns the reading in one line.
func (r *Reading) String() string {
	parts := []string{fmt.Sprintf("%d Workloads", r.Workloads)}
	for _, name := range slices.Sorted(maps.Keys(r.Processes)) {
		usage := r.Processes[name]
		parts = append(parts, fmt.Sprintf("%s %.0f MiB %.0f goroutines", name, usage.Memory/(1<<20), usage.Goroutines))
	}
	for _, plane := range slices.Sorted(maps.Keys(r.Writes)) {
		parts = append(parts, fmt.Sprintf("%s %.1f writes/s", plane, r.Writes[plane]))
	}
	return strings.Join(parts, ", ")
}

// read takes readings until ctx ends.
func (s *Soak) read(ctx context.Context) {
	since := s.Clock.Now()
	for sleepUntil(ctx, s.Clock, since.Add(s.Readings)) {
		now := s.Clock.Now()
		reading := Reading{At: now.Sub(s.begin), Workloads: s.consumer.count(), Processes: map[string]Usage{}, Writes: map[string]float64{}}
		for name, address := range s.endpoints(ctx) {
			// A killed process does not answer; the next reading has it again.
			if usage, err := s.usage(ctx, address); err == nil {
				reading.Processes[name] = usage
			}
		}
		for _, plane := range s.planes() {
			if writes, err := s.Federation.Writes(plane, since); err == nil {
				reading.Writes[plane] = float64(len(writes)) / now.Sub(since).Seconds()
			}
		}
		since = now
		s.printf("%s", reading.String())
		s.mu.Lock()
		s.readings = append(s.readings, reading)
		s.mu.Unlock()
	}
}

// planes returns the planes whose writes are counted.
func (s *Soak) planes() []string {
	planes := []string{"hub"}
	for _, project := range s.Projects {
		planes = append(planes, "project/"+project)
	}
	for _, cell := range s.Federation.Cells() {
		planes = append(planes, "cell/"+cell.Name)
	}
	return planes
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
		admin, err := s.Federation.Config(hubPlane, federation.Admin) // the certificate is the same on every plane, and every federation has a hub
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
	for name, into := range map[string]*float64{memoryMetric: &usage.Memory, goroutineMetric: &usage.Goroutines, startMetric: &usage.Started} {
		for _, metric := range families[name].GetMetric() {
			*into += metric.GetGauge().GetValue() + metric.GetUntyped().GetValue()
		}
		if *into == 0 {
			return Usage{}, fmt.Errorf("there is no metric %s", name)
		}
	}
	return usage, nil
}
