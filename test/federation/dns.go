// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/test/pages"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// Names of the processes of StartDNS. external-dns is also its user on the hub.
const (
	coreDNS     = "coredns"
	externalDNS = "external-dns"
	// skyDNS is the prefix of the keys in etcd that both of them use.
	skyDNS = "/skydns"
)

var namespaceResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// recordsCRD is the CRD of DNSEndpoints in the checkout.
const recordsCRD = "hub/names/testdata/dnsendpoints.yaml"

// DNS answers the names of Workloads.
type DNS struct {
	// Address of the server, for UDP and TCP.
	Address string
}

// StartDNS starts a DNS server for the names of Workloads: external-dns writes the DNSEndpoints of the hub to CoreDNS.
func (f *Federation) StartDNS(ctx context.Context) (*DNS, error) {
	built, err := f.builder().Build(ctx, tools.DNS()...)
	if err != nil {
		return nil, err
	}
	ports, err := reservePorts(f.folder, 3)
	if err != nil {
		return nil, err
	}
	if err := f.applyRecordsKind(ctx); err != nil {
		return nil, err
	}
	// It answers what the federation's etcd has below skyDNS.
	if err := f.runCoreDNS(ctx, dnsServer{
		process: coreDNS, path: built[tools.CoreDNS], bind: []string{"127.0.0.1"}, port: ports[0], health: ports[1],
		zone: ".", source: fmt.Sprintf("etcd {\n    path %s\n    endpoint http://%s\n  }", skyDNS, address(f.port("etcd"))),
	}); err != nil {
		return nil, err
	}
	kubeconfig, err := f.Kubeconfig(planeHub, externalDNS)
	if err != nil {
		return nil, err
	}
	return &DNS{Address: address(ports[0])}, f.runExternalDNS(ctx, dnsWriter{
		process: externalDNS, path: built[tools.ExternalDNS], kubeconfig: kubeconfig, store: address(f.port("etcd")), metrics: address(ports[2]),
	})
}

// StartLoadBalancers gives the Services of type LoadBalancer of a cell addresses of this machine, lets the cell report
// them, and returns their range.
func (f *Federation) StartLoadBalancers(ctx context.Context, cell string) (string, error) {
	found, err := f.cell(cell)
	if err != nil {
		return "", err
	}
	kubeconfig, err := f.Kubeconfig(planeCell+cell, "federation")
	if err != nil {
		return "", err
	}
	ports, err := reservePorts(f.folder, 1)
	if err != nil {
		return "", err
	}
	if err := f.start(ctx, Process{
		Name: "load-balancers-" + cell, Path: f.ownBinary(),
		Args: []string{
			"load-balancers", "--kubeconfig=" + kubeconfig, fmt.Sprintf("--port=%d", ports[0]), fmt.Sprintf("--reachable=%t", found.Containers > 0),
		},
		Ready: accepts(address(ports[0])), stage: stageRouter,
	}); err != nil {
		return "", err
	}
	within := LoadBalancerRange(ports[0])
	return within.String(), f.configureBalancers(ctx, settingsOf(cell, within))
}

// settingsOf gives commands of the documentation the name and the addresses of a cell. No two cells may have the same range; this one
// has no addresses of IPv6.
func settingsOf(cell string, within netip.Prefix) *strings.Replacer {
	octets := within.Addr().As4()
	return strings.NewReplacer(
		"dfw-1", cell, "203.0.113.0/24", within.String(), "2001:db8:1::/48", fmt.Sprintf("2001:db8:%x%02x::/48", octets[1], octets[2]),
	)
}

// configureBalancers runs the commands of the documentation that give the hub the settings of the load balancers of a cell, with the name
// and the addresses of this cell.
func (f *Federation) configureBalancers(ctx context.Context, replace *strings.Replacer) error {
	environment, err := f.kubeconfigs(map[string]access{"HUB": {planeHub, Admin}})
	if err != nil {
		return err
	}
	page, err := pages.Read(filepath.Join(f.state.Repository, addressesPage))
	if err != nil {
		return err
	}
	_, err = f.runSection(ctx, page.Section(balancersHeading, replace), environment)
	return err
}

