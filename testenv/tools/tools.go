// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Names of the binaries.
const (
	Etcd                       = "etcd"
	KubeAPIServer              = "kube-apiserver"
	KubeControllerManager      = "kube-controller-manager"
	KubeScheduler              = "kube-scheduler"
	Kwok                       = "kwok"
	KarmadaControllerManager   = "karmada-controller-manager"
	KarmadaScheduler           = "karmada-scheduler"
	KarmadaWebhook             = "karmada-webhook"
	KarmadaAggregatedAPIServer = "karmada-aggregated-apiserver"
	KarmadaAgent               = "karmada-agent"
	Prometheus                 = "prometheus"
	Promtool                   = "promtool"
	Kubelet                    = "kubelet"
	KubeProxy                  = "kube-proxy"
	Containerd                 = "containerd"
	ContainerdShim             = "containerd-shim-runc-v2"
	Ctr                        = "ctr"
	Runc                       = "runc"
	Bridge                     = "bridge"
	HostLocal                  = "host-local"
	CoreDNS                    = "coredns"
	ExternalDNS                = "external-dns"
	Traefik                    = "traefik"
)

// karmadaPrefix and kubernetesPrefix are the prefixes of the folders of modules under hack/tools that build other
// versions of Karmada and Kubernetes.
const karmadaPrefix, kubernetesPrefix = "karmada-", "kubernetes-"

// KarmadaModule is the path of Karmada's module, from which a federation also takes CRDs and the webhook configuration.
const KarmadaModule = "github.com/karmada-io/karmada"

// tool is a binary of a module under hack/tools.
type tool struct {
	module string // folder under hack/tools
	pkg    string // main package
	name   string // file name of the binary
}

// tags are the build tags of modules under hack/tools. Prometheus' target discoveries depend on the clients of two
// dozen clouds. runc applies the seccomp profile of a container only with its tag; the excluded snapshotters of
// containerd need headers.
var tags = map[string]string{monitoring: "remove_all_sd", containers: "no_btrfs,no_devmapper,no_zfs,seccomp"}

// shared is the module of etcd, Kubernetes and Karmada.
const shared = "federation"

// monitoring is the module of Prometheus, and containers the module of containerd, runc and CNI.
const (
	monitoring = "prometheus"
	containers = "containers"
)

// output returns the name of the binary that go build writes.
func (t tool) output() string {
	elements := strings.Split(t.pkg, "/")
	last := elements[len(elements)-1]
	if len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		return elements[len(elements)-2]
	}
	return last
}

// all returns every binary. etcd, Kubernetes and Karmada share a module, so that their common packages are compiled
// once. kwok needs an older version of Kubernetes. Prometheus is for tests of the chart's Prometheus objects.
func all() []tool {
	const kubernetes, karmada = "k8s.io/kubernetes/cmd/", KarmadaModule + "/cmd/"
	const containerd, cni = "github.com/containerd/containerd/v2/cmd/", "github.com/containernetworking/plugins/plugins/"
	return []tool{
		{shared, "go.etcd.io/etcd/server/v3", Etcd},
		{shared, kubernetes + "kube-apiserver", KubeAPIServer},
		{shared, kubernetes + "kube-controller-manager", KubeControllerManager},
		{shared, kubernetes + "kube-scheduler", KubeScheduler},
		{shared, karmada + "controller-manager", KarmadaControllerManager},
		{shared, karmada + "scheduler", KarmadaScheduler},
		{shared, karmada + "webhook", KarmadaWebhook},
		{shared, karmada + "aggregated-apiserver", KarmadaAggregatedAPIServer},
		{shared, karmada + "agent", KarmadaAgent},
		{"kwok", "sigs.k8s.io/kwok/cmd/kwok", Kwok},
		{monitoring, "github.com/prometheus/prometheus/cmd/prometheus", Prometheus},
		{monitoring, "github.com/prometheus/prometheus/cmd/promtool", Promtool},
		{shared, kubernetes + "kubelet", Kubelet},
		{shared, kubernetes + "kube-proxy", KubeProxy},
		{containers, containerd + "containerd", Containerd},
		{containers, containerd + "containerd-shim-runc-v2", ContainerdShim},
		{containers, containerd + "ctr", Ctr},
		{containers, "github.com/opencontainers/runc", Runc},
		{containers, cni + "main/bridge", Bridge},
		{containers, cni + "ipam/host-local", HostLocal},
		{CoreDNS, "github.com/coredns/coredns", CoreDNS},
		{ExternalDNS, "sigs.k8s.io/external-dns", ExternalDNS},
		{Traefik, "github.com/traefik/traefik/v3/cmd/traefik", Traefik},
	}
}

// All returns every binary, including the tests', except the binaries of Containers, which not every machine can build,
// and of DNS and Gateways, which depend on the clients of many providers.
func All() []string { return named(func(t tool) bool { return !t.ofContainers() && !t.ofNames() }) }

