// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package marks

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestMarksDoNotFillTheCache: of a mark, a replica keeps what it reads.
func TestMarksDoNotFillTheCache(t *testing.T) {
	found := &metav1.PartialObjectMetadata{ObjectMeta: testenv.Stranger(v1alpha.LabelProjectMark)}
	testenv.CheckTrims(t, trim, found)
	found.Annotations[v1alpha.AnnotationProjectName], found.Annotations[v1alpha.AnnotationLeaving] = "north", "now"
	if _, err := trim(found); err != nil || projectOf(found) != "north" || !isLeaving(found) {
		t.Errorf("%+v, %v", found, err)
	}
}
