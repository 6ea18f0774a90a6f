// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"crypto/sha256"
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/util/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// futile has the writes that did not take, by what was stored and what was requested: a mutating webhook undoes
// them, or the API server does not know a field. They are repeated after futileFor, since no event reports that a
// webhook is gone.
var futile = cache.NewLRUExpireCache(4096)

const futileFor = 10 * time.Minute

// isFutile reports whether a write of wanted over what is stored did not take before.
func isFutile(stored client.Object, wanted any) bool {
	key, ok := futileKey(stored, wanted)
	_, found := futile.Get(key)
	return ok && found
}

func recordFutile(stored client.Object, wanted any) {
	if key, ok := futileKey(stored, wanted); ok {
		futile.Add(key, true, futileFor)
	}
}

// futileKey identifies an object with its content, without the parts that change by themselves, and a write.
func futileKey(stored client.Object, wanted any) (key [sha256.Size]byte, ok bool) {
	encoded, err := json.Marshal([]any{
		stored.GetUID(), specOf(stored), stored.GetLabels(), stored.GetAnnotations(), stored.GetFinalizers(), stored.GetOwnerReferences(), wanted,
	})
	return sha256.Sum256(encoded), err == nil && stored.GetUID() != ""
}
