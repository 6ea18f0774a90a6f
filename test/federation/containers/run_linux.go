// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	readyInterval = 50 * time.Millisecond
	readyTimeout  = 2 * time.Minute
)

// Run runs the node until ctx ends. It must be called in separate namespaces, to which a link has been or will be
// added. Its processes, mounts and settings end with the namespaces.
func (n *Node) Run(ctx context.Context, log *slog.Logger) error {
	// This /proc is still the machine's, in which this process has another number.
	if self, err := os.Readlink("/proc/self"); err != nil || self == strconv.Itoa(os.Getpid()) {
		return errors.New("a node must run in a PID namespace of its own: its mounts and processes would stay on this machine")
	}
	if err := n.prepare(ctx); err != nil {
		return err
	}
	subnet, err := connect(ctx)
	if err != nil {
		return fmt.Errorf("connect node %s with this machine: %w", n.Name, err)
	}
	if err := n.writeConfiguration(subnet); err != nil {
		return fmt.Errorf("configure node %s: %w", n.Name, err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return n.run(ctx, "containerd", "--config="+n.path("containerd.toml")) })
	group.Go(func() error {
		if err := n.importImages(ctx); err != nil {
			return err
		}
		log.Info("the images are imported", "images", len(n.Images))
		return n.run(ctx, "kubelet", n.kubeletArgs(subnet)...)
	})
	group.Go(func() error { return n.run(ctx, "kube-proxy", n.proxyArgs()...) })
	group.Go(func() error { return n.enforce(ctx, subnet, log) })
	return group.Wait()
}

func (n *Node) kubeletArgs(subnet Subnet) []string {
	args := []string{
		"--config=" + n.path("kubelet.yaml"), "--kubeconfig=" + n.Kubeconfig, "--hostname-override=" + n.Name,
		"--node-ip=" + subnet.Node.Addr().String(), "--root-dir=" + n.path("kubelet"), "--cert-dir=" + n.path("certificates"),
	}
	var labels []string
	for key, value := range n.Labels {
		labels = append(labels, key+"="+value)
	}
	slices.Sort(labels)
	return append(args, "--node-labels="+strings.Join(labels, ","))
}

// proxyArgs let kube-proxy translate the addresses of Services in the node's network namespace.
func (n *Node) proxyArgs() []string {
	return []string{
		"--kubeconfig=" + n.Kubeconfig, "--hostname-override=" + n.Name, "--proxy-mode=nftables",
		"--healthz-bind-address=127.0.0.1:10256", "--metrics-bind-address=127.0.0.1:10249",
		// These limits are settings of the whole machine.
		"--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0", "--conntrack-tcp-timeout-close-wait=0",
	}
}

// prepare empties the folder and mounts the node's own file systems.
func (n *Node) prepare(ctx context.Context) error {
	if err := os.RemoveAll(n.Folder); err != nil {
		return fmt.Errorf("remove what an earlier node left: %w", err)
	}
	if err := n.RemoveCgroups(); err != nil {
		return err
	}
	if err := createCgroups(n.Cgroup()); err != nil {
		return err
	}
	if err := syscall.Sethostname([]byte(n.Name)); err != nil {
		return fmt.Errorf("set the host name: %w", err)
	}
	if err := n.mount(); err != nil {
		return fmt.Errorf("mount for node %s: %w", n.Name, err)
	}
	return ctx.Err()
}

// mount gives the node a /proc of its processes, an empty /run, and a /var that stores writes in the node's folder.
func (n *Node) mount() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	if err := syscall.Mount("tmpfs", "/run", "tmpfs", 0, "mode=0755"); err != nil {
		return fmt.Errorf("/run: %w", err)
	}
	for _, folder := range []string{"/var/lib", "/var/log"} {
		upper, work := n.path(folder, "upper"), n.path(folder, "work")
		if err := errors.Join(os.MkdirAll(upper, 0o755), os.MkdirAll(work, 0o755)); err != nil { //nolint:gosec // the mode of what it covers
			return err
		}
		if err := syscall.Mount("overlay", folder, "overlay", 0, "lowerdir="+folder+",upperdir="+upper+",workdir="+work); err != nil {
			return fmt.Errorf("overlay on %s: %w", folder, err)
		}
	}
	return nil
}

// connect waits for the link and configures the node's end of it.
func connect(ctx context.Context) (Subnet, error) {
	var link string
	if err := wait.PollUntilContextTimeout(ctx, readyInterval, readyTimeout, true, func(context.Context) (bool, error) {
		interfaces, err := net.Interfaces()
		for _, found := range interfaces {
			if strings.HasPrefix(found.Name, LinkPrefix) {
				link = found.Name
			}
		}
		return link != "", err
	}); err != nil {
		return Subnet{}, fmt.Errorf("no link: %w", err)
	}
	subnet, err := SubnetOf(link)
	if err != nil {
		return Subnet{}, err
	}
	for _, args := range [][]string{
		{"address", "add", subnet.Node.String(), "dev", link},
		{"link", "set", link, "up"},
		{"route", "add", "default", "via", subnet.Machine.Addr().String()},
	} {
		if err := IP(ctx, args...); err != nil {
			return Subnet{}, err
		}
	}
	// These are settings of the network namespace. Policies see Pods' packets that the bridge does not route.
	for name, needed := range map[string]bool{"ipv4/ip_forward": true, "bridge/bridge-nf-call-iptables": false} {
		if err := os.WriteFile(filepath.Join("/proc/sys/net", name), []byte("1"), 0o600); err != nil && needed {
			return Subnet{}, err
		}
	}
	return subnet, nil
}

// IP runs the command ip.
func IP(ctx context.Context, args ...string) error {
	output, err := exec.CommandContext(ctx, "ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(output)))
	}
	return nil
}

// importImages waits for containerd and imports the archives.
func (n *Node) importImages(ctx context.Context) error {
	if err := wait.PollUntilContextTimeout(ctx, readyInterval, readyTimeout, true, func(ctx context.Context) (bool, error) {
		return n.ctr(ctx, "version") == nil, nil
	}); err != nil {
		return fmt.Errorf("containerd does not become ready: %w", err)
	}
	for _, image := range n.Images {
		if err := n.ctr(ctx, "images", "import", "--local", image); err != nil {
			return fmt.Errorf("import %s: %w", image, err)
		}
	}
	return nil
}

func (n *Node) ctr(ctx context.Context, args ...string) error {
	cmd := n.command(ctx, "ctr", append([]string{"--address=" + socket, "--namespace=k8s.io"}, args...)...)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("ctr %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(output)))
	}
	return nil
}

func (n *Node) command(ctx context.Context, binary string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, n.Binaries[binary], args...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(n.Binaries["containerd"])+":"+os.Getenv("PATH"))
	return cmd
}

// run runs a part of the node until ctx ends. When a part ends, the node ends.
func (n *Node) run(ctx context.Context, binary string, args ...string) error {
	cmd := n.command(ctx, binary, args...)
	file, err := os.OpenFile(n.path(binary+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // the process has its own handle
	cmd.Stdout, cmd.Stderr = file, file
	if err := cmd.Run(); ctx.Err() == nil {
		return fmt.Errorf("%s of node %s has ended, its log is %s: %w", binary, n.Name, file.Name(), err)
	}
	return nil
}
