// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	leasesPath = "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
	marksPath  = "/api/v1/namespaces/{namespace}/configmaps"
)

// fakeHub implements the part of the hub's API by which replicas share the projects: Leases, of which an outdated version cannot be
// written, and marks, which never change.
type fakeHub struct {
	mu      sync.Mutex
	leases  map[string]*coordinationv1.Lease
	version int
}

func (h *fakeHub) register(mux *http.ServeMux) {
	mux.HandleFunc("GET "+leasesPath, h.list)
	mux.HandleFunc("POST "+leasesPath, h.write)
	mux.HandleFunc("GET "+leasesPath+"/{name}", h.get)
	mux.HandleFunc("PUT "+leasesPath+"/{name}", h.write)
	mux.HandleFunc("DELETE "+leasesPath+"/{name}", h.remove)
}

// isOfHub says whether a request is for the hub.
func isOfHub(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/v1/") || strings.HasPrefix(r.URL.Path, "/apis/coordination.k8s.io/")
}

func refuse(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":%q,"code":%d}`, reason, code)
}

func (h *fakeHub) list(w http.ResponseWriter, _ *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := coordinationv1.LeaseList{}
	all.APIVersion, all.Kind, all.ResourceVersion = coordinationv1.SchemeGroupVersion.String(), "LeaseList", fmt.Sprint(h.version)
	for _, lease := range h.leases {
		all.Items = append(all.Items, *lease)
	}
	_ = json.NewEncoder(w).Encode(all) // the client is gone
}

func (h *fakeHub) get(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	lease := h.leases[r.PathValue("name")]
	if lease == nil {
		refuse(w, http.StatusNotFound, "NotFound")
		return
	}
	_ = json.NewEncoder(w).Encode(lease) // the client is gone
}

func (h *fakeHub) write(w http.ResponseWriter, r *http.Request) {
	lease := &coordinationv1.Lease{}
	if err := json.NewDecoder(r.Body).Decode(lease); err != nil {
		refuse(w, http.StatusBadRequest, "BadRequest")
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	stored := h.leases[lease.Name]
	switch {
	case r.Method == http.MethodPost && stored != nil:
		refuse(w, http.StatusConflict, "AlreadyExists")
		return
	case r.Method == http.MethodPut && stored == nil:
		refuse(w, http.StatusNotFound, "NotFound")
		return
	case r.Method == http.MethodPut && lease.ResourceVersion != stored.ResourceVersion:
		refuse(w, http.StatusConflict, "Conflict")
		return
	}
	h.version++
	lease.APIVersion, lease.Kind, lease.ResourceVersion = coordinationv1.SchemeGroupVersion.String(), "Lease", fmt.Sprint(h.version)
	if stored == nil {
		lease.UID = types.UID(fmt.Sprintf("lease-%d", h.version))
	}
	if h.leases == nil {
		h.leases = map[string]*coordinationv1.Lease{}
	}
	h.leases[lease.Name] = lease
	if r.Method == http.MethodPost {
		w.WriteHeader(http.StatusCreated)
	}
	_ = json.NewEncoder(w).Encode(lease) // the client is gone
}

func (h *fakeHub) remove(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.leases, r.PathValue("name"))
	fmt.Fprint(w, `{"apiVersion":"v1","kind":"Status","status":"Success"}`)
}

// markJSON is the mark of project i, as it is watched: its metadata alone.
func markJSON(i int) string {
	return fmt.Sprintf(`{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"namespace":"karmada-system","name":%q,"uid":"mark-%d",%s,`+
		`"labels":{%q:%q},"annotations":{%q:%q}}}`, v1alpha.ProjectMarkName(projectName(i)), i, created,
		v1alpha.LabelProjectMark, v1alpha.ProjectMarkPresent, v1alpha.AnnotationProjectName, projectName(i))
}

// listMarks serves the marks of the projects that have Workloads.
func (m *fakeMilo) listMarks(w http.ResponseWriter, r *http.Request) {
	l := listing{group: "meta.k8s.io/v1", kind: "PartialObjectMetadata"}
	for i := range m.used {
		l.items = append(l.items, markJSON(i))
	}
	m.answer(w, r, l)
}
