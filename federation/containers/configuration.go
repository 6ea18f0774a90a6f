// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	_ "embed" // the configuration of containerd
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed containerd.toml
var containerdTOML string

// socket is containerd's. /run is the node's own.
const socket = "/run/containerd/containerd.sock"

// writeConfiguration writes the configuration of containerd, CNI and the kubelet.
func (n *Node) writeConfiguration(subnet Subnet) error {
	text := &strings.Builder{}
	parsed, err := template.New("containerd").Parse(containerdTOML)
	if err == nil {
		err = parsed.Execute(text, map[string]string{
			"Root": n.path("containerd"), "Socket": socket, "Pause": n.PauseImage, "Runc": n.Binaries["runc"],
			"Plugins": filepath.Dir(n.Binaries["bridge"]), "Networks": n.path("cni"),
		})
	}
	return errors.Join(err,
		os.MkdirAll(n.path("cni"), 0o700),
		os.WriteFile(n.path("containerd.toml"), []byte(text.String()), 0o600),
		writeJSON(n.path("cni", "bridge.conflist"), n.network(subnet)),
		writeJSON(n.path("kubelet.json"), n.kubeletConfiguration(subnet)),
	)
}

// network returns the configuration of the Pods' network: a bridge that routes.
func (n *Node) network(subnet Subnet) map[string]any {
	return map[string]any{
		"cniVersion": "1.0.0", "name": "pods",
		"plugins": []any{map[string]any{
			"type": "bridge", "bridge": "pods", "isGateway": true, "hairpinMode": true,
			"ipam": map[string]any{
				"type": "host-local", "dataDir": n.path("addresses"),
				"ranges": [][]map[string]string{{{"subnet": subnet.Pods.String()}}},
				"routes": []map[string]string{{"dst": "0.0.0.0/0"}},
			},
		}},
	}
}

const (
	// leaseSeconds is the duration of a node's Lease, which the kubelet renews in a quarter of it.
	leaseSeconds = 8
	statusPeriod = "2s"
	// GracePeriod is how long a controller manager may not hear of a node before it takes the node as unreachable.
	GracePeriod = "16s"
)

func (n *Node) kubeletConfiguration(subnet Subnet) map[string]any {
	return map[string]any{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		"address": subnet.Node.Addr().String(), "healthzBindAddress": "127.0.0.1", "readOnlyPort": 0,
		"authentication": map[string]any{
			"anonymous": map[string]any{"enabled": false}, "webhook": map[string]any{"enabled": true},
			"x509": map[string]any{"clientCAFile": n.ClientCA},
		},
		"authorization":            map[string]any{"mode": "Webhook"},
		"containerRuntimeEndpoint": "unix://" + socket,
		"failCgroupV1":             false, "cgroupDriver": "cgroupfs", "cgroupRoot": n.Cgroup(),
		"podLogsDir": n.path("logs"), "resolvConf": "", "clusterDNS": []string{},
		// No chains of iptables.
		"makeIPTablesUtilChains": false,
		// Imported images have no registry that could confirm who may use them.
		"imagePullCredentialsVerificationPolicy": "NeverVerify",
		// The machine is shared: its disk and memory must not evict Pods.
		"evictionHard":                map[string]string{"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
		"imageGCHighThresholdPercent": 100,
		"nodeLeaseDurationSeconds":    leaseSeconds, "nodeStatusUpdateFrequency": statusPeriod, "nodeStatusReportFrequency": "1m",
	}
}

func writeJSON(path string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}
