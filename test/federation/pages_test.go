// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/charts"
	"github.com/karmada-compute/karmada-compute/test/pages"
)

// frontPages are the pages about Services, addresses and names. Scenarios and TestTheGatewayOfThePage run their commands.
var frontPages = []string{addressesPage, namesPage, "docs/how-to/services.md", betweenPage}

const betweenPage = "docs/how-to/between-cells.md"

// exportsCRD is the CRD of ServiceExports in the checkout.
const exportsCRD = "cell/services/testdata/serviceexports.yaml"

// TestManifestsOfThePages: each block of YAML on these pages is accepted, with no field unknown: objects by an API server with the kinds of
// the products that the pages name, and values by the chart that they are for.
func TestManifestsOfThePages(t *testing.T) {
	f, server, _ := newHub(t)
	p := &pageCheck{f: f, server: server}
	folder, err := f.builder().CertManagerCRDs(t.Context())
	var crds []*unstructured.Unstructured
	if err == nil {
		crds, err = readFolder(folder)
	}
	if err == nil {
		err = server.applyCRDs(t.Context(), crds)
	}
	if err == nil {
		err = f.applyGatewayAPI(t.Context(), server)
	}
	if err == nil {
		err = server.apply(t.Context(), namespace(karmadaSystem), namespace(gatewayNamespace), namespace("cert-manager"))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range frontPages {
		blocks, err := pages.Manifests(filepath.Join(f.state.Repository, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range blocks {
			if err := p.check(t.Context(), block); err != nil {
				t.Errorf("%s: %v, in\n%s", page, err, block)
			}
		}
		p.checked += len(blocks)
	}
	if p.checked < 6 {
		t.Errorf("only %d blocks are checked", p.checked)
	}
	for _, wrong := range []string{
		"names: {resolvers: x}", "networkPolicy: {ingres: []}", "unknown: true",
		"{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a, namespace: infra}, spec: {secretName: a, dnsName: [a]}}",
	} {
		if err := p.check(t.Context(), wrong); err == nil {
			t.Errorf("%s is accepted", wrong)
		}
	}
}

// pageCheck checks blocks of pages.
type pageCheck struct {
	f       *Federation
	server  *plane
	checked int
}

// check returns an error unless a block is accepted by what it is for.
func (p *pageCheck) check(ctx context.Context, block string) error {
	if strings.Contains(block, "apiVersion: ") {
		objects, err := decode([]byte(block))
		for i := 0; i < len(objects) && err == nil; i++ {
			err = p.server.accepts(ctx, objects[i])
		}
		return err
	}
	var content map[string]any
	if err := yaml.Unmarshal([]byte(block), &content); err != nil {
		return err
	}
	switch {
	case content["names"] != nil:
		_, err := charts.Render(content, charts.Release{Name: "karmada-compute", Namespace: karmadaSystem})
		return err
	case content["txtOwnerId"] != nil:
		// It reads the block from the page.
		_, err := p.f.externalDNSArgs(ctx)
		return err
	case content["networkPolicy"] != nil:
		return p.server.accepts(ctx, workloadWith(content["networkPolicy"]))
	}
	return errors.New("it is for no known product")
}

// workloadWith is a Workload with a networkPolicy.
func workloadWith(policy any) *unstructured.Unstructured {
	container := map[string]any{
		"name": "web", "image": "docker.io/library/nginx:1.27", "ports": []any{map[string]any{"name": "http", "port": int64(8080)}},
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "compute.datumapis.com/v1alpha", "kind": "Workload", "metadata": map[string]any{"name": "web", "namespace": "default"},
		"spec": map[string]any{
			"template": map[string]any{"spec": map[string]any{
				"runtime": map[string]any{"sandbox": map[string]any{"containers": []any{container}}},
				"networkInterfaces": []any{
					map[string]any{"network": map[string]any{"name": "default"}, "networkPolicy": policy},
				},
			}},
			"placements": []any{map[string]any{
				"name": "main", "cityCodes": []any{"DFW"}, "scaleSettings": map[string]any{"minReplicas": int64(1)},
			}},
		},
	}}
}

// accepts returns an error unless the API server would create an object, all of whose fields it knows.
func (p *plane) accepts(ctx context.Context, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := p.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	resource := p.dynamic.Resource(mapping.Resource)
	strict := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		_, err = resource.Namespace(object.GetNamespace()).Create(ctx, object, strict)
	} else {
		_, err = resource.Create(ctx, object, strict)
	}
	return err
}

// TestServiceExportsOfThePage runs the command of the page in a cell that serves the kind.
func TestServiceExportsOfThePage(t *testing.T) {
	f, server, kubeconfig := newHub(t)
	content, err := os.ReadFile(filepath.Join(f.state.Repository, exportsCRD))
	if err != nil {
		t.Fatal(err)
	}
	crds, err := decode(content)
	if err == nil {
		err = server.applyCRDs(t.Context(), crds)
	}
	if err == nil {
		err = server.applyText(t.Context(),
			"{apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceExport, metadata: {name: web, namespace: default}}")
	}
	if err != nil {
		t.Fatal(err)
	}
	page, err := pages.Read(filepath.Join(f.state.Repository, betweenPage))
	if err != nil {
		t.Fatal(err)
	}
	section := page.Section("With the Multi-Cluster Services API", strings.NewReplacer())
	for i := range section.Blocks {
		section.Blocks[i].Commands = strings.TrimSpace(section.Blocks[i].Commands) + " | grep '^default .*web'\n"
	}
	if _, err := f.runSection(t.Context(), section, map[string]string{"CELL": kubeconfig}); err != nil {
		t.Error(err)
	}
}
