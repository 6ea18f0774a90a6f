// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// prometheus is the process, its user on the hub, to which the add-on's values give the right to read metrics, and its
// ServiceAccount in the cells.
const prometheus = "prometheus"

// StartPrometheus starts a Prometheus that scrapes every replica and the agents of these cells each second, and
// evaluates the rules of a file. It returns its URL. There is one at a time: Federation.StopProcess stops it, by the
// name "prometheus".
func (a *AddOn) StartPrometheus(ctx context.Context, rules string, cells ...string) (url string, err error) {
	f := a.federation
	built, err := f.builder().Build(ctx, tools.Prometheus)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(f.folder, prometheus)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("create a folder for Prometheus: %w", err)
	}
	config, err := a.scrapes(ctx, folder, cells)
	if err != nil {
		return "", fmt.Errorf("configure Prometheus: %w", err)
	}
	config["global"] = map[string]any{"scrape_interval": "1s", "evaluation_interval": "1s"}
	config["rule_files"] = []string{rules}
	content, err := yaml.Marshal(config)
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "prometheus.yml")
	if err := writeFile(file, content); err != nil {
		return "", err
	}
	ports, err := reservePorts(f.folder, 1)
	if err != nil {
		return "", err
	}
	url = "http://" + address(ports[0])
	return url, f.StartProcess(ctx, Process{
		Name: prometheus, Path: built[tools.Prometheus],
		Args: []string{
			"--config.file=" + file, "--storage.tsdb.path=" + filepath.Join(folder, "data"),
			"--web.listen-address=" + address(ports[0]), "--log.level=warn",
		},
		Ready: httpReady(plainClient, url+"/-/ready"),
	})
}

// scrapes is the part of Prometheus' configuration about its targets. Prometheus identifies itself to the replicas with
// a client certificate, and to the agents, which ask their cells, with a token.
func (a *AddOn) scrapes(ctx context.Context, folder string, cells []string) (map[string]any, error) {
	as, err := a.federation.Config(planeHub, prometheus)
	if err != nil {
		return nil, err
	}
	certificate, key := filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	if err := errors.Join(writeFile(certificate, as.CertData), writeFile(key, as.KeyData)); err != nil {
		return nil, err
	}
	var replicas []string
	for i := range a.Replicas() {
		target, err := a.MetricsAddress(i)
		if err != nil {
			return nil, err
		}
		replicas = append(replicas, target)
	}
	jobs := []any{map[string]any{
		"job_name": "karmada-compute", "scheme": "https",
		"tls_config":     map[string]any{"cert_file": certificate, "key_file": key, "insecure_skip_verify": true},
		"static_configs": []any{map[string]any{"targets": replicas, "labels": map[string]any{"namespace": karmadaSystem}}},
	}}
	for _, cell := range cells {
		token, target, err := a.AgentMetrics(ctx, cell)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, map[string]any{
			"job_name": "karmada-compute-cell/" + cell, "scheme": "https",
			"tls_config":    map[string]any{"insecure_skip_verify": true},
			"authorization": map[string]any{"credentials": token},
			"static_configs": []any{
				map[string]any{"targets": []string{target}, "labels": map[string]any{"namespace": agentNamespace, "cell": cell}},
			},
		})
	}
	return map[string]any{"scrape_configs": jobs}, nil
}

// AgentMetrics returns the address at which the agent of a cell serves its metrics, and a token of a ServiceAccount
// that may read them.
func (a *AddOn) AgentMetrics(ctx context.Context, cell string) (token, target string, err error) {
	plane, err := a.federation.plane(planeCell + cell)
	if err != nil {
		return "", "", err
	}
	if err := plane.applyFile(ctx, "metrics-reader.yaml", map[string]string{"name": prometheus}); err != nil {
		return "", "", err
	}
	client, err := a.cell(cell)
	if err != nil {
		return "", "", err
	}
	issued, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).CreateToken(ctx, prometheus,
		&authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return "", "", fmt.Errorf("get a token in cell %s: %w", cell, err)
	}
	pod, err := readyAgent(ctx, client)
	if err != nil {
		return "", "", fmt.Errorf("the agent of cell %s: %w", cell, err)
	}
	return issued.Status.Token, net.JoinHostPort(processAddress(pod.Status.PodIP), metricsPort), nil
}
