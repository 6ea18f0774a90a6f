// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/milo/quota"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestClaimsDoNotFillTheCache: the metadata of a claim is bounded.
func TestClaimsDoNotFillTheCache(t *testing.T) {
	testenv.CheckTrims(t, trimClaim, &quota.ResourceClaim{ObjectMeta: testenv.Stranger(v1alpha.LabelDeploymentName)})
}
