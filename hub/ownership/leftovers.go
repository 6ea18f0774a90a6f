// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Leftovers returns the objects whose owner is gone, of objects in a project that the cache finds no owner for. owner has the name of
// the owner, and gets what the API server has: only that knows whether an owner of the name exists. named are the UIDs of the owner
// that an object names beside its owner reference: an object that runs is not deleted for the change of a label.
//
// The garbage collector deletes most of them before. It does not know that an owner is gone which its cache still has: the project was
// restored from a backup, and a replica whose cache had not noticed wrote an object for an owner that the backup does not have.
func Leftovers[T client.Object](
	ctx context.Context, project client.Reader, owner client.Object, objects []T, named func(T) []types.UID,
) ([]T, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	if err := project.Get(ctx, client.ObjectKeyFromObject(owner), owner); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("find out whether the owner of earlier objects exists: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(objects), func(object T) bool {
		uids := named(object)
		if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
			uids = append(uids, controller.UID)
		}
		return owner.GetUID() != "" && slices.Contains(uids, owner.GetUID())
	}), nil
}
