// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
)

// quantityPaths are objects with a quantity in each field that can have one.
var quantityPaths = []string{
	`{"spec":{"scaleSettings":{"metrics":[{"resource":{"target":{"value":%s}}}]}}}`,
	`{"spec":{"scaleSettings":{"metrics":[{"resource":{"target":{"averageValue":%s}}}]}}}`,
	`{"spec":{"instanceTypeResources":{"cpu":%s}}}`,
	`{"spec":{"template":{"spec":{"runtime":{"resources":{"requests":{"cpu":%s}}}}}}}`,
	`{"spec":{"template":{"spec":{"runtime":{"sandbox":{"containers":[{"resources":{"limits":{"cpu":%s}}}]}}}}}}`,
	`{"spec":{"template":{"spec":{"runtime":{"sandbox":{"containers":[{"resources":{"requests":{"cpu":%s}}}]}}}}}}`,
	`{"spec":{"template":{"spec":{"runtime":{"sandbox":{"containers":[{"env":[{"valueFrom":{"resourceFieldRef":{"divisor":%s}}}]}]}}}}}}`,
	`{"spec":{"template":{"spec":{"volumes":[{"disk":{"template":{"spec":{"resources":{"requests":{"storage":%s}}}}}}]}}}}`,
}

// TestUncountable would not end if these quantities were parsed.
func TestUncountable(t *testing.T) {
	quantities := []string{
		`"1e1000000000"`, `"1e-1000000000"`, `1e-1000000000`, `"12345678901234567890E+1000000000"`, `"1e99999999999999999999"`,
		`"` + strings.Repeat("9", 1000) + `"`,
	}
	for _, path := range quantityPaths {
		for _, quantity := range quantities {
			asked := request(t, configv1alpha1.InterpreterOperationRetain)
			asked.Object.Raw = fmt.Appendf(nil, path, quantity)
			if response := ask(t, asked); response.Successful || response.Status.Code != http.StatusBadRequest ||
				!strings.Contains(response.Status.Message, "out of any range") {
				t.Errorf("%.80s: %+v", asked.Object.Raw, response.Status)
			}
			asked.Object, asked.ObservedObject = *asked.ObservedObject, &runtime.RawExtension{Raw: asked.Object.Raw}
			if response := ask(t, asked); response.Successful || !strings.Contains(response.Status.Message, "observed WorkloadDeployment") {
				t.Errorf("observed %.80s: %+v", asked.ObservedObject.Raw, response.Status)
			}
		}
	}
}

func TestCountable(t *testing.T) {
	for _, path := range quantityPaths {
		for _, quantity := range []string{`"1"`, `1`, `0.5`, `"1.5Gi"`, `"2E"`, `"2Ei"`, `"1e3"`, `"1E-6"`, `null`, `"100m"`} {
			asked := request(t, configv1alpha1.InterpreterOperationInterpretReplica)
			asked.Object.Raw = fmt.Appendf(nil, path, quantity)
			if response := ask(t, asked); !response.Successful {
				t.Errorf("%s: %+v", asked.Object.Raw, response.Status)
			}
		}
	}
}
