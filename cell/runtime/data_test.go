// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// cell has a Secret whose name is "secret", of a project; "": it has none.
type cell struct {
	client.Reader
	projectUID string
}

func (c *cell) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	if c.projectUID == "" {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
	}
	obj.SetLabels(map[string]string{v1alpha.LabelProjectUID: c.projectUID})
	return nil
}

// TestDataOfAnotherProject: the data that an earlier project of the name has left in the cell starts no Instance of the
// later one, whether that needs the data or not.
func TestDataOfAnotherProject(t *testing.T) {
	tests := map[string]struct {
		inCell   string
		optional bool
		want     bool
	}{
		"needed, in the cell":                    {inCell: "later"},
		"needed, not in the cell":                {want: true},
		"needed, of the earlier project":         {inCell: "earlier", want: true},
		"optional, in the cell":                  {inCell: "later", optional: true},
		"optional, not in the cell":              {optional: true},
		"optional, of the earlier project":       {inCell: "earlier", optional: true, want: true},
		"needed, of a project that is not known": {inCell: "unknown", want: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			deployment := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha.LabelProjectUID: "later"}}}
			spec := namingSecret("secret", test.optional)
			missing, err := MissingData(t.Context(), &cell{projectUID: test.inCell}, deployment, spec)
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Contains(missing, templates.DataObject{Kind: templates.KindSecret, Name: "secret"}); got != test.want {
				t.Errorf("the Instance waits for it: %t", got)
			}
		})
	}
}

// namingSecret names Secret "secret" in a volume.
func namingSecret(name string, optional bool) *v1alpha.InstanceSpec {
	return &v1alpha.InstanceSpec{Volumes: []v1alpha.InstanceVolume{{
		Name: "data", InstanceVolumeSource: v1alpha.InstanceVolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: name, Optional: &optional},
		},
	}}}
}
