// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRestarts(t *testing.T) {
	f := startNode(t)
	f.create(f.pod("crashes"))
	pod := f.awaitReady("crashes")
	_, _ = f.tryAsk(pod, "/exit?code=3") // it ends without an answer
	pod = f.await("crashes", "Ready again", func(p *corev1.Pod) bool { return ready(p) && p.Status.ContainerStatuses[0].RestartCount == 1 })
	last := pod.Status.ContainerStatuses[0].LastTerminationState.Terminated
	if last == nil || last.ExitCode != 3 || last.Reason != "Error" || last.FinishedAt.IsZero() {
		t.Errorf("last state: %+v", last)
	}
	if err := syscall.Kill(pid(pod), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	f.await("crashes", "backing off", func(p *corev1.Pod) bool { return waits(p, reasonBackoff, "back-off 1s") && !ready(p) })
	pod = f.await("crashes", "Ready again", func(p *corev1.Pod) bool { return ready(p) && p.Status.ContainerStatuses[0].RestartCount == 2 })
	if last := pod.Status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.ExitCode != 137 || last.Signal != 9 {
		t.Errorf("last state: %+v", last)
	}
	log, err := os.ReadFile(filepath.Join(f.options.Folder, "log", f.node+"_"+f.namespace+"_crashes_main.log"))
	if err != nil || strings.Count(string(log), "serving") != 3 {
		t.Errorf("a restart does not append to the log: %s, %v", log, err)
	}
}

func TestReadinessIsCorrected(t *testing.T) {
	f := startNode(t)
	f.create(f.pod("steady"))
	pod := f.awaitReady("steady")
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			c.Status, c.Reason = corev1.ConditionFalse, "NodeNotReady"
		}
	}
	changed, err := f.client.CoreV1().Pods(f.namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if ready(changed) {
		t.Fatal("the condition was not changed")
	}
	f.await("steady", "Ready again", func(p *corev1.Pod) bool { return ready(p) && p.ResourceVersion != changed.ResourceVersion })
}

func TestProbes(t *testing.T) {
	f := startNode(t)
	pod := f.pod("probed")
	c := &pod.Spec.Containers[0]
	c.LivenessProbe = &corev1.Probe{ProbeHandler: get("/livez"), PeriodSeconds: 1, FailureThreshold: 2}
	c.ReadinessProbe.FailureThreshold = 1
	f.create(pod)
	pod = f.awaitReady("probed")
	f.ask(pod, "/unready")
	f.await("probed", "not Ready", func(p *corev1.Pod) bool { return !ready(p) && !holds(p, corev1.ContainersReady) })
	f.ask(pod, "/unhealthy")
	pod = f.await("probed", "restarted", func(p *corev1.Pod) bool { return ready(p) && p.Status.ContainerStatuses[0].RestartCount == 1 })
	if last := pod.Status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil ||
		!strings.Contains(last.Message, "liveness probe") {
		t.Errorf("last state: %+v", last)
	}
}

func TestGracePeriod(t *testing.T) {
	f := startNode(t)
	for _, one := range []struct {
		name  string
		grace []int64
		kill  bool
	}{{"ordinary", nil, false}, {"stubborn", []int64{2}, true}, {"forced", []int64{0}, true}} {
		t.Run(one.name, func(t *testing.T) {
			pod := f.pod(one.name)
			if one.kill {
				pod.Spec.Containers[0].Env = append(pod.Spec.Containers[0].Env, corev1.EnvVar{Name: "IGNORE_SIGTERM", Value: "1"})
			}
			f.create(pod)
			pod = f.awaitReady(one.name)
			begin := time.Now()
			f.delete(one.name, one.grace...)
			f.awaitGone(one.name)
			took := time.Since(begin)
			if one.name == "forced" { // its object goes first
				f.eventually("killed", func(context.Context) (bool, error) { return !runs(pid(pod)), nil })
			}
			if runs(pid(pod)) {
				t.Error("the process outlives the Pod")
			}
			if one.name == "stubborn" && took < 2*time.Second || took > 15*time.Second {
				t.Errorf("the Pod is gone after %s", took)
			}
			f.eventually("removed", func(context.Context) (bool, error) {
				_, err := os.Stat(filepath.Join(f.options.Folder, "pods", string(pod.UID)))
				return os.IsNotExist(err), nil
			})
		})
	}
}

