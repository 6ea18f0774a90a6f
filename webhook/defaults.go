// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"context"
	"fmt"
	"reflect"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// Defaults fills in what a Workload leaves out. It asks nobody. It is safe for concurrent use.
type Defaults struct{}

// Handle answers one admission request with a patch that adds defaults and leaves every other field alone, also those
// that this version of the API does not know.
func (Defaults) Handle(_ context.Context, request admission.Request) admission.Response {
	workload, stored, err := decode(request)
	if err != nil {
		return malformed(err)
	}
	// The patch is between two encodings of the typed object: what it does not know is in neither.
	before, err := json.Marshal(workload)
	if err != nil {
		return malformed(fmt.Errorf("encode the Workload: %w", err))
	}
	template := workload.Spec.Template.DeepCopy()
	validation.Default(workload)
	if stored != nil && reflect.DeepEqual(stored.Spec.Template, *template) {
		// A default that came later must not replace Instances when something else is changed.
		workload.Spec.Template = *template
	}
	after, err := json.Marshal(workload)
	if err != nil {
		return malformed(fmt.Errorf("encode the Workload with its defaults: %w", err))
	}
	if bytes.Equal(before, after) {
		return admission.Allowed("")
	}
	response := admission.PatchResponseFromRaw(before, after)
	if !applies(response, request.Object.Raw) {
		// Something that must be there is missing: the schema says so better than a patch that fails.
		return admission.Allowed("")
	}
	return response
}

// applies says whether a patch can be applied to the object as it came in.
func applies(response admission.Response, object []byte) bool {
	encoded, err := json.Marshal(response.Patches)
	if err != nil {
		return false
	}
	patch, err := jsonpatch.DecodePatch(encoded)
	if err != nil {
		return false
	}
	_, err = patch.Apply(object)
	return err == nil
}
