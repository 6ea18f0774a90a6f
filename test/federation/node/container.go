// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// startRetry is how long a container that could not start waits before it tries again. A change of a ConfigMap or
// Secret of its Pod makes it try at once.
const startRetry = 2 * time.Second

// forgiveness is how long a container must run until its restarts are reset, as a multiple of the longest backoff, as
// in kubelet.
const forgiveness = 2

// container is a container of a Pod: one process at a time.
type container struct {
	pod     *pod
	name    string
	spec    *corev1.Container
	backoff time.Duration
	// restarts asks the running process to end, for a reason, so that another is started.
	restarts chan string

	// Guarded by pod.mu.
	state, last    corev1.ContainerState
	ready, started bool
	restartCount   int32
	pid            int
}

// newContainer returns a container that waits. If the API has a status of it, an earlier process of the node has run
// it.
func newContainer(p *pod, spec *corev1.Container, statuses []corev1.ContainerStatus) *container {
	c := &container{pod: p, name: spec.Name, spec: spec, restarts: make(chan string, 1)}
	c.state.Waiting = &corev1.ContainerStateWaiting{Reason: reasonCreating}
	for _, status := range statuses {
		if status.Name != spec.Name {
			continue
		}
		c.restartCount, c.last = status.RestartCount, status.LastTerminationState
		if status.State.Running == nil && status.State.Terminated == nil {
			continue
		}
		c.restartCount++
		c.last = corev1.ContainerState{Terminated: status.State.Terminated}
		if c.last.Terminated == nil {
			c.last.Terminated = &corev1.ContainerStateTerminated{
				ExitCode: 137, Reason: "ContainerStatusUnknown", Message: "the node ended, and its processes with it",
				StartedAt: status.State.Running.StartedAt, FinishedAt: metav1.Now(), ContainerID: status.ContainerID,
			}
		}
	}
	return c
}

// set changes the state under the Pod's lock and triggers a report.
func (c *container) set(change func()) {
	c.pod.mu.Lock()
	change()
	c.pod.mu.Unlock()
	c.pod.dirty.raise()
}

// wait sets the reason why the container waits.
func (c *container) wait(reason, message string) {
	c.set(func() {
		if c.state.Terminated != nil {
			c.last = c.state
		}
		c.state = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	})
}

// restart asks the running process to end.
func (c *container) restart(why string) {
	select {
	case c.restarts <- why:
	default: // it is asked already
	}
}

// run runs the container until the Pod has to end.
func (c *container) run() {
	for {
		p := c.start()
		if p == nil {
			return
		}
		c.serve(p)
		if c.pod.stopping.Err() != nil || !c.backOff(time.Since(p.started)) {
			return
		}
		c.set(func() { c.restartCount++ })
	}
}

// backOff waits before a restart: not before the first, then twice as long each time. It returns false if the Pod has
// to end.
func (c *container) backOff(ran time.Duration) bool {
	options := &c.pod.node.options
	if ran > forgiveness*options.MaxBackoff {
		c.backoff = 0
	}
	delay := c.backoff
	c.backoff = min(max(options.InitialBackoff, 2*c.backoff), options.MaxBackoff)
	if delay == 0 {
		return true
	}
	message := fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", delay, c.name, c.pod.name)
	c.wait(reasonBackoff, message)
	c.pod.node.warn(c.pod.current(), "BackOff", message)
	return sleep(c.pod.stopping, time.Now().Add(delay), nil)
}

// start starts the process, as soon as that is possible. It returns nil if the Pod has to end before that.
func (c *container) start() *process {
	said := ""
	for {
		if c.pod.stopping.Err() != nil {
			return nil
		}
		p, reason, err := c.tryStart()
		if err == nil {
			c.set(func() {
				if c.state.Terminated != nil {
					c.last = c.state
				}
				c.pid = p.pid()
				c.state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(p.started)}}
			})
			return p
		}
		c.wait(reason, err.Error())
		if said != err.Error() {
			said = err.Error()
			c.pod.node.warn(c.pod.current(), reason, fmt.Sprintf("container %s: %s", c.name, said))
		}
		if !sleep(c.pod.stopping, time.Now().Add(startRetry), c.pod.retry) {
			return nil
		}
	}
}

// tryStart starts the process. On an error it returns the reason too.
func (c *container) tryStart() (*process, string, error) {
	binary, err := c.pod.node.options.binary(c.spec.Image)
	if err != nil {
		return nil, reasonImage, err
	}
	prog := program{path: binary, folder: filepath.Join(c.pod.folder, "containers", c.name), log: c.log()}
	if err := os.MkdirAll(prog.folder, 0o700); err != nil {
		return nil, reasonConfig, err
	}
	m := c.pod.mounts(c.spec)
	env, err := c.environment(prog.folder)
	if err != nil {
		return nil, reasonConfig, err
	}
	for _, one := range c.spec.Args {
		prog.args = append(prog.args, m.rewrite(expand(one, env)))
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		prog.env = append(prog.env, name+"="+m.rewrite(env[name]))
	}
	started, err := c.pod.node.starter.start(prog)
	return started, reasonStart, err
}

// log returns the path of the container's log.
func (c *container) log() string {
	p := c.pod
	return filepath.Join(p.node.options.Logs, fmt.Sprintf("%s_%s_%s_%s.log", p.node.options.Name, p.name.Namespace, p.name.Name, c.name))
}

// serve probes the process until it ends, on its own or because it must.
func (c *container) serve(p *process) {
	probes, cancel := context.WithCancel(context.Background())
	probing := c.probe(probes)
	why := ""
	select {
	case <-p.ended:
	case <-c.pod.stopping.Done():
		c.end(p, c.pod.killing)
	case why = <-c.restarts:
		c.pod.node.warn(c.pod.current(), "Killing", fmt.Sprintf("container %s %s, it is restarted", c.name, why))
		kill, cancel := context.WithTimeout(c.pod.killing, c.pod.grace())
		c.end(p, kill)
		cancel()
	}
	cancel()
	probing.Wait()
	select {
	case <-c.restarts: // it was for this process
	default:
	}
	code, signal := p.exit()
	terminated := &corev1.ContainerStateTerminated{
		ExitCode: code, Signal: signal, Reason: "Completed", Message: why, ContainerID: containerID(p.pid()),
		StartedAt: metav1.NewTime(p.started), FinishedAt: metav1.Now(),
	}
	if code != 0 {
		terminated.Reason = "Error"
	}
	c.set(func() {
		c.state = corev1.ContainerState{Terminated: terminated}
		c.ready, c.started, c.pid = false, false, 0
	})
}

func (c *container) end(p *process, kill context.Context) {
	if err := p.end(kill); err != nil {
		c.pod.node.warn(c.pod.current(), "FailedKillPod", err.Error())
	}
}

// containerID returns an ID that identifies the process.
func containerID(pid int) string { return fmt.Sprintf("process://%d", pid) }
