// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestConfirmationsDoNotFillTheCache: of the namespace of a cell, a replica keeps what it reads.
func TestConfirmationsDoNotFillTheCache(t *testing.T) {
	found := &metav1.PartialObjectMetadata{ObjectMeta: testenv.Stranger(v1alpha.LabelTopologyCity)}
	testenv.CheckTrims(t, trimConfirmation, found)
	if _, err := trimConfirmation(found); err != nil || found.Labels[v1alpha.LabelTopologyCity] != "x" {
		t.Errorf("%+v, %v", found, err)
	}
}