func TestSameNameAgain(t *testing.T) {
	f := startNode(t)
	f.create(f.pod("again"))
	first := f.awaitReady("again")
	f.delete("again", 0)
	f.create(f.pod("again"))
	second := f.awaitReady("again")
	if first.UID == second.UID || pid(first) == pid(second) {
		t.Errorf("Pod %s is the same as %s", first.UID, second.UID)
	}
	f.eventually("killed", func(context.Context) (bool, error) { return !runs(pid(first)), nil })
	if got := f.ask(second, "/env?name=NAME"); got != "" {
		t.Error(got)
	}
}

func TestUnsupported(t *testing.T) {
	f := startNode(t)
	pod := f.pod("unsupported")
	pod.Spec.Volumes = []corev1.Volume{{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
	c := &pod.Spec.Containers[0]
	c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}}
	c.WorkingDir = "/work"
	pod.Spec.InitContainers = []corev1.Container{{Name: "first", Image: image}}
	f.create(pod)
	pod = f.await("unsupported", "said to be unsupported", func(p *corev1.Pod) bool { return p.Status.Reason == reasonUnsupported })
	for _, field := range []string{
		"spec.volumes[host].hostPath", "spec.containers[main].livenessProbe.exec", "spec.containers[main].workingDir", "spec.initContainers",
	} {
		if !strings.Contains(pod.Status.Message, field) || !waits(pod, reasonUnsupported, field) {
			t.Errorf("the status does not tell that %s is not supported: %s", field, pod.Status.Message)
		}
	}
	f.delete("unsupported")
	f.awaitGone("unsupported")
	unknown := f.pod("unknown")
	unknown.Spec.Containers[0].Image = "nginx"
	f.create(unknown)
	f.await("unknown", "said to have no image", func(p *corev1.Pod) bool { return waits(p, reasonImage, "--images=nginx=") })
}

func TestNodeStartsAgain(t *testing.T) {
	f := newFixture(t)
	f.start()
	f.create(f.pod("stays"))
	first := f.awaitReady("stays")
	f.end()
	if err := <-f.ended; err != nil {
		t.Fatal(err)
	}
	if runs(pid(first)) {
		t.Error("a process outlives the node")
	}
	f.start()
	second := f.await("stays", "Ready again", func(p *corev1.Pod) bool { return ready(p) && p.Status.ContainerStatuses[0].RestartCount == 1 })
	if first.UID != second.UID {
		t.Error("the Pod is another one")
	}
	f.end()
	if err := <-f.ended; err != nil {
		t.Fatal(err)
	}
}

// A node that is killed leaves no process, and one that is started in its place runs its Pods.
func TestNodeIsKilled(t *testing.T) {
	f := newFixture(t)
	node := f.startProcess()
	f.create(f.pod("dies"))
	pod := f.awaitReady("dies")
	if err := node.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = node.Wait() // it was killed
	f.eventually("killed with the node", func(context.Context) (bool, error) { return !runs(pid(pod)), nil })
	f.startProcess()
	pod = f.await("dies", "Ready again", func(p *corev1.Pod) bool { return ready(p) && p.Status.ContainerStatuses[0].RestartCount == 1 })
	if last := pod.Status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.Reason != "ContainerStatusUnknown" {
		t.Errorf("last state: %+v", last)
	}
}

func (f *fixture) startProcess() *exec.Cmd {
	f.Helper()
	admin, err := adminKubeconfig(f)
	if err != nil {
		f.Fatal(err)
	}
	cmd := exec.CommandContext(f.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), programVariable+"=node", "NODE_KUBECONFIG="+admin, "NODE_NAME="+f.node, "NODE_FOLDER="+f.options.Folder)
	cmd.Stdout, cmd.Stderr = f.Output(), f.Output()
	if err := cmd.Start(); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}
