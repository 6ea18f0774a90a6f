// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/karmada-compute/karmada-compute/test/federation/containers"
	"github.com/karmada-compute/karmada-compute/test/federation/node"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// startContainerCell starts etcd and a cell with a node that runs containers, and nothing else of a federation.
func startContainerCell(t *testing.T, cell Cell) *Federation {
	t.Helper()
	if err := Containers(t.Context()); err != nil {
		t.Skip(err)
	}
	before := existing()
	return startCellAlone(t, cell, func(f *Federation) {
		checkNothingLeft(t, f, cell)
		if after := existing(); after != before {
			t.Errorf("the node created some of %q, where there were %q", after, before)
		}
	})
}

// startCellAlone starts etcd and a cell, and nothing else of a federation. check is called when they have stopped.
func startCellAlone(t *testing.T, cell Cell, check func(*Federation)) *Federation {
	t.Helper()
	o, err := Options{Folder: t.TempDir(), Cells: []Cell{cell}, Out: t.Output()}.complete()
	if err != nil {
		t.Fatal(err)
	}
	progress := newProgress(o.Out)
	names := []string{tools.Etcd, tools.KubeAPIServer, tools.KubeControllerManager, tools.KubeScheduler, tools.Kwok}
	if cell.Containers > 0 {
		names = append(names, tools.Containers()...)
	}
	binaries, err := o.builder(progress).Build(t.Context(), names...)
	if err != nil {
		t.Fatal(err)
	}
	f, err := create(o, binaries, "", progress)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		begin := time.Now()
		if err := f.Down(context.Background()); err != nil {
			t.Error(err)
		}
		t.Logf("stopped in %s", time.Since(begin))
		check(f)
	})
	if err := f.buildOwn(t.Context(), ownCommand); err != nil {
		t.Fatal(err)
	}
	// A test that exceeds its time limit runs no Cleanup.
	if err := f.startKeeper(); err != nil {
		t.Fatal(err)
	}
	if err := f.startEtcd(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.startCell(t.Context(), cell); err != nil {
		t.Fatal(err)
	}
	return f
}

// existing returns which folders of a machine with a kubelet and containerd exist on this one.
func existing() string {
	var found []string
	for _, path := range []string{
		"/var/lib/kubelet", "/var/lib/cni", "/var/log/pods", "/var/log/containers", "/run/containerd", "/run/netns",
		"/opt/containerd", "/opt/nri",
	} {
		if _, err := os.Stat(path); err == nil {
			found = append(found, path)
		}
	}
	return strings.Join(found, " ")
}

// checkNothingLeft verifies that a node has left no cgroup, mount, interface or process.
func checkNothingLeft(t *testing.T, f *Federation, cell Cell) {
	t.Helper()
	n, err := f.containerNode(cell, 0)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob("/sys/fs/cgroup/*" + n.Cgroup()); err != nil || len(left) > 0 {
		t.Errorf("the node left the cgroups %v: %v", left, err)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil || strings.Contains(string(mounts), n.Folder) {
		t.Errorf("the node left mounts: %v\n%s", err, mounts)
	}
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range processes {
		if content, _ := os.ReadFile(process); strings.Contains(string(content), n.Folder) { // it may have ended
			t.Errorf("process %s still runs: %s", process, content)
		}
	}
	// A namespace disappears a moment after its processes.
	err = wait.PollUntilContextTimeout(context.Background(), 100*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		interfaces, err := net.Interfaces()
		for _, found := range interfaces {
			if found.Name == f.linkOf(t) {
				return false, err
			}
		}
		return true, err
	})
	if err != nil {
		t.Errorf("interface %s is left: %v", f.linkOf(t), err)
	}
}

// linkOf returns the interface of the node, from the range of its Pods.
func (f *Federation) linkOf(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(f.folder, "nodes", "a-containers-0", "cni", "bridge.conflist"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(content), "10.213.")
	number, _, _ := strings.Cut(rest, ".")
	return containers.LinkPrefix + number
}

// runPod waits until a Pod is ready and returns it.
func runPod(t *testing.T, clients kubernetes.Interface, name string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(1)),
			Containers: []corev1.Container{{
				Name: "app", Image: TestImage,
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}},
			}},
		},
	}
	pods := clients.CoreV1().Pods(metav1.NamespaceDefault)
	if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var found *corev1.Pod
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (ready bool, err error) {
			found, err = pods.Get(ctx, name, metav1.GetOptions{})
			return err == nil && node.IsReady(found), err
		})
	if err != nil {
		t.Fatalf("Pod %s is not ready: %v\n%+v", name, err, found.Status)
	}
	return found
}

// TestContainerNode runs a Pod on a node, kills the node without warning, starts it again and runs another Pod.
// Afterwards nothing of the node is left on this machine.
func TestContainerNode(t *testing.T) {
	cell := Cell{Name: "a", City: "A", Containers: 1}
	f := startContainerCell(t, cell)
	config, err := f.Config(planeCell+cell.Name, Admin)
	if err != nil {
		t.Fatal(err)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	pod := runPod(t, clients, "first")
	checkAnswers(t, pod)
	log, err := clients.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(t.Context())
	if err != nil || !strings.Contains(string(log), "serves at :8080") {
		t.Errorf("the log is %q: %v", log, err)
	}
	checkPolicies(t, clients, pod)
	process := ContainerNodeProcess(cell.ContainerNode(0))
	if err := f.KillProcess(process); err != nil {
		t.Fatal(err)
	}
	if err := f.removeContainerNodes(); err != nil {
		t.Fatal(err)
	}
	checkNothingLeft(t, f, cell)
	begin := time.Now()
	if err := f.startContainerNode(t.Context(), cell, 0); err != nil {
		t.Fatal(err)
	}
	t.Logf("the node was Ready after %s", time.Since(begin))
	checkAnswers(t, runPod(t, clients, "second"))
}

// checkPolicies verifies that a policy keeps other Pods from a Pod, and that another policy admits one of them.
func checkPolicies(t *testing.T, clients kubernetes.Interface, pod *corev1.Pod) {
	t.Helper()
	peer := runPod(t, clients, "peer")
	wantReached := func(want bool) {
		t.Helper()
		err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
			answer, err := ask(ctx, peer.Status.PodIP+":8080/get?url=http://"+pod.Status.PodIP+":8080/")
			return strings.Contains(answer, pod.Name) == want, err
		})
		if err != nil {
			t.Errorf("Pod %s does not come to reach Pod %s, %t: %v", peer.Name, pod.Name, want, err)
		}
	}
	wantReached(true)
	policies := clients.NetworkingV1().NetworkPolicies(pod.Namespace)
	policy := &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "deny"},
		Spec:       networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}},
	}
	if _, err := policies.Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	wantReached(false)
	checkAnswers(t, pod) // this machine may, as probes may
	policy.Name = "admit"
	policy.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{
		From:  []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"name": peer.Name}}}},
		Ports: []networkingv1.NetworkPolicyPort{{Port: new(intstr.FromInt32(8080))}},
	}}
	if _, err := policies.Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	wantReached(true)
}

// checkAnswers asks a Pod at its address.
func checkAnswers(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://%s:8080/", pod.Status.PodIP), nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if content, err := io.ReadAll(response.Body); err != nil || strings.TrimSpace(string(content)) != pod.Name {
		t.Errorf("Pod %s answers %q: %v", pod.Name, content, err)
	}
}