// StartCellDNS starts a DNS server for the names of the Services of a cell that runs containers. Pods ask it at the address of this
// machine on the link to their node.
func (f *Federation) StartCellDNS(ctx context.Context, name string) error {
	cell, err := f.cell(name)
	if err != nil {
		return err
	}
	built, err := f.builder().Build(ctx, tools.CoreDNS)
	if err != nil {
		return err
	}
	kubeconfig, err := f.Kubeconfig(planeCell+name, "federation")
	if err != nil {
		return err
	}
	ports, err := reservePorts(f.folder, 1)
	if err != nil {
		return err
	}
	links, err := f.links(ctx, cell)
	if err != nil {
		return err
	}
	return f.runCoreDNS(ctx, dnsServer{
		process: coreDNS + "-" + name, path: built[tools.CoreDNS], port: 53, bind: links, health: ports[0],
		zone: "cluster.local", source: fmt.Sprintf("kubernetes {\n    kubeconfig %s\n  }", kubeconfig),
	})
}

// links returns the addresses of this machine on its links to the nodes of a cell.
func (f *Federation) links(ctx context.Context, cell Cell) ([]string, error) {
	config, err := f.Config(planeCell+cell.Name, "federation")
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var links []string
	for i := range cell.Containers {
		name := cell.ContainerNode(i)
		for _, node := range nodes.Items {
			if node.Name != name || len(node.Status.Addresses) == 0 {
				continue
			}
			end, err := netip.ParseAddr(node.Status.Addresses[0].Address)
			if err != nil {
				return nil, fmt.Errorf("node %s: %w", name, err)
			}
			links = append(links, end.Prev().String())
		}
	}
	if len(links) != cell.Containers {
		return nil, fmt.Errorf("only %d of %d nodes of cell %s have an address", len(links), cell.Containers, cell.Name)
	}
	return links, nil
}

// Resolver returns a resolver that asks the server alone.
func (d *DNS) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, d.Address)
	}}
}

// applyRecordsKind installs external-dns' CRD on the hub, and lets external-dns read its objects.
func (f *Federation) applyRecordsKind(ctx context.Context) error {
	hub, err := f.plane(planeHub)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Join(f.state.Repository, recordsCRD))
	if err != nil {
		return fmt.Errorf("read the CRD of DNSEndpoints: %w", err)
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, &crd.Object); err != nil {
		return fmt.Errorf("read the CRD of DNSEndpoints: %w", err)
	}
	if err := hub.applyCRDs(ctx, []*unstructured.Unstructured{crd}); err != nil {
		return err
	}
	rights, err := pages.Example(filepath.Join(f.state.Repository, namesPage), "dnsendpoints/status")
	if err != nil {
		return err
	}
	return hub.applyText(ctx, rights)
}

// dnsServer describes a CoreDNS. source is the plugin that has the answers of a zone. No other name exists.
type dnsServer struct {
	process, path string
	bind          []string
	port, health  int
	zone, source  string
}

// runCoreDNS starts a DNS server.
func (f *Federation) runCoreDNS(ctx context.Context, s dnsServer) error {
	file := filepath.Join(f.folder, "config", s.process+".Corefile")
	bind := strings.Join(s.bind, " ")
	content := fmt.Sprintf("%s:%d {\n  bind %s\n  ready %s\n  errors\n  %s\n}\n", s.zone, s.port, bind, address(s.health), s.source)
	if s.zone != "." {
		content += fmt.Sprintf(".:%d {\n  bind %s\n  template ANY ANY {\n    rcode NXDOMAIN\n  }\n}\n", s.port, bind)
	}
	if err := writeFile(file, []byte(content)); err != nil {
		return err
	}
	return f.start(ctx, Process{
		Name: s.process, Path: s.path, Args: []string{"-conf=" + file}, Ready: httpReady(plainClient, "http://"+address(s.health)+"/ready"),
		stage: stageController,
	})
}