// DNS returns the binaries of the DNS of a federation.
func DNS() []string { return []string{CoreDNS, ExternalDNS} }

// Core returns the binaries of a federation whose cells are in push mode and run no containers.
func Core() []string {
	return named(func(t tool) bool {
		return !t.ofContainers() && !t.ofNames() && t.name != KarmadaAgent && t.module != monitoring
	})
}

// ControlPlane returns the binaries of a cell that Builder.Kubernetes selects the version of.
func ControlPlane() []string { return named(tool.ofKubernetes) }

// Containers returns the binaries of a node that runs containers. BuildsContainers reports whether this machine builds
// them.
func Containers() []string { return named(tool.ofContainers) }

// ofContainers reports whether only nodes that run containers need the binary.
func (t tool) ofContainers() bool {
	return t.module == containers || t.name == Kubelet || t.name == KubeProxy
}

// ofNames reports whether only the DNS and the Gateways of a federation need the binary.
func (t tool) ofNames() bool { return t.name == Traefik || slices.Contains(DNS(), t.name) }

// ofKarmada reports whether the binary is a part of Karmada.
func (t tool) ofKarmada() bool { return strings.HasPrefix(t.pkg, KarmadaModule+"/") }

// ofKubernetes reports whether the binary is a part of a Kubernetes control plane.
func (t tool) ofKubernetes() bool {
	return t.name == KubeAPIServer || t.name == KubeControllerManager || t.name == KubeScheduler
}

// moduleOf returns the folder of the module of a binary: its name under hack/tools, or an absolute path.
func (b *Builder) moduleOf(t tool) string {
	switch {
	case t.ofKarmada():
		return b.karmadaModule()
	case t.ofKubernetes() && b.Kubernetes != "":
		return kubernetesPrefix + b.Kubernetes
	}
	return t.module
}

// karmadaModule returns the folder of the module of Karmada: its name under hack/tools, or the absolute path of a checkout.
func (b *Builder) karmadaModule() string {
	switch {
	case b.Karmada == "":
		return shared
	case filepath.IsAbs(b.Karmada):
		return b.Karmada
	}
	return karmadaPrefix + b.Karmada
}

// KarmadaVersions returns the minor versions of Karmada, the oldest first, that a Builder can build in addition to the
// shared module's version.
func KarmadaVersions(repository string) ([]string, error) { return versions(repository, karmadaPrefix) }

// KubernetesVersions returns the minor versions of Kubernetes, the oldest first, that a Builder can build in addition
// to the shared module's version.
func KubernetesVersions(repository string) ([]string, error) {
	return versions(repository, kubernetesPrefix)
}

func versions(repository, prefix string) ([]string, error) {
	folder := filepath.Join(repository, "hack", "tools")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("list the modules %s* of %s: %w", prefix, folder, err)
	}
	var versions []string
	for _, entry := range entries {
		if version, ok := strings.CutPrefix(entry.Name(), prefix); ok {
			versions = append(versions, version)
		}
	}
	return versions, nil
}

func named(wanted func(tool) bool) []string {
	var names []string
	for _, t := range all() {
		if wanted(t) {
			names = append(names, t.name)
		}
	}
	return names
}

// BuildsContainers returns an error with the requirements for the binaries of Containers that this machine does not
// meet, or nil.
func BuildsContainers(ctx context.Context) error {
	if err := exec.CommandContext(ctx, "pkg-config", "--exists", "libseccomp").Run(); err != nil {
		return fmt.Errorf("runc is built with libseccomp, whose headers pkg-config does not find: apt-get install "+
			"libseccomp-dev pkg-config (%w)", err)
	}
	return nil
}

// selected returns the tools of the given names.
func selected(names []string) ([]tool, error) {
	var tools []tool
	for _, name := range names {
		index := slices.IndexFunc(all(), func(t tool) bool { return t.name == name })
		if index < 0 {
			return nil, fmt.Errorf("unknown binary %q", name)
		}
		tools = append(tools, all()[index])
	}
	return tools, nil
}

// FindRepository returns the checkout of the working directory: the nearest folder upwards that holds the tool modules.
func FindRepository() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the checkout: %w", err)
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		_, modErr := os.Stat(filepath.Join(folder, "go.mod"))
		_, toolErr := os.Stat(filepath.Join(folder, "hack", "tools", "federation", "go.mod"))
		if modErr == nil && toolErr == nil {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("no checkout with hack/tools in %s or above it: run this inside a checkout", start)
		}
	}
}

// DefaultCache returns the default folder of built binaries: karmada-compute/bin in the user's cache.
func DefaultCache() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", errors.Join(errors.New("no folder for built binaries: set HOME or XDG_CACHE_HOME"), err)
	}
	return filepath.Join(cache, "karmada-compute", "bin"), nil
}
