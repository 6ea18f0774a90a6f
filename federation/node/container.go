// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// startRetry is how long a container that could not start waits before it tries again. A change of a ConfigMap or Secret of its Pod
// makes it try at once.
const startRetry = 2 * time.Second

// forgiveness is how long a container must run until its restarts are reset, as a multiple of the longest backoff, as in kubelet.
const forgiveness = 2

// container is a container of a Pod: one process at a time.
type container struct {
	pod     *pod
	name    string
	spec    atomic.Pointer[corev1.Container]
	backoff time.Duration
	// restarts asks the running process to end, so that another is started.
	restarts chan restart

	// Guarded by pod.mu.
	state, last    corev1.ContainerState
	ready, started bool
	over           bool // it is not restarted any more
	restartCount   int32
	pid            int
}

// restart is the reason why a process must end, and its grace period if that is not the Pod's.
type restart struct {
	why   string
	grace *int64
}

// newContainer returns a container that waits. If the API has a status of it, an earlier process of the node has run it.
func newContainer(p *pod, spec *corev1.Container, statuses []corev1.ContainerStatus) *container {
	c := &container{pod: p, name: spec.Name, restarts: make(chan restart, 1)}
	c.spec.Store(spec)
	c.state.Waiting = &corev1.ContainerStateWaiting{Reason: reasonCreating}
	if len(p.object.Spec.InitContainers) > 0 {
		c.state.Waiting.Reason = reasonInitPending
	}
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
func (c *container) restart(why string, grace *int64) {
	select {
	case c.restarts <- restart{why, grace}:
	default: // it is asked already
	}
}

// run runs the container until it must not be restarted or the Pod has to end. It returns whether its process has succeeded.
func (c *container) run() bool {
	defer c.set(func() { c.over = true })
	return c.runAgain()
}

func (c *container) runAgain() bool {
	for {
		p := c.start()
		if p == nil {
			return false
		}
		code := c.serve(p)
		if c.pod.stopping.Err() != nil || !c.restartsAfter(code) {
			return code == 0
		}
		if !c.backOff(time.Since(p.started)) {
			return false
		}
		c.set(func() { c.restartCount++ })
	}
}

func (c *container) restartsAfter(code int32) bool {
	policy := c.pod.current().Spec.RestartPolicy
	if c.isInit() && policy == corev1.RestartPolicyAlways {
		policy = corev1.RestartPolicyOnFailure
	}
	return policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && code != 0
}

func (c *container) isInit() bool {
	return slices.Contains(c.pod.init, c)
}

// backOff waits before a restart: not before the first, then twice as long each time. It returns false if the Pod has to end.
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
	spec := c.spec.Load()
	options := &c.pod.node.options
	binary, err := options.binary(spec.Image)
	if err != nil {
		return nil, reasonImage, err
	}
	prog := program{path: binary, folder: filepath.Join(c.pod.folder, "containers", spec.Name), log: c.log()}
	if err := errors.Join(os.MkdirAll(prog.folder, 0o700), c.pod.makeSubPaths(spec)); err != nil {
		return nil, reasonConfig, err
	}
	m := c.pod.mounts(spec)
	env, err := c.pod.environment(spec, c.pod.baseVariables(prog.folder, m))
	if err != nil {
		return nil, reasonConfig, err
	}
	var command, args []string
	for _, one := range spec.Command {
		command = append(command, m.rewrite(expand(one, env.get)))
	}
	for _, one := range spec.Args {
		args = append(args, m.rewrite(expand(one, env.get)))
	}
	if prog.args, err = arguments(binary, command, args); err != nil {
		return nil, reasonStart, err
	}
	if spec.WorkingDir != "" {
		prog.folder = m.rewrite(filepath.Clean(spec.WorkingDir))
	}
	prog.env = env.list(m)
	started, err := c.pod.node.starter.start(prog)
	return started, reasonStart, err
}

// log returns the path of the container's log.
func (c *container) log() string {
	p := c.pod
	return filepath.Join(p.node.options.Logs, fmt.Sprintf("%s_%s_%s_%s.log", p.node.options.Name, p.name.Namespace, p.name.Name, c.name))
}

// serve probes the process until it ends, on its own or because it must, and returns its exit code.
func (c *container) serve(p *process) int32 {
	probes, cancel := context.WithCancel(context.Background())
	probing := c.probe(probes)
	why := ""
	select {
	case <-p.ended:
	case <-c.pod.stopping.Done():
		c.preStop(p)
		c.end(p, c.pod.killing)
	case restart := <-c.restarts:
		why = restart.why
		c.pod.node.warn(c.pod.current(), "Killing", fmt.Sprintf("container %s %s, it is restarted", c.name, why))
		c.endWithin(p, restart.grace)
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
		if why == "" && c.spec.Load().TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError {
			terminated.Message = tail(c.log())
		}
	}
	c.set(func() {
		c.state = corev1.ContainerState{Terminated: terminated}
		c.ready, c.started, c.pid = false, false, 0
	})
	return code
}

// tail returns the end of a log, as long as Kubernetes shows for a container that has failed.
func tail(path string) string {
	const length = 2048
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() > length {
		_, _ = file.Seek(-length, io.SeekEnd) // otherwise it is the beginning that is shown
	}
	text, err := io.ReadAll(io.LimitReader(file, length))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// preStop runs the container's wait before SIGTERM, limited by the grace period.
func (c *container) preStop(p *process) {
	lifecycle := c.spec.Load().Lifecycle
	if lifecycle == nil || lifecycle.PreStop == nil || lifecycle.PreStop.Sleep == nil {
		return
	}
	select {
	case <-time.After(time.Duration(lifecycle.PreStop.Sleep.Seconds) * time.Second):
	case <-p.ended:
	case <-c.pod.killing.Done():
	}
}

// endWithin ends the process within a grace period in seconds, or the Pod's.
func (c *container) endWithin(p *process, grace *int64) {
	if grace == nil {
		grace = c.pod.current().Spec.TerminationGracePeriodSeconds
	}
	seconds := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if grace != nil {
		seconds = *grace
	}
	kill, cancel := context.WithTimeout(c.pod.killing, time.Duration(seconds)*time.Second)
	defer cancel()
	c.end(p, kill)
}

func (c *container) end(p *process, kill context.Context) {
	if err := p.end(kill); err != nil {
		c.pod.node.warn(c.pod.current(), "FailedKillPod", err.Error())
	}
}

// containerID returns an ID that identifies the process.
func containerID(pid int) string { return fmt.Sprintf("process://%d", pid) }
