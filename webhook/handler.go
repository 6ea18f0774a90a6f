// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// reserve is what is kept of the API server's patience to send the answer: an answer that comes too late is replaced
// by a timeout that tells the user nothing.
const reserve = 500 * time.Millisecond

// NewHandler validates Workloads over HTTP, at WorkloadPath. It answers before the API server gives up, whatever
// Milo does, and refuses bodies of more than 7 MiB. It is safe for concurrent use.
func NewHandler(projects Projects) http.Handler {
	workloads := &admission.Webhook{Handler: &Workloads{Projects: projects}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if patience, limited := patienceOf(r); limited {
			ctx, cancel := context.WithTimeout(r.Context(), patience)
			defer cancel()
			r = r.WithContext(ctx)
		}
		workloads.ServeHTTP(w, r)
	})
}

// patienceOf is how long a request may take, if its caller says how long it waits.
func patienceOf(r *http.Request) (time.Duration, bool) {
	waits, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || waits <= 0 {
		return 0, false
	}
	// Of a very short wait one half is kept, so that there is time to ask anything at all.
	return max(waits-reserve, waits/2), true
}
