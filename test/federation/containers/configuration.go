// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"embed"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// templates are the configurations of containerd, of CNI (a bridge that routes), and of the kubelet.
//
//go:embed containerd.toml bridge.conflist kubelet.yaml
var templates embed.FS

// socket is containerd's. /run is the node's own.
const socket = "/run/containerd/containerd.sock"

// GracePeriod is how long a controller manager may not hear of a node before it takes the node as unreachable: twice
// the duration of the kubelet's Lease.
const GracePeriod = "16s"

// writeConfiguration writes the configuration of containerd, CNI and the kubelet.
func (n *Node) writeConfiguration(subnet Subnet) error {
	parsed, err := template.ParseFS(templates, "*")
	if err != nil {
		return err
	}
	errs := []error{os.MkdirAll(n.path("cni"), 0o700)}
	for name, path := range map[string]string{
		"containerd.toml": n.path("containerd.toml"), "bridge.conflist": n.path("cni", "bridge.conflist"), "kubelet.yaml": n.path("kubelet.yaml"),
	} {
		text := &strings.Builder{}
		errs = append(errs, parsed.ExecuteTemplate(text, name, map[string]any{
			"Node": n, "Subnet": subnet, "Socket": socket, "Plugins": filepath.Dir(n.Binaries["bridge"]),
		}), os.WriteFile(path, []byte(text.String()), 0o600))
	}
	return errors.Join(errs...)
}
