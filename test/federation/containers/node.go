// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
)

// Node describes a node. Federation writes it into a file for the process in the namespaces.
type Node struct {
	// Name of the Node, and host name in its Pods.
	Name string
	// Folder holds all files of the node. Files of an earlier node are removed at the start.
	Folder string
	// Kubeconfig is the kubelet's, and ClientCA the CA of the clients that the kubelet serves.
	Kubeconfig, ClientCA string
	// Binaries are the paths of kubelet, kube-proxy, containerd, containerd-shim-runc-v2, ctr, runc, bridge and host-local, by name.
	Binaries map[string]string
	// Images are OCI archives. One of them has PauseImage.
	Images []string
	// PauseImage is the image of every Pod's sandbox.
	PauseImage string
	// Labels of the Node.
	Labels map[string]string
}

// Cgroup returns the cgroup of the node's Pods, below the root of each hierarchy.
func (n *Node) Cgroup() string {
	sum := sha256.Sum256([]byte(n.Folder))
	return "/karmada-compute-" + hex.EncodeToString(sum[:6])
}

// path returns a path in the node's folder.
func (n *Node) path(elements ...string) string {
	return filepath.Join(append([]string{n.Folder}, elements...)...)
}

// Read reads the description of a node from a file.
func Read(file string) (*Node, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	n := &Node{}
	if err := json.Unmarshal(content, n); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return n, nil
}

// LinkPrefix is the prefix of the interface names between this machine and its nodes. The number of the node follows.
const LinkPrefix = "kcnode"

// Links is the maximum number of nodes on one machine.
const Links = 256

// Subnet holds the addresses of a node.
type Subnet struct {
	// Machine and Node are the ends of the link, with the length of its prefix.
	Machine, Node netip.Prefix
	// Pods is the range of the Pods' addresses.
	Pods netip.Prefix
}

// SubnetOf returns the addresses of the node at a link.
func SubnetOf(link string) (Subnet, error) {
	var number uint8
	if _, err := fmt.Sscan(strings.TrimPrefix(link, LinkPrefix), &number); err != nil {
		return Subnet{}, fmt.Errorf("interface %s is no link of a node: %w", link, err)
	}
	return Subnet{
		Machine: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 213, number, 1}), 30),
		Node:    netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 213, number, 2}), 30),
		Pods:    netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 213, number, 128}), 25),
	}, nil
}
