// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// maxHeld is how many objects are remembered. Beyond, all are read again.
const maxHeld = 20000

// heldObject identifies a ConfigMap or Secret of the cell.
type heldObject struct{ kind, namespace, name string }

// contentHashes has the hashes of a ConfigMap or Secret of the cell.
type contentHashes struct {
	// version is the resourceVersion of the object.
	version string
	// sent is the hash of the content that the hub has sent, and stored the hash of the content in the cell. Karmada or
	// another party may keep an earlier content in the cell beside the newest label.
	sent, stored string
}

func (h contentHashes) differs() bool { return h.stored != h.sent }

// heldContents remembers the hashes of the contents of ConfigMaps and Secrets, and no content. It reads each version of
// an object once. The zero value is ready to use.
type heldContents struct {
	mu    sync.Mutex
	known map[heldObject]contentHashes
}

// hashesOf returns what an object of the cache holds. If the hub is of an earlier version, it holds what its label says.
func (h *heldContents) hashesOf(ctx context.Context, cell client.Reader, cached *metav1.PartialObjectMetadata) (contentHashes, error) {
	key := heldObject{cached.Kind, cached.Namespace, cached.Name}
	h.mu.Lock()
	found, ok := h.known[key]
	h.mu.Unlock()
	if ok && found.version == cached.ResourceVersion {
		return found, nil
	}
	label := cached.Labels[v1alpha.LabelDataHash]
	if label == "" {
		return contentHashes{}, nil
	}
	found, err := readHeld(ctx, cell, key)
	if err != nil || found.version == "" {
		// An object that is gone meanwhile has an event.
		return contentHashes{sent: label, stored: label}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil || len(h.known) >= maxHeld {
		h.known = map[heldObject]contentHashes{}
	}
	h.known[key] = found
	return found, nil
}

// readHeld reads one object. The agent may list objects and not get them.
func readHeld(ctx context.Context, cell client.Reader, key heldObject) (contentHashes, error) {
	options := &client.ListOptions{Namespace: key.namespace}
	client.MatchingFields{"metadata.name": key.name}.ApplyToList(options)
	var err error
	var object client.Object
	var text map[string]string
	var binary map[string][]byte
	switch key.kind {
	case templates.KindSecret:
		list := &corev1.SecretList{}
		if err = cell.List(ctx, list, options); len(list.Items) == 1 {
			object, binary = &list.Items[0], list.Items[0].Data
		}
	default:
		list := &corev1.ConfigMapList{}
		if err = cell.List(ctx, list, options); len(list.Items) == 1 {
			object, text, binary = &list.Items[0], list.Items[0].Data, list.Items[0].BinaryData
		}
	}
	if err != nil {
		return contentHashes{}, fmt.Errorf("read %s %s of namespace %s: %w", key.kind, key.name, key.namespace, err)
	}
	if object == nil {
		return contentHashes{}, nil
	}
	hash := templates.HashData(object.GetAnnotations()[v1alpha.AnnotationDataKey], text, binary)
	return contentHashes{version: object.GetResourceVersion(), sent: object.GetLabels()[v1alpha.LabelDataHash], stored: hash}, nil
}

// compareData reports in condition ReferencedDataReady the objects whose content is another one than the hub has sent. The
// Instance starts nevertheless: the cause may be an override policy, which only the hub sees.
func (s *scope) compareData(ctx context.Context) error {
	ready := meta.FindStatusCondition(s.found, v1alpha.ConditionReferencedDataReady)
	if ready == nil || ready.Status != metav1.ConditionTrue {
		return nil
	}
	var differing []templates.DataObject
	needed, optional := templates.DataObjects(&s.instance.Spec)
	for _, object := range slices.Concat(needed, optional) {
		if _, isSnapshot := templates.ParseSnapshot(object); isSnapshot {
			// No update can be retained in it: it is immutable.
			continue
		}
		cached := metadataOf(object.Kind)
		if err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.instance.Namespace, Name: object.Name}, cached); err != nil {
			if client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("get %s %s: %w", object.Kind, object.Name, err)
			}
			continue
		}
		holds, err := s.held.hashesOf(ctx, s.APIReader, cached)
		if err != nil {
			return err
		}
		if holds.differs() {
			differing = append(differing, object)
		}
	}
	if len(differing) > 0 {
		ready.Reason, ready.Message = v1alpha.ReasonReferencedDataDiffers, templates.DifferingData(differing)
	}
	return nil
}
