// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/internal/watch"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestDataDoesNotFillTheCache: of an object with data, a replica keeps the identity.
func TestDataDoesNotFillTheCache(t *testing.T) {
	testenv.CheckTrims(t, watch.OnlyIdentity, &metav1.PartialObjectMetadata{ObjectMeta: testenv.Stranger()})
}
