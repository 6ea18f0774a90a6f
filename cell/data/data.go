// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package data finds the ConfigMaps and Secrets that Instances need to start, in the cell.
package data

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Key names a ConfigMap or Secret in the namespace of an Instance.
type Key struct {
	// Kind is v1alpha.KindConfigMap or v1alpha.KindSecret.
	Kind string
	// Name of the object.
	Name string
}

// Needed are the objects without which an Instance must not start, each once, in the order of kind and name. It is false
// when spec names no data at all, not even such as it can do without.
func Needed(spec *v1alpha.InstanceSpec) ([]Key, bool) {
	named := v1alpha.DataReferences(spec, nil)
	var needed []Key
	for _, data := range named {
		if !data.Optional && data.Name != "" {
			needed = append(needed, Key{data.Kind, data.Name})
		}
	}
	slices.SortFunc(needed, func(a, b Key) int { return strings.Compare(a.Kind+"/"+a.Name, b.Kind+"/"+b.Name) })
	return slices.Compact(needed), len(named) > 0
}

// Missing are those of the needed objects that are not in the cell. An object that did not come from the hub does not
// count: it may hold anything. The reader is a cache of metadata that holds no others.
func Missing(ctx context.Context, reader client.Reader, namespace string, needed []Key) ([]Key, error) {
	var missing []Key
	for _, one := range needed {
		found := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: one.Kind}}
		switch err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: one.Name}, found); {
		case apierrors.IsNotFound(err):
			missing = append(missing, one)
		case err != nil:
			return nil, fmt.Errorf("look for %s %s: %w", one.Kind, one.Name, err)
		}
	}
	return missing, nil
}

// CameOrWent passes the beginning and the end of an object: what it holds is of no interest to who waits for it.
func CameOrWent() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
}
