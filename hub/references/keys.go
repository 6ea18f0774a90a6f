// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/references/choice"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

const (
	// secretName is the name of the Secret in the namespace of the add-on on the hub that all keys are derived from. The
	// role of the add-on names it.
	secretName = "karmada-compute-data-key"
	// secretEntry is its entry, and secretBytes how long the entry is.
	secretEntry = "key"
	secretBytes = 32
)

// keyOf returns the key of the hash of an object of the project.
func (s *originals) keyOf(ctx context.Context, dataObject templates.DataObject) (string, error) {
	secret, err := s.secret(ctx)
	if err != nil {
		return "", err
	}
	return templates.DataKey(secret, string(s.origin.ProjectUID), s.namespace, dataObject), nil
}

// hashOf returns the hash of the content of an object of the project, or of a snapshot of it.
func (s *originals) hashOf(ctx context.Context, dataObject templates.DataObject, source client.Object) (string, error) {
	key, err := s.keyOf(ctx, dataObject)
	if err != nil {
		return "", err
	}
	return hashWith(key, source), nil
}

func hashWith(key string, source client.Object) string {
	held := contentOf(source)
	return templates.HashData(key, held.text, held.binary)
}

// secret returns the random bytes that all keys are derived from. They are read once for each engagement of a project.
func (s *originals) secret(ctx context.Context) ([]byte, error) {
	s.sources.mu.Lock()
	known := s.sources.secret
	s.sources.mu.Unlock()
	if known != nil {
		return known, nil
	}
	secret, err := s.readSecret(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the key of hashes from Secret %s/%s of the hub: %w", s.Namespace, secretName, withoutContent(err))
	}
	if len(secret) != secretBytes {
		return nil, fmt.Errorf("entry %s of Secret %s/%s of the hub must have %d bytes; restore the Secret, or delete it to get another one",
			secretEntry, s.Namespace, secretName, secretBytes)
	}
	s.sources.mu.Lock()
	defer s.sources.mu.Unlock()
	s.sources.secret = secret
	return secret, nil
}

// readSecret reads the Secret from the API server, or creates it. Of several replicas that create it, all use the first one's.
func (s *originals) readSecret(ctx context.Context) ([]byte, error) {
	stored, key := &corev1.Secret{}, client.ObjectKey{Namespace: s.Namespace, Name: secretName}
	err := s.APIReader.Get(ctx, key, stored)
	if !apierrors.IsNotFound(err) {
		return stored.Data[secretEntry], err
	}
	random := make([]byte, secretBytes)
	// Reading random bytes never returns an error.
	_, _ = rand.Read(random)
	created := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: secretName},
		Data:       map[string][]byte{secretEntry: random}, Immutable: new(true),
	}
	if err := s.Hub.Create(ctx, created, client.FieldOwner(FieldManager)); !apierrors.IsAlreadyExists(err) {
		return random, err
	}
	err = s.APIReader.Get(ctx, key, stored)
	return stored.Data[secretEntry], err
}

// markContent writes the hash of its content and the key of the hash on the desired copy. While the content stays, so do
// hash and key: another key, as after the loss of the Secret, is no news of the content, and must not look like it in cells.
func markContent(desired, copied client.Object, key string) {
	hash := copied.GetLabels()[v1alpha.LabelDataHash]
	if earlier := copied.GetAnnotations()[v1alpha.AnnotationDataKey]; hash == hashWith(earlier, desired) {
		key = earlier
	}
	desired.GetLabels()[v1alpha.LabelDataHash] = hashWith(key, desired)
	if key != "" {
		desired.GetAnnotations()[v1alpha.AnnotationDataKey] = key
	}
}

// recordedAs returns the hash of an object's newest content. If the record of the Workload has the same content by
// another key, it is the recorded hash: another key is no rollout, and ends no undo. The snapshots tell the contents.
func (s *copier) recordedAs(ctx context.Context, o *choice.Object, state *choice.State) (string, error) {
	before, _ := state.Recorded(o.DataObject)
	recorded := []string{state.Holds[o.DataObject].Newest, before.Hash}
	if o.Newest == "" || o.Newest == templates.AbsentData || slices.Contains(recorded, o.Newest) {
		return o.Newest, nil
	}
	for _, hash := range recorded {
		same, err := s.isContent(ctx, v1alpha.DataVersion{Kind: o.Kind, Name: o.Name, Hash: hash}, o.Newest)
		if err != nil {
			return "", err
		}
		if same {
			return hash, nil
		}
	}
	return o.Newest, nil
}

// isContent reports whether a snapshot has the content with this hash by the present key.
func (s *copier) isContent(ctx context.Context, dataVersion v1alpha.DataVersion, hash string) (bool, error) {
	for hubNamespace := range s.hubNamespaces {
		i := snapshotItem(hubNamespace, dataVersion)
		if _, known := s.hashes[i]; !known && isSnapshot(s.copies[i]) {
			copied := newObject(i.Kind)
			if err := s.APIReader.Get(ctx, i.onHub(), copied); err != nil {
				return false, client.IgnoreNotFound(err)
			}
			var err error
			if s.hashes[i], err = s.hashOf(ctx, templates.DataObject{Kind: dataVersion.Kind, Name: dataVersion.Name}, copied); err != nil {
				return false, err
			}
		}
		if s.hashes[i] == hash {
			return true, nil
		}
	}
	return false, nil
}
