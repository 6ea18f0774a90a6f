// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// AnnotationRotate requests a rotation. Its value does not matter, and it is removed when the rotation begins.
const AnnotationRotate = "compute.datumapis.com/rotate"

// AnnotationExposed is why the current item may be known to others. It is removed when a rotation begins.
const AnnotationExposed = "compute.datumapis.com/exposed"

// Role is the purpose of an item, and part of the name of its entry in the Secret.
type Role string

// The roles.
const (
	Current  Role = "current"
	Next     Role = "next"
	Previous Role = "previous"
)

// Annotations are the names of the annotations with the times of a State. "": that time is not kept.
type Annotations struct {
	CurrentSince, NextSince, RegisteredSince string
}

// format reads and writes the Secret of a kind.
type format[T any] struct {
	kind  Kind[T]
	names Annotations
	item  string
	extra func(current *T, data map[string][]byte)
}

// decode reads the state from the Secret. A Secret without items is an empty state. Errors never quote content.
func (f *format[T]) decode(secret *corev1.Secret) (State[T], error) {
	var s State[T]
	var currentErr, nextErr, previousErr error
	s.Current, currentErr = f.kind.Decode(secret.Data, Current)
	s.Next, nextErr = f.kind.Decode(secret.Data, Next)
	s.Previous, previousErr = f.kind.Decode(secret.Data, Previous)
	err := errors.Join(currentErr, nextErr, previousErr)
	if err == nil && s.Current == nil && s.Rotating() {
		err = fmt.Errorf("there is no entry of the %s %s", Current, f.item)
	}
	if err != nil {
		return State[T]{}, fmt.Errorf("Secret %s/%s is corrupt, delete it so that another %s is created: %w",
			secret.Namespace, secret.Name, f.item, err)
	}
	// A time that cannot be parsed counts as missing, which only prolongs a rotation.
	s.CurrentSince = decodeTime(secret.Annotations, f.names.CurrentSince)
	s.NextSince = decodeTime(secret.Annotations, f.names.NextSince)
	s.RegisteredSince = decodeTime(secret.Annotations, f.names.RegisteredSince)
	if _, requested := secret.Annotations[AnnotationRotate]; requested {
		s.Request = CauseRequested
	}
	s.Exposed = secret.Annotations[AnnotationExposed]
	return s, nil
}

// encode writes the state into the Secret and keeps its other content.
func (f *format[T]) encode(s State[T], secret *corev1.Secret) error {
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	if secret.Annotations == nil {
		secret.Annotations = map[string]string{}
	}
	if err := errors.Join(
		f.kind.Encode(s.Current, secret.Data, Current),
		f.kind.Encode(s.Next, secret.Data, Next),
		f.kind.Encode(s.Previous, secret.Data, Previous),
	); err != nil {
		return fmt.Errorf("Secret %s/%s: %w", secret.Namespace, secret.Name, err)
	}
	if f.extra != nil {
		f.extra(s.Current, secret.Data)
	}
	encodeTime(s.CurrentSince, secret.Annotations, f.names.CurrentSince)
	encodeTime(s.NextSince, secret.Annotations, f.names.NextSince)
	encodeTime(s.RegisteredSince, secret.Annotations, f.names.RegisteredSince)
	if s.Request == "" {
		delete(secret.Annotations, AnnotationRotate)
	}
	if s.Exposed == "" {
		delete(secret.Annotations, AnnotationExposed)
	} else {
		secret.Annotations[AnnotationExposed] = s.Exposed
	}
	return nil
}

func decodeTime(annotations map[string]string, name string) time.Time {
	at, err := time.Parse(time.RFC3339, annotations[name])
	if err != nil {
		return time.Time{}
	}
	return at
}

func encodeTime(at time.Time, annotations map[string]string, name string) {
	switch {
	case name == "":
	case at.IsZero():
		delete(annotations, name)
	default:
		annotations[name] = at.UTC().Format(time.RFC3339)
	}
}
