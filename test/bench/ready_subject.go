// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/policies"
	"github.com/karmada-compute/karmada-compute/test/federation"
)

// readyNamespace is the namespace of the floor's objects on the hub and in the cell.
const readyNamespace = "bench-ready"

var (
	namespaceResource   = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	statefulSetResource = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	policyResource      = schema.GroupVersionResource{Group: policyv1alpha1.GroupName, Version: "v1alpha1", Resource: "propagationpolicies"}
	instanceResource    = v1alpha.GroupVersion.WithResource("instances")
)

// readySubject is a kind of object whose time until Ready is measured.
type readySubject struct {
	name  string
	stage *stage
	// made creates the objects, and shown has the objects that show that they are Ready.
	made, shown dynamic.ResourceInterface
	// object returns an object with a name.
	object func(name string) (*unstructured.Unstructured, error)
	// ready returns the name of the object that is Ready according to shown, or "".
	ready func(shown *unstructured.Unstructured) string
}

// openReady prepares the hub for the floor, and returns the floor and the add-on's subjects, without and with a Service. The city's policy
// propagates the floor.
func (s *stage) openReady(ctx context.Context, of policies.City) ([]*readySubject, error) {
	if err := s.findAgents(ctx); err != nil {
		return nil, err
	}
	hub, err := s.client(hubPlane, federation.Admin)
	if err != nil {
		return nil, err
	}
	asConsumer, err := s.client(plane, consumer)
	if err != nil {
		return nil, err
	}
	watcher, err := s.client(plane, federation.Admin)
	if err != nil {
		return nil, err
	}
	if _, err := hub.Resource(namespaceResource).Create(ctx, object("v1", "Namespace", readyNamespace, map[string]any{}),
		metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	policy := policies.CityPolicy(readyNamespace, of)
	policy.Spec.ResourceSelectors = []policyv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: readyNamespace}}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(policy)
	if err != nil {
		return nil, err
	}
	applied := object(policyv1alpha1.GroupVersion.String(), "PropagationPolicy", policy.Name, fields)
	if _, err := hub.Resource(policyResource).Namespace(readyNamespace).Create(ctx, applied, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	sets := hub.Resource(statefulSetResource).Namespace(readyNamespace)
	return []*readySubject{
		{name: "floor: StatefulSet", stage: s, made: sets, shown: sets, object: newStatefulSet, ready: readySet},
		{
			name: "Workload", stage: s, made: asConsumer.Resource(workloadResource).Namespace(namespace),
			shown: watcher.Resource(instanceResource).Namespace(namespace), object: newWorkload, ready: readyInstance,
		},
		{
			name: "Workload with spec.service", stage: s, made: asConsumer.Resource(workloadResource).Namespace(namespace),
			shown: watcher.Resource(instanceResource).Namespace(namespace), object: newServed, ready: readyServed,
		},
	}, nil
}

func newStatefulSet(name string) (*unstructured.Unstructured, error) {
	labels := map[string]any{"app": name}
	o := object("apps/v1", "StatefulSet", name, map[string]any{"spec": map[string]any{
		"replicas": int64(1), "serviceName": name, "selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec": map[string]any{"containers": []any{map[string]any{
				"name": "app", "image": "registry.example.com/app:1", "resources": map[string]any{"requests": smallRequests()},
			}}},
		},
	}})
	o.SetNamespace(readyNamespace)
	return o, nil
}

// smallRequests returns requests that are small enough for many objects in the cell, and the same for the floor and for
// Workloads: Karmada's scheduler determines how many more would fit, one by one, for each object with requests.
func smallRequests() map[string]any { return map[string]any{"cpu": "10m", "memory": "16Mi"} }

func readySet(shown *unstructured.Unstructured) string {
	if count, _, _ := unstructured.NestedInt64(shown.Object, "status", "readyReplicas"); count < 1 {
		return ""
	}
	return shown.GetName()
}

func newWorkload(name string) (*unstructured.Unstructured, error) {
	o, err := sampleAs(workloadResource)
	if err != nil {
		return nil, err
	}
	o.SetName(name)
	return o, unstructured.SetNestedField(o.Object, smallRequests(), "spec", "template", "spec", "runtime", "resources", "requests")
}

// servedPrefix begins the names of Workloads with a Service: the others have the rest of the name.
const servedPrefix = "served-"

// newServed returns a Workload with a Service.
func newServed(name string) (*unstructured.Unstructured, error) {
	o, err := newWorkload(servedPrefix + name)
	if err != nil {
		return nil, err
	}
	return o, unstructured.SetNestedSlice(o.Object, []any{map[string]any{"port": int64(80)}}, "spec", "service", "ports")
}

func readyServed(shown *unstructured.Unstructured) string {
	name, served := strings.CutPrefix(readyInstance(shown), servedPrefix)
	if !served {
		return ""
	}
	return name
}

func readyInstance(shown *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(shown.Object, "status", "conditions")
	for _, condition := range conditions {
		if fields, ok := condition.(map[string]any); ok && fields["type"] == v1alpha.ConditionReady &&
			fields["status"] == string(metav1.ConditionTrue) {
			return shown.GetLabels()[v1alpha.LabelWorkloadName]
		}
	}
	return ""
}

// one creates an object and waits until it is Ready.
func (r *readySubject) one(ctx context.Context, seen *readyNames, name string, deadline time.Duration) (time.Duration, error) {
	made, err := r.object(name)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if _, err := r.made.Create(ctx, made, metav1.CreateOptions{}); err != nil {
		return 0, err
	}
	select {
	case <-seen.of(name):
		return time.Since(begin), nil
	case <-time.After(deadline):
		return 0, fmt.Errorf("%s is not Ready after %s", name, deadline)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// follow watches the shown objects until ctx ends. The informer watches again when a kube-apiserver ends a watch that
// is too slow.
func (r *readySubject) follow(ctx context.Context) *readyNames {
	seen := &readyNames{ready: map[string]chan struct{}{}}
	note := func(obj any) {
		if shown, ok := obj.(*unstructured.Unstructured); ok {
			if name := r.ready(shown); name != "" {
				seen.close(name)
			}
		}
	}
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return r.shown.List(ctx, options)
			},
			WatchFuncWithContext: r.shown.Watch,
		},
		ObjectType: &unstructured.Unstructured{},
		Handler:    cache.ResourceEventHandlerFuncs{AddFunc: note, UpdateFunc: func(_, obj any) { note(obj) }},
	})
	go informer.RunWithContext(ctx)
	return seen
}

// readyNames holds the names of the objects that have been seen Ready. It is safe for concurrent use.
type readyNames struct {
	mu    sync.Mutex
	ready map[string]chan struct{}
}

// of returns a channel that is closed when the object of the name has been seen Ready.
func (n *readyNames) of(name string) chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ready[name] == nil {
		n.ready[name] = make(chan struct{})
	}
	return n.ready[name]
}

func (n *readyNames) close(name string) {
	ready := n.of(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-ready:
	default:
		close(ready)
	}
}
