// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/spf13/cobra"
)

// many is the number of concurrent streams of a connection: a watch for each kind in each project.
const many = 1 << 20

// miloCommand is a Milo with any number of almost empty projects. It is a separate process, so that its memory is not
// counted.
func miloCommand() *cobra.Command {
	var (
		projects, used int
		caFile         string
	)
	cmd := &cobra.Command{
		Use: "milo", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, told, cancel := parent(cmd.Context(), cmd.InOrStdin())
			defer cancel()
			m := &fakeMilo{projects: projects, used: used}
			server := m.server()
			return serveTLS(ctx, server, func(address string, ca []byte) error {
				if err := os.WriteFile(caFile, ca, 0o600); err != nil {
					return fmt.Errorf("write the CA: %w", err)
				}
				go func() {
					for {
						select {
						case <-ctx.Done():
							return
						case <-told:
							fmt.Fprintf(cmd.OutOrStdout(), "load %s\n", m.load())
						}
					}
				}()
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "listening %s\n", address)
				return err
			})
		},
	}
	cmd.Flags().IntVar(&projects, "projects", 0, "how many projects there are")
	cmd.Flags().IntVar(&used, "used", 0, "how many of them have a Workload")
	cmd.Flags().StringVar(&caFile, "ca", "", "file to write the CA to")
	return cmd
}

// fakeMilo implements the part of Milo's API that replicas use. Its objects never change. It is a hub too.
type fakeMilo struct {
	hub fakeHub
	// used is how many of the projects have a Workload.
	projects, used                 int
	connections, watches, requests atomic.Int64
}

// miloLoad is the load of Milo by replicas.
type miloLoad struct{ Connections, Watches, Requests int64 }

func (m *fakeMilo) load() string {
	// A struct of numbers can always be encoded.
	text, _ := json.Marshal(miloLoad{m.connections.Load(), m.watches.Load(), m.requests.Load()})
	return string(text)
}

const (
	projectsPath = "/apis/resourcemanager.miloapis.com/v1alpha1/projects"
	controlPlane = projectsPath + "/{project}/control-plane/apis/"
)

func (m *fakeMilo) server() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+projectsPath, m.listProjects)
	mux.HandleFunc("GET "+projectsPath+"/{project}", m.getProject)
	mux.HandleFunc("GET "+controlPlane+"compute.datumapis.com/v1alpha/{resource}", m.listObjects)
	mux.HandleFunc("GET "+controlPlane+"networking.datumapis.com/v1alpha/locationbindings", m.listBindings)
	m.hub.register(mux)
	mux.HandleFunc("GET "+marksPath, m.listMarks)
	mux.HandleFunc("POST "+controlPlane+"authorization.k8s.io/v1/subjectaccessreviews", allowReview)
	return &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !isOfHub(r) {
				m.requests.Add(1)
			}
			w.Header().Set("Content-Type", "application/json")
			mux.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: headerTimeout,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS13},
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: many},
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				m.connections.Add(1)
			case http.StateClosed, http.StateHijacked:
				m.connections.Add(-1)
			default:
			}
		},
	}
}

// projectName is the name of project i.
func projectName(i int) string { return fmt.Sprintf("project-%06d", i) }

func (m *fakeMilo) listProjects(w http.ResponseWriter, r *http.Request) {
	l := listing{group: "resourcemanager.miloapis.com/v1alpha1", kind: "Project"}
	for i := range m.projects {
		l.items = append(l.items, projectJSON(i))
	}
	m.answer(w, r, l)
}

func (m *fakeMilo) getProject(w http.ResponseWriter, r *http.Request) {
	var i int
	name := r.PathValue("project")
	if _, err := fmt.Sscanf(name, "project-%d", &i); err != nil || i < 0 || i >= m.projects {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"NotFound","code":404,"message":"there is no such project"}`)
		return
	}
	fmt.Fprint(w, projectJSON(i))
}

// kindsOfCompute are the kinds of the add-on. No project has objects of them, but for a Workload in those that are used.
var kindsOfCompute = map[string]string{"workloads": "Workload", "workloaddeployments": "WorkloadDeployment", "instances": "Instance"}

func (m *fakeMilo) listObjects(w http.ResponseWriter, r *http.Request) {
	kind, ok := kindsOfCompute[r.PathValue("resource")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	l := listing{group: "compute.datumapis.com/v1alpha", kind: kind}
	if name := r.PathValue("project"); kind == "Workload" && name < projectName(m.used) {
		l.items = []string{workloadJSON}
	}
	m.answer(w, r, l)
}

func (m *fakeMilo) listBindings(w http.ResponseWriter, r *http.Request) {
	m.answer(w, r, listing{group: "networking.datumapis.com/v1alpha", kind: "LocationBinding", items: []string{bindingJSON}})
}
