// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// Exists reports whether a project exists with a UID, asked at Milo's root now. Only then does "not found" from the project's control
// plane mean that the project does not have an object: Milo answers for a project that does not exist as for one that is empty.
type Exists func(ctx context.Context, project string, uid types.UID) (bool, error)

// ExistsIn returns an Exists that asks Milo.
func ExistsIn(milo projects.Existence) Exists {
	return func(ctx context.Context, project string, uid types.UID) (bool, error) {
		found, exists, err := milo.Lookup(ctx, project)
		if err != nil {
			return false, fmt.Errorf("ask Milo for project %s: %w", project, err)
		}
		return exists && found == uid, nil
	}
}
