// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/karmada-compute/karmada-compute/test/federation/containers"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// TestImage is the image on nodes that run containers. Its program is the command test/image.
const TestImage = "karmada-compute.test/image:v1"

// pauseImage is the image of the sandboxes of Pods: the same program, which waits.
const pauseImage = "karmada-compute.test/pause:v1"

const imageCommand = "./test/image"

// kubeletUser is the user of kubelets, and kubeletClient of kube-apiservers at kubelets.
const (
	kubeletUser   = "kubelet"
	kubeletClient = "kube-apiserver-kubelet-client"
)

// Containers returns an error with the requirements of cells with container nodes that this machine does not meet, or
// nil.
func Containers(ctx context.Context) error {
	return errors.Join(tools.BuildsContainers(ctx), containers.Missing())
}

// ContainerNode returns the name of a node of a cell that runs containers.
func (c Cell) ContainerNode(i int) string { return fmt.Sprintf("%s-containers-%d", c.Name, i) }

// ContainerNodeProcess returns the name of the process that ends all processes of such a node when it ends.
func ContainerNodeProcess(node string) string { return "node-" + node }

// startContainerNodes starts the nodes of a cell that run containers, and waits until they are Ready.
func (f *Federation) startContainerNodes(ctx context.Context, cell Cell) error {
	if err := raiseInotifyInstances(f.progress.printf); err != nil {
		return err
	}
	if err := f.writeImages(ctx); err != nil {
		return fmt.Errorf("build the images: %w", err)
	}
	// One after the other, so that the nodes do not compete for the disk.
	for i := range cell.Containers {
		if err := f.startContainerNode(ctx, cell, i); err != nil {
			return err
		}
	}
	return nil
}

func (f *Federation) startContainerNode(ctx context.Context, cell Cell, i int) error {
	plane := planeCell + cell.Name
	client, err := f.plane(plane)
	if err != nil {
		return err
	}
	node, err := f.containerNode(cell, i)
	if err != nil {
		return err
	}
	file, sockets := node.Folder+".json", filepath.Join("agents", node.Name)
	if err := errors.Join(os.MkdirAll(filepath.Join(f.folder, sockets), 0o700), writeJSON(file, node)); err != nil {
		return err
	}
	isolation := &Isolation{
		Sockets: sockets, Reach: []string{address(f.port(plane))}, Machine: true,
		Command: []string{f.ownBinary(), "containers", file},
	}
	// The times of a Node have a resolution of one second.
	begin := time.Now().Truncate(time.Second)
	return f.start(ctx, Process{
		Name: ContainerNodeProcess(node.Name), Path: f.ownBinary(), Args: isolation.args(false),
		Ready: func(ctx context.Context) error { return client.nodeReadySince(ctx, node.Name, begin) },
		stage: stageGuest,
	})
}

func (f *Federation) containerNode(cell Cell, i int) (*containers.Node, error) {
	kubeconfig, err := f.Kubeconfig(planeCell+cell.Name, kubeletUser)
	if err != nil {
		return nil, err
	}
	node := &containers.Node{
		Name: cell.ContainerNode(i), Folder: filepath.Join(f.folder, "nodes", cell.ContainerNode(i)),
		Kubeconfig: kubeconfig, ClientCA: f.pki.caFile(), Binaries: map[string]string{},
		Images: []string{f.imagesFile()}, PauseImage: pauseImage,
		Labels: map[string]string{"topology.kubernetes.io/zone": fmt.Sprintf("%s-%c", cell.Name, 'a'+i)},
	}
	for _, name := range tools.Containers() {
		node.Binaries[name] = f.binary(name)
	}
	return node, nil
}

func (f *Federation) imagesFile() string { return filepath.Join(f.folder, "images", "images.tar") }

// writeImages builds the program of the images and writes the archive, once.
func (f *Federation) writeImages(ctx context.Context) error {
	f.imagesMu.Lock()
	defer f.imagesMu.Unlock()
	if _, err := os.Stat(f.imagesFile()); err == nil {
		return nil
	}
	program, err := f.builder().Static(ctx, imageCommand)
	if err != nil {
		return err
	}
	return containers.WriteImages(f.imagesFile(), program, map[string][]string{TestImage: nil, pauseImage: {"pause"}})
}

// removeContainerNodes removes the leftovers of nodes that run containers from this machine when their processes have
// ended.
func (f *Federation) removeContainerNodes() error {
	files, err := filepath.Glob(filepath.Join(f.folder, "nodes", "*-containers-*.json"))
	errs := []error{err}
	for _, file := range files {
		node, err := containers.Read(file)
		if err == nil {
			err = node.RemoveCgroups()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// nodeReadySince returns an error unless a Node has reported since then that it is Ready.
func (p *plane) nodeReadySince(ctx context.Context, name string, begin time.Time) error {
	object, err := p.dynamic.Resource(nodeResource).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	if err != nil {
		return err
	}
	for _, entry := range conditions {
		condition, _ := entry.(map[string]any)
		if condition["type"] != "Ready" {
			continue
		}
		heard, err := time.Parse(time.RFC3339, fmt.Sprint(condition["lastHeartbeatTime"]))
		if err == nil && condition["status"] == "True" && !heard.Before(begin) {
			return nil
		}
		return fmt.Errorf("Node %s is not Ready: %v", name, condition["message"])
	}
	return fmt.Errorf("Node %s has no condition Ready", name)
}

// inotifyInstances is the number of inotify instances that a user needs for two federations with nodes that run
// containers. Many systems allow 128.
const (
	inotifyInstances = 1024
	inotifySetting   = "/proc/sys/fs/inotify/max_user_instances"
)

// raiseInotifyInstances raises the limit until the next boot, if it is lower.
func raiseInotifyInstances(printf func(string, ...any)) error {
	content, err := os.ReadFile(inotifySetting)
	if err != nil {
		return err
	}
	var allowed int
	if _, err := fmt.Sscan(strings.TrimSpace(string(content)), &allowed); err != nil || allowed >= inotifyInstances {
		return err
	}
	if err := os.WriteFile(inotifySetting, fmt.Append(nil, inotifyInstances), 0o600); err != nil {
		return fmt.Errorf("nodes that run containers need sysctl fs.inotify.max_user_instances=%d, it is %d: %w", inotifyInstances, allowed, err)
	}
	printf("raised fs.inotify.max_user_instances from %d to %d, until this machine starts again", allowed, inotifyInstances)
	return nil
}
