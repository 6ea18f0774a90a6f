// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

// memory returns the resident memory of the processes by name, in bytes. Processes that cannot be read are left out.
func (s *stage) memory() map[string]int {
	used := map[string]int{}
	for name, pids := range s.pids() {
		for _, pid := range pids {
			process, err := procfs.NewProc(pid)
			if err != nil {
				continue
			}
			if stat, err := process.Stat(); err == nil {
				used[name] += stat.ResidentMemory()
			}
		}
	}
	return used
}

// directPlane is the project's kube-apiserver without Milo's router.
const directPlane = "project-plane/" + project

// requests returns the writes by plane since the federation began. All cells have one name.
func (b *scaleBench) requests(ctx context.Context) (map[string]int, error) {
	counts := map[string]int{}
	for _, at := range []string{directPlane, hubPlane} {
		count, err := b.writeRequests(ctx, at)
		if err != nil {
			return nil, err
		}
		counts[at] = count
	}
	for _, cell := range b.cells {
		count, err := b.writeRequests(ctx, "cell/"+cell.Name)
		if err != nil {
			return nil, err
		}
		counts["cells"] += count
	}
	return counts, nil
}

// writeRequests returns the number of writes that a kube-apiserver has answered, by its metrics.
func (s *stage) writeRequests(ctx context.Context, plane string) (count int, err error) {
	err = s.get(ctx, plane, "/metrics", func(body io.Reader) (err error) {
		count, err = countWrites(body)
		return err
	})
	return count, err
}

// get reads a path of a plane as its administrator.
func (s *stage) get(ctx context.Context, plane, path string, read func(io.Reader) error) (err error) {
	config, err := s.federation.Config(plane, federation.Admin)
	if err != nil {
		return err
	}
	caller, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	defer caller.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+path, http.NoBody)
	if err != nil {
		return err
	}
	response, err := caller.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s of %s: %s", path, plane, response.Status)
	}
	return read(response.Body)
}

// countWrites sums up the writes in the metrics of a kube-apiserver, without reviews and without resources that are
// written at rest, too.
func countWrites(metrics io.Reader) (int, error) {
	const metric = "apiserver_request_total{"
	sum := 0
	lines := bufio.NewScanner(metrics)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		labels, ok := strings.CutPrefix(line, metric)
		if !ok || !writes(labels) {
			continue
		}
		count, err := strconv.ParseFloat(line[strings.LastIndex(line, " ")+1:], 64)
		if err != nil {
			return 0, fmt.Errorf("read metric %q: %w", line, err)
		}
		sum += int(count)
	}
	return sum, lines.Err()
}

// writes reports whether the labels of a metric are of writes that count.
func writes(labels string) bool {
	has := func(name string, values ...string) bool {
		for _, value := range values {
			if strings.Contains(labels, name+`="`+value+`"`) {
				return true
			}
		}
		return false
	}
	return has("verb", "POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION") &&
		!has(",group", "coordination.k8s.io", "cluster.karmada.io", "authorization.k8s.io", "authentication.k8s.io") &&
		!has("resource", "nodes") && !has(",dry_run", "All")
}

// storedResources are the paths of the lists of what a plane stores for deployments.
var storedResources = map[string][]string{
	"hub": {
		"/apis/compute.datumapis.com/v1alpha/workloaddeployments", "/apis/compute.datumapis.com/v1alpha/instanceslices",
		"/apis/work.karmada.io/v1alpha2/resourcebindings", "/apis/work.karmada.io/v1alpha1/works",
	},
	"project": {
		"/apis/compute.datumapis.com/v1alpha/workloads", "/apis/compute.datumapis.com/v1alpha/workloaddeployments",
		"/apis/compute.datumapis.com/v1alpha/instances", "/apis/compute.datumapis.com/v1alpha/workloadrevisions",
	},
	"cells": {"/apis/compute.datumapis.com/v1alpha/workloaddeployments", "/apis/compute.datumapis.com/v1alpha/instances"},
}

// storedBytes returns the bytes of these resources in each plane, as JSON.
func (b *scaleBench) storedBytes(ctx context.Context) (map[string]int, error) {
	planes := map[string][]string{"hub": {hubPlane}, "project": {directPlane}}
	for _, cell := range b.cells {
		planes["cells"] = append(planes["cells"], "cell/"+cell.Name)
	}
	stored := map[string]int{}
	for name, servers := range planes {
		for _, server := range servers {
			for _, path := range storedResources[name] {
				size, err := b.listBytes(ctx, server, path)
				if err != nil {
					return nil, err
				}
				stored[name] += size
			}
		}
	}
	return stored, nil
}

// listBytes returns the bytes of all objects in a list.
func (b *scaleBench) listBytes(ctx context.Context, plane, path string) (int, error) {
	sum, next := 0, ""
	for {
		var page struct {
			Metadata struct{ Continue string }
			Items    []json.RawMessage
		}
		if err := b.get(ctx, plane, path+"?limit=500&continue="+next,
			func(body io.Reader) error { return json.NewDecoder(body).Decode(&page) }); err != nil {
			return 0, err
		}
		for _, item := range page.Items {
			sum += len(bytes.TrimSpace(item))
		}
		if next = page.Metadata.Continue; next == "" {
			return sum, nil
		}
	}
}
