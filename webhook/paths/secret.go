// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Annotations of the Secret. An operator requests a rotation with AnnotationRotate; its value does not matter, and it is
// removed when the rotation starts.
const (
	AnnotationCurrentSince = "compute.datumapis.com/current-since"
	AnnotationNextSince    = "compute.datumapis.com/next-since"
	AnnotationCarriedSince = "compute.datumapis.com/registered-since"
	AnnotationRotate       = "compute.datumapis.com/rotate"
)

// Entries of the Secret with keys, in hexadecimal. For each plain path it has one more, named like the path without its
// leading slash, with the secret that follows the path.
const (
	currentEntry  = "current"
	nextEntry     = "next"
	previousEntry = "previous"
)

// decode reads the state from the Secret. A Secret without keys is an empty state. Errors never quote content.
func decode(secret *corev1.Secret) (state, error) {
	var s state
	var currentErr, nextErr, previousErr error
	s.current, currentErr = decodeKey(secret.Data, currentEntry)
	s.next, nextErr = decodeKey(secret.Data, nextEntry)
	s.previous, previousErr = decodeKey(secret.Data, previousEntry)
	err := errors.Join(currentErr, nextErr, previousErr)
	if err == nil && s.current == nil && s.rotating() {
		err = fmt.Errorf("there is no entry %s", currentEntry)
	}
	if err != nil {
		return state{}, fmt.Errorf("Secret %s/%s is corrupt, delete it so that new paths are made: %w", secret.Namespace, secret.Name, err)
	}
	// A timestamp that cannot be parsed counts as missing, which only makes a rotation longer.
	s.currentSince = decodeTime(secret.Annotations[AnnotationCurrentSince])
	s.nextSince = decodeTime(secret.Annotations[AnnotationNextSince])
	s.carriedSince = decodeTime(secret.Annotations[AnnotationCarriedSince])
	_, s.force = secret.Annotations[AnnotationRotate]
	return s, nil
}

func decodeKey(data map[string][]byte, entry string) (key, error) {
	content := strings.TrimSpace(string(data[entry]))
	if content == "" {
		return nil, nil
	}
	k, err := hex.DecodeString(content)
	if err != nil || len(k) != keySize {
		return nil, fmt.Errorf("entry %s is not a key of %d bytes in hexadecimal", entry, keySize)
	}
	return k, nil
}

func decodeTime(value string) time.Time {
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return time.Time{}
	}
	return at
}

// encode writes the state and the secrets of the plain paths into the Secret and keeps its other content.
func encode(s state, plain []string, secret *corev1.Secret) {
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	if secret.Annotations == nil {
		secret.Annotations = map[string]string{}
	}
	encodeKey(s.current, secret.Data, currentEntry)
	encodeKey(s.next, secret.Data, nextEntry)
	encodeKey(s.previous, secret.Data, previousEntry)
	for _, path := range plain {
		secret.Data[strings.TrimPrefix(path, "/")] = []byte(s.current.secret(path))
	}
	encodeTime(s.currentSince, secret.Annotations, AnnotationCurrentSince)
	encodeTime(s.nextSince, secret.Annotations, AnnotationNextSince)
	encodeTime(s.carriedSince, secret.Annotations, AnnotationCarriedSince)
	if !s.force {
		delete(secret.Annotations, AnnotationRotate)
	}
}

func encodeKey(k key, data map[string][]byte, entry string) {
	if k == nil {
		delete(data, entry)
		return
	}
	data[entry] = []byte(hex.EncodeToString(k))
}

func encodeTime(at time.Time, annotations map[string]string, name string) {
	if at.IsZero() {
		delete(annotations, name)
		return
	}
	annotations[name] = at.UTC().Format(time.RFC3339)
}
