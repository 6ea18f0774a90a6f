// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Reasons for which a container waits.
const (
	reasonCreating    = "ContainerCreating"
	reasonUnsupported = "Unsupported"
	reasonImage       = "ErrImagePull"
	reasonConfig      = "CreateContainerConfigError"
	reasonStart       = "RunContainerError"
	reasonBackoff     = "CrashLoopBackOff"
)

// pod is a Pod that is bound to the node, until its object is deleted and its processes are gone.
type pod struct {
	node    *node
	name    types.NamespacedName
	uid     types.UID
	folder  string
	address *Address

	// sources is set before the first container starts.
	sources *sources
	// tokens and access are used by one goroutine: the one that writes the volumes.
	tokens map[string]issuedToken
	access *bool

	// stopping ends when the processes must end, killing when they must have ended.
	stopping, killing context.Context
	stop, kill        context.CancelFunc
	// ended is closed when all processes have ended.
	ended chan struct{}
	// dirty triggers a report of the status, retry another attempt of containers that wait for a ConfigMap or a Secret.
	dirty wakeup
	retry wakeup

	mu         sync.Mutex // guards the fields below, and the state of the containers
	object     *corev1.Pod
	containers []*container
	prepared   bool // the volumes are written
	deadline   *time.Timer
	conditions []corev1.PodCondition
	startTime  time.Time
}

// newPod prepares a Pod. run starts it.
func (n *node) newPod(object *corev1.Pod) (*pod, error) {
	address, err := reserveAddress()
	if err != nil {
		return nil, err
	}
	p := &pod{
		node: n, name: types.NamespacedName{Namespace: object.Namespace, Name: object.Name}, uid: object.UID,
		folder: filepath.Join(n.podsFolder(), string(object.UID)), address: address, tokens: map[string]issuedToken{},
		ended: make(chan struct{}), dirty: newWakeup(), retry: newWakeup(), object: object, startTime: time.Now(),
	}
	// Not of a caller's context: processes end when the Pod is deleted, or when the node ends, with a grace period.
	p.stopping, p.stop = context.WithCancel(context.Background())
	p.killing, p.kill = context.WithCancel(context.Background())
	for i := range object.Spec.Containers {
		p.containers = append(p.containers, newContainer(p, &object.Spec.Containers[i], object.Status.ContainerStatuses))
	}
	return p, os.MkdirAll(p.folder, 0o700)
}

// current returns the Pod from the API. It must not be changed.
func (p *pod) current() *corev1.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.object
}

// grace returns the grace period of the Pod.
func (p *pod) grace() time.Duration {
	return time.Duration(ptr.Deref(p.current().Spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)) * time.Second
}

// update applies a changed object.
func (p *pod) update(object *corev1.Pod) {
	p.mu.Lock()
	p.object = object
	p.mu.Unlock()
	p.retry.raise()
	p.dirty.raise()
}

// end ends the processes within a grace period, or earlier if an earlier call has set an earlier end. It does not wait.
func (p *pod) end(grace time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop()
	if p.deadline != nil {
		p.deadline.Stop()
	}
	p.deadline = time.AfterFunc(grace, p.kill)
}

// run runs the Pod until it has ended.
func (p *pod) run() {
	defer close(p.ended)
	defer p.kill()
	if err := unsupported(p.current()); err != nil {
		p.wait(reasonUnsupported, err)
		p.node.warn(p.current(), reasonUnsupported, err.Error())
		<-p.stopping.Done()
		return
	}
	var volumes sync.WaitGroup
	defer volumes.Wait()
	// Volumes are kept up to date while processes end, too.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if !p.keepVolumes(ctx, &volumes) {
		return
	}
	p.mu.Lock()
	p.prepared = true
	p.mu.Unlock()
	p.dirty.raise()
	var containers sync.WaitGroup
	for _, c := range p.containers {
		containers.Go(c.run)
	}
	containers.Wait()
}

// keepVolumes waits until all volumes are written, and starts a goroutine that keeps them up to date. It returns false
// if the Pod has to end before that.
func (p *pod) keepVolumes(ctx context.Context, running *sync.WaitGroup) bool {
	changed := newWakeup()
	p.sources = watchSources(ctx, p.node.client, p.current(), func() {
		changed.raise()
		p.retry.raise()
	})
	written := make(chan struct{})
	running.Go(func() {
		if p.sources.wait(ctx) {
			p.writeAlways(ctx, changed, written)
		}
	})
	select {
	case <-written:
		return true
	case <-p.stopping.Done():
		return false
	}
}

// writeAlways writes the volumes whenever something has changed until ctx ends. It closes written after the first
// success.
func (p *pod) writeAlways(ctx context.Context, changed wakeup, written chan struct{}) {
	first, said := true, ""
	for {
		next, err := p.writeVolumes(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return
		case err != nil:
			next = time.Now().Add(volumeRetry)
			if said != err.Error() {
				said = err.Error()
				p.node.warn(p.current(), "FailedMount", said)
			}
			if first {
				p.wait(reasonCreating, err)
			}
		case first:
			first = false
			close(written)
		}
		if !sleep(ctx, next, changed) {
			return
		}
	}
}

// sleep waits for a time, if it is not zero, or a signal. It returns false when ctx ends before that.
func sleep(ctx context.Context, until time.Time, wake wakeup) bool {
	var timer <-chan time.Time
	if !until.IsZero() {
		timer = time.After(time.Until(until))
	}
	select {
	case <-timer:
	case <-wake:
	case <-ctx.Done():
		return false
	}
	return true
}

// wait sets the reason why the containers of the Pod wait.
func (p *pod) wait(reason string, err error) {
	for _, c := range p.containers {
		c.wait(reason, err.Error())
	}
}

// remove removes the Pod's files from this machine, except its logs.
func (p *pod) remove() error {
	p.address.release()
	return os.RemoveAll(p.folder)
}
