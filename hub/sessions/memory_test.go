// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestGrantsDoNotFillTheCache: of a grant, a replica keeps what it reads.
func TestGrantsDoNotFillTheCache(t *testing.T) {
	found := &metav1.PartialObjectMetadata{ObjectMeta: testenv.Stranger(v1alpha.LabelProjectUID)}
	testenv.CheckTrims(t, trimGrant, found)
	found.Name = grantName("00000000-0000-4000-8000-000000000001")
	if _, err := trimGrant(found); err != nil {
		t.Fatal(err)
	}
	if uid, project, isGrant := sessionOf(found); !isGrant || project != "x" || uid != "00000000-0000-4000-8000-000000000001" {
		t.Errorf("%q, %q, %t", uid, project, isGrant)
	}
}
