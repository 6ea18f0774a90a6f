// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ErrGone is the error of Claim when another object had the name, and has it no more.
var ErrGone = errors.New("the object that had the name is gone")

// Claim creates an object under a name that others may have. If one has it, holder is that object, as reader reads it from the API
// server: the caller finds out whether it is its own, which its cache lacks, or another's. A create fails where an apply would take over
// another's object. refused is any other answer to the creation. err means that the holder is not known.
func Claim[T client.Object](
	ctx context.Context, c client.Client, reader client.Reader, manager FieldManager, desired T,
) (holder T, refused, err error) {
	var none T
	if refused := c.Create(ctx, desired, client.FieldOwner(manager)); !apierrors.IsAlreadyExists(refused) {
		return none, refused, nil
	}
	holder = newLike(desired)
	switch err := reader.Get(ctx, client.ObjectKeyFromObject(desired), holder); {
	case apierrors.IsNotFound(err):
		return none, nil, fmt.Errorf("claim the name %s: %w", client.ObjectKeyFromObject(desired), ErrGone)
	case err != nil:
		return none, nil, fmt.Errorf("get the object that has the name %s: %w", client.ObjectKeyFromObject(desired), err)
	}
	return holder, nil, nil
}
