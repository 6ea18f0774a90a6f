// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// instanceTypes implements webhook.InstanceTypes: what was known, and what is now.
type instanceTypes struct {
	known, fresh       []string
	knownErr, freshErr error
	unserved           bool
}

func typesOf(names []string) []v1alpha.InstanceType {
	var types []v1alpha.InstanceType
	for _, name := range names {
		types = append(types, v1alpha.InstanceType{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       v1alpha.InstanceTypeSpec{Resources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
		})
	}
	return types
}

func (i *instanceTypes) Types(context.Context) ([]v1alpha.InstanceType, bool, error) {
	return typesOf(i.known), !i.unserved, i.knownErr
}

func (i *instanceTypes) FreshTypes(context.Context) ([]v1alpha.InstanceType, bool, error) {
	return typesOf(i.fresh), true, i.freshErr
}

func (*instanceTypes) Default() string { return "" }

// TestTypesAreLookedUp: a type is refused by a fresh answer alone, and a hub that does not answer refuses nobody.
func TestTypesAreLookedUp(t *testing.T) {
	const ours = "datumcloud-d1-standard-2"
	away := errors.New("the hub cannot be reached")
	tests := map[string]struct {
		types       instanceTypes
		wantAllowed bool
		wantWarning string
	}{
		"it is known":                        {types: instanceTypes{known: []string{ours}, freshErr: away}, wantAllowed: true},
		"it was made a moment ago":           {types: instanceTypes{known: []string{"other"}, fresh: []string{ours}}, wantAllowed: true},
		"it does not exist":                  {types: instanceTypes{known: []string{"other"}, fresh: []string{"other"}}},
		"nothing was known, and does answer": {types: instanceTypes{knownErr: away}, wantAllowed: true, wantWarning: "cannot be looked up now"},
		"it was not known, and no answer":    {types: instanceTypes{known: []string{"other"}, freshErr: away}, wantAllowed: true, wantWarning: "gets no Instances"},
		"there are no types to check":        {types: instanceTypes{unserved: true}, wantAllowed: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			handler := workloads(newProjects())
			handler.Types = &test.types
			response := handler.Handle(t.Context(), creation(t, workload("DFW")))
			if response.Allowed != test.wantAllowed {
				t.Fatalf("allowed: %t, %+v", response.Allowed, response.Result)
			}
			if !test.wantAllowed && (response.Result.Code != 422 || !strings.Contains(response.Result.Message, `supported values: "other"`)) {
				t.Errorf("result %+v", response.Result)
			}
			if got := strings.Join(response.Warnings, "; "); (got == "") != (test.wantWarning == "") || !strings.Contains(got, test.wantWarning) {
				t.Errorf("warnings %v", response.Warnings)
			}
		})
	}
}
