// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// TestValuesOfExternalDNS: the chart of external-dns accepts the values of the page, and they become the flags by which several hubs can
// share a zone.
func TestValuesOfExternalDNS(t *testing.T) {
	f, _, _ := newHub(t)
	args, err := f.externalDNSArgs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"--source=crd", "--policy=sync", "--registry=txt", "--txt-owner-id=hub-1", "--interval=10s", "--events",
		"--domain-filter=apps.example.com", "--provider=aws", "--kubeconfig=/etc/hub/kubeconfig", "--namespace=karmada-system",
	} {
		if !slices.Contains(args, want) {
			t.Errorf("%s is missing in %q", want, args)
		}
	}
}

// zone is a DNS server, and hubs whose external-dns writes to it. A namespace of the tests' API server stands for a hub.
type zone struct {
	t      *testing.T
	f      *Federation
	server *plane
	names  *Names
	built  map[string]string
	config string
	store  string
}

var recordResource = schema.GroupVersionResource{Group: "externaldns.k8s.io", Version: "v1alpha1", Resource: "dnsendpoints"}

func newZone(t *testing.T) *zone {
	t.Helper()
	f, server, kubeconfig := newHub(t)
	built, err := f.builder().Build(t.Context(), append(tools.DNS(), tools.Etcd)...)
	if err != nil {
		t.Fatal(err)
	}
	ports, err := reservePorts(f.folder, 4)
	if err != nil {
		t.Fatal(err)
	}
	z := &zone{t: t, f: f, server: server, built: built, config: kubeconfig, store: address(ports[0])}
	z.names = &Names{dns: &DNS{Address: address(ports[2])}}
	content, err := os.ReadFile(filepath.Join(f.state.Repository, recordsCRD))
	if err != nil {
		t.Fatal(err)
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, &crd.Object); err != nil {
		t.Fatal(err)
	}
	if err := server.applyCRDs(t.Context(), []*unstructured.Unstructured{crd}); err != nil {
		t.Fatal(err)
	}
	client := "http://" + z.store
	if err := f.start(t.Context(), Process{
		Name: "etcd", Path: built[tools.Etcd], Ready: httpReady(plainClient, client+"/readyz"), stage: stageStore,
		Args: []string{
			"--data-dir=" + t.TempDir(), "--listen-client-urls=" + client, "--advertise-client-urls=" + client,
			"--listen-peer-urls=http://" + address(ports[1]), "--log-level=warn",
		},
	}); err != nil {
		t.Fatal(err)
	}
	if err := f.runCoreDNS(t.Context(), dnsServer{
		process: coreDNS, path: built[tools.CoreDNS], bind: []string{"127.0.0.1"}, port: ports[2], health: ports[3],
		zone: ".", source: fmt.Sprintf("etcd {\n    path %s\n    endpoint %s\n  }", skyDNS, client),
	}); err != nil {
		t.Fatal(err)
	}
	return z
}

// start starts an external-dns of a hub, with the values of the page, an owner of its own and other flags.
func (z *zone) start(hub, owner string, flags map[string]string) {
	z.t.Helper()
	all := map[string]string{"namespace": hub, "txt-owner-id": owner}
	maps.Copy(all, flags)
	ports, err := reservePorts(z.f.folder, 1)
	if err == nil {
		err = z.server.applyText(z.t.Context(), "{apiVersion: v1, kind: Namespace, metadata: {name: "+hub+"}}")
	}
	if err == nil {
		err = z.f.runExternalDNS(z.t.Context(), dnsWriter{
			process: externalDNS + "-" + hub + "-" + owner, path: z.built[tools.ExternalDNS], kubeconfig: z.config, store: z.store,
			metrics: address(ports[0]), flags: all,
		})
	}
	if err != nil {
		z.t.Fatal(err)
	}
}

// write writes the DNSEndpoint of a name, as the add-on does.
func (z *zone) write(hub, name, address string) {
	z.t.Helper()
	if err := z.server.applyText(z.t.Context(), fmt.Sprintf(`
apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata: {namespace: %s, name: %s}
spec: {endpoints: [{dnsName: %[2]s, recordType: A, recordTTL: 1, targets: [%s]}]}`, hub, name, address)); err != nil {
		z.t.Fatal(err)
	}
}

// byHand writes a record that no external-dns owns.
func (z *zone) byHand(name, address string) {
	z.t.Helper()
	store, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + z.store}, Context: z.t.Context()})
	if err != nil {
		z.t.Fatal(err)
	}
	labels := strings.Split(name, ".")
	slices.Reverse(labels)
	_, err = store.Put(z.t.Context(), skyDNS+"/"+strings.Join(labels, "/"), fmt.Sprintf(`{"host": %q}`, address))
	if err := errors.Join(err, store.Close()); err != nil {
		z.t.Fatal(err)
	}
}

