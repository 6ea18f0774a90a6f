// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// MaxLeaving is the number of leaving deployments that a cell is asked about at once, as the schema of a Cell allows.
const MaxLeaving = 100

// WorkName is the name that Karmada would give the Work of a hub's Cell: it finds the Work by that when the Cell is
// deleted in the cell.
func WorkName(hub types.UID) string {
	return karmadanames.GenerateWorkName(v1alpha.KindCell, wire.CellName(hub), "")
}

// LeftIn returns the deployments of which a cell says that it has nothing left, from the hub's cache.
func LeftIn(ctx context.Context, hub client.Reader, uid types.UID, cell string) ([]v1alpha.LeavingDeployment, error) {
	work := &workv1alpha1.Work{}
	key := client.ObjectKey{Namespace: karmadanames.GenerateExecutionSpaceName(cell), Name: WorkName(uid)}
	if err := hub.Get(ctx, key, work); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("get the Work of the inventory of cell %s: %w", cell, err)
	}
	if len(work.Status.ManifestStatuses) == 0 || work.Status.ManifestStatuses[0].Status == nil {
		return nil, nil
	}
	status := struct {
		Left []v1alpha.LeavingDeployment `json:"left"`
	}{}
	if err := json.Unmarshal(work.Status.ManifestStatuses[0].Status.Raw, &status); err != nil {
		return nil, nil //nolint:nilerr // A status that cannot be read confirms nothing.
	}
	return status.Left[:min(len(status.Left), MaxLeaving)], nil
}

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
