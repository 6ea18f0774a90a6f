// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

// Resources that a volume may have files of.
const (
	configMaps = "configmaps"
	secrets    = "secrets"
)

// reference names a ConfigMap or a Secret.
type reference struct{ resource, name string }

// sources watch the ConfigMaps and Secrets that a Pod names, each alone, as kubelet does.
type sources struct {
	namespace string
	client    kubernetes.Interface
	stores    map[reference]cache.Store
	synced    []cache.InformerSynced
}

// watchSources starts the watches and calls changed after each change. They end with ctx.
func watchSources(ctx context.Context, client kubernetes.Interface, object *corev1.Pod, changed func()) *sources {
	s := &sources{namespace: object.Namespace, client: client, stores: map[reference]cache.Store{}}
	for i := range object.Spec.Volumes {
		parts, _ := projections(&object.Spec.Volumes[i])
		for _, part := range parts {
			switch {
			case part.ConfigMap != nil:
				s.watch(ctx, &corev1.ConfigMap{}, reference{configMaps, part.ConfigMap.Name}, changed)
			case part.Secret != nil:
				s.watch(ctx, &corev1.Secret{}, reference{secrets, part.Secret.Name}, changed)
			}
		}
	}
	return s
}

func (s *sources) watch(ctx context.Context, kind runtime.Object, ref reference, changed func()) {
	if s.stores[ref] != nil {
		return
	}
	selector := fields.OneTermEqualSelector("metadata.name", ref.name)
	store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(s.client.CoreV1().RESTClient(), ref.resource, s.namespace, selector),
		ObjectType:    kind,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { changed() }, UpdateFunc: func(any, any) { changed() }, DeleteFunc: func(any) { changed() },
		},
	})
	go controller.RunWithContext(ctx)
	s.stores[ref] = store
	s.synced = append(s.synced, controller.HasSynced)
}

// wait waits until every object has been read once.
func (s *sources) wait(ctx context.Context) bool {
	return cache.WaitForCacheSync(ctx.Done(), s.synced...)
}

// data returns the keys of a ConfigMap or Secret.
func (s *sources) data(ref reference, optional *bool) (map[string][]byte, error) {
	object, exists, err := s.stores[ref].GetByKey(s.namespace + "/" + ref.name)
	if err != nil {
		return nil, err
	}
	if !exists && !ptr.Deref(optional, false) {
		return nil, fmt.Errorf("%s %q not found in namespace %q", ref.resource, ref.name, s.namespace)
	}
	data := map[string][]byte{}
	switch found := object.(type) {
	case *corev1.ConfigMap:
		for key, value := range found.Data {
			data[key] = []byte(value)
		}
		maps.Copy(data, found.BinaryData)
	case *corev1.Secret:
		maps.Copy(data, found.Data)
	}
	return data, nil
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
