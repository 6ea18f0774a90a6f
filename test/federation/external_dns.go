// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/test/pages"
)

// namesPage has the values with which operators install external-dns, and its rights.
const namesPage = "docs/how-to/names.md"

// dnsWriter describes an external-dns that writes to the etcd of a CoreDNS.
type dnsWriter struct {
	process, path, kubeconfig string
	// store is the address of etcd, and metrics the one of external-dns.
	store, metrics string
	// flags replace flags of the page.
	flags map[string]string
}

// runExternalDNS starts external-dns as its chart does with the values of the documentation, but for what belongs to this machine.
func (f *Federation) runExternalDNS(ctx context.Context, w dnsWriter) error {
	args, err := f.externalDNSArgs(ctx)
	if err != nil {
		return err
	}
	flags := map[string]string{
		"kubeconfig": w.kubeconfig, "provider": "coredns", "coredns-prefix": skyDNS + "/", "metrics-address": w.metrics,
		// A change is written within a second.
		"interval": "1s", "min-event-sync-interval": "1s",
	}
	maps.Copy(flags, w.flags)
	args = slices.DeleteFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		_, isReplaced := flags[name]
		return isReplaced
	})
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		args = append(args, "--"+name+"="+flags[name])
	}
	return f.start(ctx, Process{
		Name: w.process, Path: w.path, Env: []string{"ETCD_URLS=http://" + w.store}, Args: args,
		Ready: httpReady(plainClient, "http://"+w.metrics+"/healthz"), stage: stageController,
	})
}

// externalDNSArgs are the arguments that the chart of external-dns gives it with the values of the documentation.
func (f *Federation) externalDNSArgs(ctx context.Context) ([]string, error) {
	text, err := pages.Example(filepath.Join(f.state.Repository, namesPage), "txtOwnerId")
	if err != nil {
		return nil, err
	}
	folder, err := f.builder().ExternalDNSChart(ctx)
	if err != nil {
		return nil, err
	}
	chart, err := loader.Load(folder)
	if err != nil {
		return nil, fmt.Errorf("load the chart of external-dns: %w", err)
	}
	values, err := chartutil.ReadValues([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s: the values of external-dns: %w", namesPage, err)
	}
	release := chartutil.ReleaseOptions{Name: externalDNS, Namespace: "dns", IsInstall: true}
	if values, err = chartutil.ToRenderValues(chart, values, release, nil); err != nil {
		return nil, fmt.Errorf("%s: the chart of external-dns refuses the values: %w", namesPage, err)
	}
	rendered, err := engine.Render(chart, values)
	if err != nil {
		return nil, fmt.Errorf("render the chart of external-dns: %w", err)
	}
	deployment := &appsv1.Deployment{}
	if err := yaml.Unmarshal([]byte(rendered[path.Join(chart.Name(), "templates/deployment.yaml")]), deployment); err != nil {
		return nil, fmt.Errorf("read the Deployment of external-dns: %w", err)
	}
	if len(deployment.Spec.Template.Spec.Containers) != 1 {
		return nil, fmt.Errorf("the Deployment of external-dns has %d containers", len(deployment.Spec.Template.Spec.Containers))
	}
	return deployment.Spec.Template.Spec.Containers[0].Args, nil
}
