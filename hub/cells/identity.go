// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Hub reports the identity of a hub. Create it with NewHub. It is safe for concurrent use.
type Hub struct {
	reader client.Reader

	mu  sync.Mutex
	uid types.UID
}

// NewHub returns the identity of the hub that reader reads, past any cache: the hub's cache has only the namespaces of
// projects.
func NewHub(reader client.Reader) *Hub { return &Hub{reader: reader} }

// UID returns the UID of the hub's namespace kube-system, by which Karmada identifies member clusters, too. It is read
// once. A hub that was restored from a backup has the same UID.
func (h *Hub) UID(ctx context.Context) (types.UID, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.uid != "" {
		return h.uid, nil
	}
	namespace := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
	if err := h.reader.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, namespace); err != nil {
		return "", fmt.Errorf("get the hub's namespace %s, whose UID identifies the hub: %w", metav1.NamespaceSystem, err)
	}
	h.uid = namespace.UID
	return h.uid, nil
}
