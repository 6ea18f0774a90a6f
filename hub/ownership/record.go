// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// fieldManager is the field manager of the record.
	fieldManager = client.FieldOwner("karmada-compute-ownership")
	// keyIdentity is the key of Milo's identity in the record.
	keyIdentity = "identity"
	// longestRelease bounds the duration of an operator's release: an unlimited release would disable the brake.
	longestRelease = 24 * time.Hour
)

// record holds the recorded identity of Milo and an operator's release.
type record struct {
	exists bool
	// identity is the identity of the Milo that the hub works for; "": it was not recorded.
	identity types.UID
	// until is when an operator's release ends, as written in the record.
	until string
}

// isReleased reports whether an operator has released the brake.
func (r record) isReleased(now time.Time) bool {
	until, err := time.Parse(time.RFC3339, r.until)
	return err == nil && now.Before(until) && until.Sub(now) <= longestRelease
}

func (b *Brake) read(ctx context.Context) (record, error) {
	found := &corev1.ConfigMap{}
	err := b.APIReader.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: v1alpha.MiloRecordName}, found)
	if apierrors.IsNotFound(err) {
		return record{}, nil
	}
	if err != nil {
		return record{}, fmt.Errorf("read the record of the projects' API server on the hub: %w", err)
	}
	return record{exists: true, identity: types.UID(found.Data[keyIdentity]), until: found.Annotations[v1alpha.AnnotationWithdrawUntil]}, nil
}

// write writes the record.
func (b *Brake) write(ctx context.Context, before record, identity types.UID) error {
	if before.exists && before.identity == identity {
		return nil
	}
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: v1alpha.MiloRecordName}}
	data := map[string]string{keyIdentity: string(identity)}
	var err error
	if before.exists {
		var patch []byte
		if patch, err = json.Marshal(map[string]any{"data": data}); err == nil {
			err = b.Hub.Patch(ctx, stored, client.RawPatch(types.MergePatchType, patch), fieldManager)
		}
	} else {
		stored.Data = data
		err = b.Hub.Create(ctx, stored, fieldManager)
	}
	if err != nil {
		return fmt.Errorf("record the identity of the projects' API server on the hub: %w", err)
	}
	return nil
}
