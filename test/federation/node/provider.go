// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	vkerrors "github.com/virtual-kubelet/virtual-kubelet/errdefs"
	vknode "github.com/virtual-kubelet/virtual-kubelet/node"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

var (
	_ vknode.PodLifecycleHandler = (*node)(nil)
	_ vknode.PodNotifier         = (*node)(nil)
)

// NotifyPods stores the callback for changes of a status.
func (n *node) NotifyPods(_ context.Context, notify func(*corev1.Pod)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notify = notify
}

func (n *node) report(object *corev1.Pod) {
	n.mu.Lock()
	notify := n.notify
	n.mu.Unlock()
	notify(object)
}

// CreatePod starts a Pod.
func (n *node) CreatePod(_ context.Context, object *corev1.Pod) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ending {
		return errors.New("the node is ending")
	}
	if _, ok := n.known[object.UID]; ok {
		return nil
	}
	p, err := n.newPod(object)
	if err != nil {
		return err
	}
	n.known[object.UID] = p
	removed := make(chan struct{})
	n.running.Go(func() { p.report(removed) })
	n.running.Go(func() {
		defer close(removed)
		p.run()
		n.forget(p)
	})
	p.dirty.raise()
	return nil
}

// forget deletes a Pod that must be deleted and whose processes have ended, and its files on this machine.
func (n *node) forget(p *pod) {
	<-p.stopping.Done() // a Pod that has succeeded or failed stays until it is deleted
	if err := p.remove(); err != nil {
		n.options.Log.Error("the folder of a Pod was not removed", "pod", p.name, "error", err)
	}
	n.mu.Lock()
	ending := n.ending
	n.mu.Unlock()
	if !ending {
		if err := n.deleteObject(p); err != nil {
			// The controller deletes the object, too, when the grace period is over.
			n.options.Log.Warn("the object of a Pod was not deleted", "pod", p.name, "error", err)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.known, p.uid)
}

func (n *node) deleteObject(p *pod) error {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	options := metav1.NewDeleteOptions(0)
	options.Preconditions = metav1.NewUIDPreconditions(string(p.uid))
	err := n.client.CoreV1().Pods(p.name.Namespace).Delete(ctx, p.name.Name, *options)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it is gone, or another one has its name
	}
	return err
}

// UpdatePod applies a changed Pod.
func (n *node) UpdatePod(_ context.Context, object *corev1.Pod) error {
	p, err := n.find(object.Namespace, object.Name)
	if err != nil {
		return err
	}
	p.update(object)
	return nil
}

// DeletePod ends a Pod within its grace period, or at once if its object is gone. It does not wait.
func (n *node) DeletePod(_ context.Context, object *corev1.Pod) error {
	n.mu.Lock()
	p, ok := n.known[object.UID]
	n.mu.Unlock()
	if !ok {
		return vkerrors.NotFound("the Pod does not run on this node")
	}
	n.end(p, object)
	return nil
}

func (n *node) end(p *pod, object *corev1.Pod) {
	grace := time.Duration(0)
	latest, err := n.pods.Pods(p.name.Namespace).Get(p.name.Name)
	if err == nil && latest.UID == p.uid && object.DeletionGracePeriodSeconds != nil {
		grace = time.Duration(*object.DeletionGracePeriodSeconds) * time.Second
	}
	p.end(grace)
}

// GetPod returns a Pod of this node with its status.
func (n *node) GetPod(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	p, err := n.find(namespace, name)
	if err != nil {
		return nil, err
	}
	return p.current().DeepCopy(), nil
}

// find returns the Pod with a name. If a Pod was deleted and recreated with the same name, find returns the new one and
// ends the processes of the old one.
func (n *node) find(namespace, name string) (*pod, error) {
	latest, err := n.pods.Pods(namespace).Get(name)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for uid, p := range n.known {
		switch {
		case p.name.Namespace != namespace || p.name.Name != name:
		case latest == nil || uid == latest.UID:
			return p, nil
		default:
			p.end(0)
		}
	}
	return nil, vkerrors.NotFound(fmt.Sprintf("Pod %s/%s does not run on this node", namespace, name))
}

// GetPodStatus returns the status of a Pod of this node.
func (n *node) GetPodStatus(_ context.Context, namespace, name string) (*corev1.PodStatus, error) {
	p, err := n.find(namespace, name)
	if err != nil {
		return nil, err
	}
	return &p.reported().Status, nil
}

// GetPods returns the Pods of this node.
func (n *node) GetPods(context.Context) ([]*corev1.Pod, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var objects []*corev1.Pod
	for _, p := range n.known {
		objects = append(objects, p.current().DeepCopy())
	}
	return objects, nil
}

// patientPods is a client whose Delete first waits until the processes of the Pod have ended: the controller deletes an
// object when the grace period is over, or when no container runs.
type patientPods struct{ node *node }

// Pods returns the client of a namespace.
func (c patientPods) Pods(namespace string) corev1client.PodInterface {
	return patientNamespace{c.node.client.CoreV1().Pods(namespace), c.node}
}

type patientNamespace struct {
	corev1client.PodInterface
	node *node
}

// Delete ends the processes of a Pod and deletes its object.
func (c patientNamespace) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	if options.Preconditions != nil && options.Preconditions.UID != nil {
		c.node.mu.Lock()
		p, ok := c.node.known[*options.Preconditions.UID]
		c.node.mu.Unlock()
		if ok {
			if p.stopping.Err() == nil {
				c.node.end(p, p.current())
			}
			select {
			case <-p.ended:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return c.PodInterface.Delete(ctx, name, options)
}
