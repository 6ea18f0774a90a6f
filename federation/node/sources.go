// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// sources watch the ConfigMaps and Secrets that a Pod names, each alone, as kubelet does.
type sources struct {
	namespace  string
	client     kubernetes.Interface
	configMaps map[string]cache.Store
	secrets    map[string]cache.Store
	synced     []cache.InformerSynced
}

// watchSources starts the watches and calls changed after each change. They end with ctx.
func watchSources(ctx context.Context, client kubernetes.Interface, object *corev1.Pod, changed func()) *sources {
	s := &sources{namespace: object.Namespace, client: client, configMaps: map[string]cache.Store{}, secrets: map[string]cache.Store{}}
	visitReferences(object, func(name string) { s.configMaps[name] = nil }, func(name string) { s.secrets[name] = nil })
	for name := range s.configMaps {
		s.configMaps[name] = s.watch(ctx, &corev1.ConfigMap{}, reference{"configmaps", name}, changed)
	}
	for name := range s.secrets {
		s.secrets[name] = s.watch(ctx, &corev1.Secret{}, reference{"secrets", name}, changed)
	}
	return s
}

type reference struct{ resource, name string }

func (s *sources) watch(ctx context.Context, kind runtime.Object, ref reference, changed func()) cache.Store {
	selector := fields.OneTermEqualSelector("metadata.name", ref.name)
	store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(s.client.CoreV1().RESTClient(), ref.resource, s.namespace, selector),
		ObjectType:    kind,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { changed() }, UpdateFunc: func(any, any) { changed() }, DeleteFunc: func(any) { changed() },
		},
	})
	go controller.RunWithContext(ctx)
	s.synced = append(s.synced, controller.HasSynced)
	return store
}

// wait waits until every object has been read once.
func (s *sources) wait(ctx context.Context) bool {
	return cache.WaitForCacheSync(ctx.Done(), s.synced...)
}

// configMap returns the keys of a ConfigMap.
func (s *sources) configMap(name string, optional *bool) (payload, error) {
	object, err := s.get("ConfigMap", s.configMaps[name], name, optional)
	found, ok := object.(*corev1.ConfigMap)
	if err != nil || !ok {
		return nil, err
	}
	data := payload{}
	for key, value := range found.Data {
		data[key] = file{content: []byte(value)}
	}
	for key, value := range found.BinaryData {
		data[key] = file{content: value}
	}
	return data, nil
}

// secret returns the keys of a Secret.
func (s *sources) secret(name string, optional *bool) (payload, error) {
	object, err := s.get("Secret", s.secrets[name], name, optional)
	found, ok := object.(*corev1.Secret)
	if err != nil || !ok {
		return nil, err
	}
	data := payload{}
	for key, value := range found.Data {
		data[key] = file{content: value}
	}
	return data, nil
}

func (s *sources) get(kind string, store cache.Store, name string, optional *bool) (any, error) {
	var object any
	var exists bool
	if store != nil {
		var err error
		if object, exists, err = store.GetByKey(s.namespace + "/" + name); err != nil {
			return nil, err
		}
	}
	if !exists && (optional == nil || !*optional) {
		return nil, fmt.Errorf("%s %q not found in namespace %q", kind, name, s.namespace)
	}
	return object, nil
}

// names returns the files' names in order.
func (p payload) names() []string { return slices.Sorted(maps.Keys(p)) }

// visitReferences calls back with the names of all ConfigMaps and Secrets of a Pod.
func visitReferences(object *corev1.Pod, configMap, secret func(name string)) {
	for _, volume := range object.Spec.Volumes {
		if volume.ConfigMap != nil {
			configMap(volume.ConfigMap.Name)
		}
		if volume.Secret != nil {
			secret(volume.Secret.SecretName)
		}
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if source.ConfigMap != nil {
				configMap(source.ConfigMap.Name)
			}
			if source.Secret != nil {
				secret(source.Secret.Name)
			}
		}
	}
	for _, container := range slices.Concat(object.Spec.InitContainers, object.Spec.Containers) {
		visitVariables(&container, configMap, secret)
	}
}

func visitVariables(container *corev1.Container, configMap, secret func(name string)) {
	for _, from := range container.EnvFrom {
		if from.ConfigMapRef != nil {
			configMap(from.ConfigMapRef.Name)
		}
		if from.SecretRef != nil {
			secret(from.SecretRef.Name)
		}
	}
	for _, variable := range container.Env {
		if from := variable.ValueFrom; from != nil && from.ConfigMapKeyRef != nil {
			configMap(from.ConfigMapKeyRef.Name)
		}
		if from := variable.ValueFrom; from != nil && from.SecretKeyRef != nil {
			secret(from.SecretKeyRef.Name)
		}
	}
}

// wakeup wakes whoever waits for it; several calls may wake it once.
type wakeup chan struct{}

func newWakeup() wakeup { return make(wakeup, 1) }

func (w wakeup) raise() {
	select {
	case w <- struct{}{}:
	default:
	}
}
