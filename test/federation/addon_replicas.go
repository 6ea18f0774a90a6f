// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/karmada-compute/karmada-compute/test/federation/node"
)

const (
	deploymentName = "karmada-compute"
	// replicaLabels select the Pods of the Deployment: Pods that serve webhooks only are not among them.
	replicaLabels = "app.kubernetes.io/name=karmada-compute,app.kubernetes.io/component=karmada-compute"
	// streamLabels select the Pods that carry the streams of sessions.
	streamLabels = "app.kubernetes.io/name=karmada-compute,app.kubernetes.io/component=sessions"
	// hashLabel is a label of a Deployment's Pods. Pods that StartAlone creates do not have it.
	hashLabel = "pod-template-hash"
	// deletionCost marks the Pod that is deleted first when its Deployment is scaled down.
	deletionCost = "controller.kubernetes.io/pod-deletion-cost"
	podInterval  = 50 * time.Millisecond
)

// Ports of the Pods, as in the chart.
const (
	webhookPort = "9443"
	metricsPort = "8080"
)

// replica is the Pod of one of the replicas; the name is empty while the replica is stopped.
type replica struct {
	pod, address string
	pid          int
	// alone marks a Pod without a Deployment, with its own arguments.
	alone bool
	// stopped replicas are not counted in the Deployment.
	stopped bool
}

// Replicas returns the number of replicas of the hub binary.
func (a *AddOn) Replicas() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.replicas)
}

// Start starts replica i, counted from 0, and waits until it is ready. With args the replica is a separate Pod, with
// these arguments added to or overriding the Deployment's.
func (a *AddOn) Start(ctx context.Context, i int, args ...string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.check(i); err != nil {
		return err
	}
	if len(args) > 0 {
		return a.startAlone(ctx, i, args)
	}
	if a.replicas[i].stopped {
		a.replicas[i] = replica{}
		if err := a.scale(ctx); err != nil {
			return err
		}
	}
	return a.find(ctx)
}

// Stop ends replica i gracefully and waits until its Pod is deleted.
func (a *AddOn) Stop(ctx context.Context, i int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.check(i); err != nil {
		return err
	}
	if a.replicas[i].stopped {
		return nil
	}
	// A killed replica is found again first.
	if a.replicas[i].pod == "" {
		if err := a.find(ctx); err != nil {
			return err
		}
	}
	stopping := a.replicas[i]
	a.replicas[i] = replica{stopped: true}
	if stopping.alone {
		return a.deletePod(ctx, stopping.pod, nil)
	}
	if err := a.mark(ctx, stopping.pod); err != nil {
		return err
	}
	if err := a.scale(ctx); err != nil {
		return err
	}
	return errors.Join(a.waitGone(ctx, stopping.pod), a.find(ctx))
}

// Restart ends replica i gracefully, as an eviction does, and waits until its Deployment has replaced it.
func (a *AddOn) Restart(ctx context.Context, i int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.check(i); err != nil {
		return err
	}
	if before := a.replicas[i]; !before.stopped && !before.alone {
		a.replicas[i] = replica{}
		return errors.Join(a.deletePod(ctx, before.pod, nil), a.find(ctx))
	}
	return fmt.Errorf("replica %d is not one of the Deployment: start it first", i)
}