// read waits until the external-dns of a hub has read a DNSEndpoint in a later pass than the one that is running.
func (z *zone) read(hub, name string) {
	z.t.Helper()
	records := z.server.dynamic.Resource(recordResource).Namespace(hub)
	if err := Await(z.t.Context(), readyInterval, patienceOfZone, func(ctx context.Context) error {
		record, err := records.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if read, _, _ := unstructured.NestedInt64(record.Object, "status", "observedGeneration"); read != record.GetGeneration() {
			return fmt.Errorf("%s of %s is not read", name, hub)
		}
		return nil
	}); err != nil {
		z.t.Fatal(err)
	}
}

// pass waits until the external-dns of a hub has made a whole pass: a name that is written now has its record.
func (z *zone) pass(hub string, number int) {
	z.t.Helper()
	name := fmt.Sprintf("pass-%d-%s.apps.example.com", number, hub)
	z.write(hub, name, "10.9.9.9")
	z.read(hub, name)
	z.want(name, "10.9.9.9")
}

const patienceOfZone = 2 * time.Minute

// want waits until a name has these addresses.
func (z *zone) want(name string, addresses ...string) {
	z.t.Helper()
	has := func(ctx context.Context) error { return z.has(ctx, name, addresses...) }
	if err := Await(z.t.Context(), readyInterval, patienceOfZone, has); err != nil {
		z.t.Error(err)
	}
}

func (z *zone) has(ctx context.Context, name string, addresses ...string) error {
	found, err := z.names.Resolve(ctx, name)
	if err != nil {
		return err
	}
	var texts []string
	for _, address := range found {
		texts = append(texts, netip.Addr.String(address))
	}
	slices.Sort(texts)
	if !slices.Equal(texts, addresses) {
		return fmt.Errorf("%s has %q, want %q", name, texts, addresses)
	}
	return nil
}

func (z *zone) remove(hub, name string) {
	z.t.Helper()
	if err := z.server.dynamic.Resource(recordResource).Namespace(hub).Delete(z.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		z.t.Fatal(err)
	}
}

// TestTwoHubsInOneZone: with an owner of its own, a hub leaves the records of another one alone, and the records without an owner. A name
// that both want stays with the first one. A name that is deleted leaves the zone.
func TestTwoHubsInOneZone(t *testing.T) {
	z := newZone(t)
	z.byHand("hand.apps.example.com", "10.0.0.7")
	z.start("east", "hub-east", nil)
	z.write("east", "hand.apps.example.com", "10.0.0.1")
	z.write("east", "web.apps.example.com", "10.0.0.1")
	z.write("east", "both.apps.example.com", "10.0.0.1")
	z.want("web.apps.example.com", "10.0.0.1")
	z.want("both.apps.example.com", "10.0.0.1")

	z.start("west", "hub-west", nil)
	z.write("west", "api.apps.example.com", "10.0.0.2")
	z.write("west", "both.apps.example.com", "10.0.0.2")
	z.want("api.apps.example.com", "10.0.0.2")
	z.read("west", "both.apps.example.com")
	for number := range 2 {
		z.pass("west", number)
		z.pass("east", number)
	}
	for name, address := range map[string]string{
		"web.apps.example.com": "10.0.0.1", "both.apps.example.com": "10.0.0.1", "api.apps.example.com": "10.0.0.2",
		"hand.apps.example.com": "10.0.0.7",
	} {
		if err := z.has(t.Context(), name, address); err != nil {
			t.Error(err)
		}
	}
	z.remove("east", "web.apps.example.com")
	z.want("web.apps.example.com")
	z.remove("east", "both.apps.example.com")
	z.want("both.apps.example.com", "10.0.0.2")
	z.want("api.apps.example.com", "10.0.0.2")
}

// TestTwoHubsWithOneOwner: what the page warns of. It shows that the other test would see it.
func TestTwoHubsWithOneOwner(t *testing.T) {
	z := newZone(t)
	z.start("north", "hub-1", nil)
	z.write("north", "web.apps.example.com", "10.0.0.1")
	z.want("web.apps.example.com", "10.0.0.1")
	if err := z.f.StopProcess(externalDNS + "-north-hub-1"); err != nil {
		t.Fatal(err)
	}
	z.start("south", "hub-1", nil)
	z.pass("south", 0)
	z.want("web.apps.example.com")
}

// TestAnExternalDNSForEachDomain: two of them share the DNSEndpoints of a hub, each for its domains.
func TestAnExternalDNSForEachDomain(t *testing.T) {
	z := newZone(t)
	z.start("hub", "pattern", map[string]string{"domain-filter": "apps.example.com"})
	z.write("hub", "www.shop.example.com", "10.0.0.1")
	z.pass("hub", 0)
	if err := z.has(t.Context(), "www.shop.example.com"); err != nil {
		t.Error(err)
	}
	z.start("hub", "shop", map[string]string{"domain-filter": "shop.example.com"})
	z.want("www.shop.example.com", "10.0.0.1")
	z.pass("hub", 1)
	z.write("hub", "shop.example.com", "10.0.0.1")
	z.want("shop.example.com", "10.0.0.1")
	for name, address := range map[string]string{"www.shop.example.com": "10.0.0.1", "pass-0-hub.apps.example.com": "10.9.9.9"} {
		if err := z.has(t.Context(), name, address); err != nil {
			t.Error(err)
		}
	}
}
