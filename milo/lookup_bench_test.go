// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/milo"
)

// BenchmarkReview measures an uncached review, with a Milo that answers at once. The floor is the same exchange without
// a Kubernetes client.
func BenchmarkReview(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{},"status":{"allowed":true}}`)
	}))
	b.Cleanup(server.Close)
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			response, err := http.Post(server.URL, "application/json", http.NoBody) //nolint:noctx // a floor of the benchmark's own server
			if err != nil {
				b.Fatal(err)
			}
			if err := response.Body.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	lookup, err := milo.NewLookup(milo.LookupOptions{Root: &rest.Config{Host: server.URL}})
	if err != nil {
		b.Fatal(err)
	}
	project := named("north", "1")
	spec := authorizationv1.SubjectAccessReviewSpec{User: "consumer", ResourceAttributes: &authorizationv1.ResourceAttributes{
		Namespace: "default", Verb: "use", Group: "networking.datumapis.com", Resource: "networks", Name: "default",
	}}
	b.Run("review", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			// Each is different: the same one would be cached.
			spec.UID = strconv.Itoa(i)
			if allowed, _, err := lookup.Review(b.Context(), project, spec); err != nil || !allowed {
				b.Fatal(allowed, err)
			}
		}
	})
}

// BenchmarkReserve measures a reservation for a project of so many Workloads of 3 kB, with a list of them and without.
func BenchmarkReserve(b *testing.B) {
	for _, workloads := range []int{1, 100} {
		items := strings.Repeat(","+strings.Replace(placed(inCities), `"cpu"`, `"`+strings.Repeat("x", 3000)+`"`, 1), workloads)[1:]
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if strings.HasSuffix(r.URL.Path, bindingsPath) {
				fmt.Fprint(w, `{"apiVersion":"networking.datumapis.com/v1alpha","kind":"LocationBindingList","items":[]}`)
				return
			}
			workloadPages(items)(w, r)
		}))
		b.Cleanup(server.Close)
		lookup, err := milo.NewLookup(milo.LookupOptions{Root: &rest.Config{Host: server.URL}})
		if err != nil {
			b.Fatal(err)
		}
		reserve := func(b *testing.B, uid string) {
			if _, err := lookup.Reserve(b.Context(), named("north", uid),
				templates.Reservation{More: templates.Demand{Instances: 1}, Limit: templates.Demand{Instances: 1 << 40}}); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("listed/%d", workloads), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				// Each is another project of the name: the same one would be cached.
				reserve(b, strconv.Itoa(i))
			}
		})
		b.Run(fmt.Sprintf("known/%d", workloads), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				reserve(b, "known")
			}
		})
	}
}