// RestartStreams ends the Pods that carry the streams of sessions gracefully, one after the other, and waits until each
// is replaced.
func (a *AddOn) RestartStreams(ctx context.Context) error {
	list := func(ctx context.Context) ([]corev1.Pod, error) {
		pods, err := a.host.CoreV1().Pods(karmadaSystem).List(ctx, metav1.ListOptions{LabelSelector: streamLabels})
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil || !node.IsReady(&pod) }), nil
	}
	before, err := list(ctx)
	if err == nil && len(before) == 0 {
		err = errors.New("no Pod carries streams: offer sessions first")
	}
	if err != nil {
		return err
	}
	for i := range before {
		if err := a.deletePod(ctx, before[i].Name, nil); err != nil {
			return err
		}
		if err := await(ctx, podInterval, func(ctx context.Context) error {
			if now, err := list(ctx); err != nil || len(now) < len(before) {
				return errors.Join(err, fmt.Errorf("%d of %d Pods carry streams", len(now), len(before)))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// Kill ends replica i without warning. Its Deployment replaces it; Start waits for that. The error is ErrNotRunning if
// its process had ended before.
func (a *AddOn) Kill(ctx context.Context, i int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.check(i); err != nil {
		return err
	}
	killed := a.replicas[i]
	a.replicas[i] = replica{}
	started, ended, err := processStat(killed.pid)
	if killed.pid == 0 || err != nil || ended {
		return fmt.Errorf("replica %d: %w", i, ErrNotRunning)
	}
	at := int64(0)
	if err := a.deletePod(ctx, killed.pod, &at); err != nil {
		return err
	}
	// The Pod object is deleted at once; its process takes a moment longer.
	process := record{Name: killed.pod, PID: killed.pid, StartTime: started}
	return wait.PollUntilContextTimeout(ctx, goneInterval, killTimeout, true, func(context.Context) (bool, error) {
		return !process.alive(), nil
	})
}

func (a *AddOn) check(i int) error {
	if i < 0 || i >= len(a.replicas) {
		return fmt.Errorf("the add-on has no replica %d: there are %d, counted from 0", i, len(a.replicas))
	}
	return nil
}

// startAlone creates a Pod from the Deployment's template that the webhooks' Service finds too.
func (a *AddOn) startAlone(ctx context.Context, i int, args []string) error {
	deployment, err := a.host.AppsV1().Deployments(karmadaSystem).Get(ctx, deploymentName, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read the add-on's Deployment: %w", err)
	}
	template := deployment.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.GenerateName = deploymentName + "-alone-"
	for c := range pod.Spec.Containers {
		pod.Spec.Containers[c].Args = override(pod.Spec.Containers[c].Args, args)
	}
	created, err := a.host.CoreV1().Pods(karmadaSystem).Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create replica %d: %w", i, err)
	}
	a.replicas[i] = replica{pod: created.Name, alone: true}
	return a.find(ctx)
}

// override replaces flags with the same name: a list flag that is given twice would have both values.
func override(args, by []string) []string {
	kept := slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.ContainsFunc(by, func(other string) bool { return strings.HasPrefix(other, name+"=") })
	})
	return append(kept, by...)
}

// mark marks a Pod as the first to be deleted.
func (a *AddOn) mark(ctx context.Context, pod string) error {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"-1000"}}}`, deletionCost)
	_, err := a.host.CoreV1().Pods(karmadaSystem).Patch(ctx, pod, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("mark Pod %s to be deleted: %w", pod, err)
	}
	return nil
}

// scale scales the Deployment to the number of replicas that are neither stopped nor alone.
func (a *AddOn) scale(ctx context.Context) error {
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: karmadaSystem, Name: deploymentName},
		Spec:       autoscalingv1.ScaleSpec{Replicas: int32(a.managed())}, //nolint:gosec // a handful
	}
	if _, err := a.host.AppsV1().Deployments(karmadaSystem).UpdateScale(ctx, deploymentName, scale, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("scale the add-on's Deployment to %d: %w", scale.Spec.Replicas, err)
	}
	return nil
}

// managed counts the replicas of the Deployment.
func (a *AddOn) managed() int {
	count := 0
	for _, r := range a.replicas {
		if !r.stopped && !r.alone {
			count++
		}
	}
	return count
}

// findReplicas resets the replicas and finds the Deployment's Pods.
func (a *AddOn) findReplicas(ctx context.Context) error {
	a.replicas = make([]replica, a.options.Replicas)
	return a.find(ctx)
}

// find waits until every replica that should run is ready, and assigns a free Pod to each replica without one.
func (a *AddOn) find(ctx context.Context) error {
	err := await(ctx, podInterval, func(ctx context.Context) error {
		pods, err := a.host.CoreV1().Pods(karmadaSystem).List(ctx, metav1.ListOptions{LabelSelector: replicaLabels})
		if err != nil {
			return err
		}
		return a.assign(pods.Items)
	})
	if err != nil {
		return fmt.Errorf("the add-on's replicas: %w", err)
	}
	return nil
}

// assign assigns a ready Pod to every replica. It returns an error about a missing one.
func (a *AddOn) assign(pods []corev1.Pod) error {
	ready := map[string]replica{}
	var free []string
	for i := range pods {
		pod := &pods[i]
		_, managed := pod.Labels[hashLabel]
		if pod.DeletionTimestamp != nil || !node.IsReady(pod) {
			continue
		}
		ready[pod.Name] = replica{address: processAddress(pod.Status.PodIP), pid: processOf(pod)}
		taken := slices.ContainsFunc(a.replicas, func(r replica) bool { return r.pod == pod.Name })
		if managed && !taken {
			free = append(free, pod.Name)
		}
	}
	slices.Sort(free)
	for i := range a.replicas {
		r := &a.replicas[i]
		if r.stopped {
			continue
		}
		if _, isReady := ready[r.pod]; !isReady && !r.alone && len(free) > 0 {
			r.pod, free = free[0], free[1:]
		}
		found, isReady := ready[r.pod]
		if !isReady {
			return fmt.Errorf("replica %d is not ready", i)
		}
		r.address, r.pid = found.address, found.pid
	}
	return nil
}

// processAddress returns the address on which the processes of a Pod listen: on this machine's loopback (see package
// node).
func processAddress(podIP string) string {
	_, rest, _ := strings.Cut(podIP, ".")
	return "127." + rest
}

// processOf returns the process id of a Pod's container, or 0.
func processOf(pod *corev1.Pod) int {
	if len(pod.Status.ContainerStatuses) == 0 {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimPrefix(pod.Status.ContainerStatuses[0].ContainerID, "process://"))
	if err != nil {
		return 0
	}
	return pid
}

func (a *AddOn) deletePod(ctx context.Context, name string, grace *int64) error {
	err := a.host.CoreV1().Pods(karmadaSystem).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: grace})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete Pod %s: %w", name, err)
	}
	return a.waitGone(ctx, name)
}

func (a *AddOn) waitGone(ctx context.Context, name string) error {
	err := wait.PollUntilContextTimeout(ctx, podInterval, ReadyTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := a.host.CoreV1().Pods(karmadaSystem).Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		return fmt.Errorf("pod %s does not end: %w", name, err)
	}
	return nil
}

func (a *AddOn) replica(i int) (replica, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.check(i); err != nil {
		return replica{}, err
	}
	return a.replicas[i], nil
}

func (a *AddOn) replicaAddress(i int, port string) (string, error) {
	r, err := a.replica(i)
	if err == nil && r.address == "" {
		err = fmt.Errorf("replica %d does not run", i)
	}
	return net.JoinHostPort(r.address, port), err
}

// ProcessID returns the process id of replica i, or 0 while it does not run.
func (a *AddOn) ProcessID(i int) (int, error) {
	r, err := a.replica(i)
	return r.pid, err
}

// ReplicaName returns the holder identity of replica i in Leases: the name of its Pod.
func (a *AddOn) ReplicaName(i int) (string, error) {
	r, err := a.replica(i)
	return r.pod, err
}

// WebhookAddress returns the address at which a replica serves its webhooks.
func (a *AddOn) WebhookAddress(i int) (string, error) { return a.replicaAddress(i, webhookPort) }

// MetricsAddress returns the address at which a replica serves its metrics.
func (a *AddOn) MetricsAddress(i int) (string, error) { return a.replicaAddress(i, metricsPort) }
