// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	projectsPath     = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/"
	controlPlanePath = "/control-plane"
	// retrySeconds is the Retry-After of a project that is starting.
	retrySeconds = 1
)

// directory returns the backends of projects.
type directory interface {
	// backend returns errUnknownProject or errStartingProject when the
	// project cannot be served. It is called concurrently.
	backend(ctx context.Context, project string) (*backend, error)
	// hangs reports whether a user's requests to a project are not answered.
	hangs(project, user string) bool
	// registered reports whether quota of a resource type may be claimed.
	registered(ctx context.Context, resourceType string) (bool, error)
	// suspended returns the reasons of the suspensions of a project that refuses writes, or nil for any other project.
	suspended(project string) []string
	// terminating reports whether an object of a project is being deleted.
	terminating(ctx context.Context, project string, object objectKey) bool
}

// HangAnnotation on a Project names a user whose requests to the project's control plane are not answered until the
// client cancels them. Tests use it to see how a hanging control plane affects others.
const HangAnnotation = "federation.karmada-compute.dev/hang"

var (
	errUnknownProject  = errors.New("the project does not exist")
	errStartingProject = errors.New("the project's control plane is starting")
)

// router forwards a request to Milo's root or to a project, by its path.
type router struct {
	root     *backend
	projects directory
	ready    func() bool
	// restart is nil at Milo's first start.
	restart *restart
	log     *slog.Logger
}

// ServeHTTP answers or forwards one request.
func (rt *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == ReadyPath {
		rt.readyz(w)
		return
	}
	who, ok := callerOf(r.TLS)
	if !ok {
		rt.refuse(w, apierrors.NewUnauthorized("a client certificate with a common name is required"))
		return
	}
	if refusal := rt.restart.refusal(who); refusal != nil {
		rt.refuse(w, refusal)
		return
	}
	if rt.restart.closes(r, who.user) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		return
	}
	project, length, ok := splitPath(r.URL.EscapedPath())
	switch {
	case !ok:
		rt.refuse(w, notFound("there is nothing at this path; a control plane's path ends in /control-plane/"))
	case project == "":
		rt.toServed(w, r, rt.root, identity{caller: who})
	default:
		rt.toProject(w, r, identity{caller: who, project: project, prefix: length})
	}
}

func (rt *router) readyz(w http.ResponseWriter) {
	if !rt.ready() {
		http.Error(w, "starting", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (rt *router) toProject(w http.ResponseWriter, r *http.Request, id identity) {
	if rt.projects.hangs(id.project, id.user) {
		<-r.Context().Done()
		return
	}
	to, err := rt.projects.backend(r.Context(), id.project)
	switch {
	case errors.Is(err, errUnknownProject):
		rt.refuse(w, notFound("project "+strconv.Quote(id.project)+" does not exist"))
	case errors.Is(err, errStartingProject):
		rt.refuse(w, apierrors.NewTooManyRequests("project "+strconv.Quote(id.project)+" is starting, try again", retrySeconds))
	case err != nil:
		rt.log.Error("project cannot be looked up", "project", id.project, "error", err)
		rt.refuse(w, apierrors.NewServiceUnavailable("project "+strconv.Quote(id.project)+" cannot be looked up at Milo's root"))
	default:
		if refusal := rt.refuseWrite(r, id); refusal != nil {
			rt.refuse(w, refusal)
			return
		}
		if refusal := rt.refuseClaim(r, id); refusal != nil {
			rt.refuse(w, refusal)
			return
		}
		rt.toServed(w, r, to, id)
	}
}

// toServed forwards a request for an API that Milo serves.
func (rt *router) toServed(w http.ResponseWriter, r *http.Request, to *backend, id identity) {
	if !serves(r.URL.Path[id.prefix:]) {
		rt.refuse(w, notFound("the server could not find the requested resource"))
		return
	}
	rt.forward(w, r, to, id)
}

// forward forwards the request as front proxy. It sets the identity headers in Rewrite, after the headers that the
// client's Connection header names have been removed, so that a client cannot remove the identity headers.
func (rt *router) forward(w http.ResponseWriter, r *http.Request, to *backend, id identity) {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL.Scheme, pr.Out.URL.Host, pr.Out.Host = to.url.Scheme, to.url.Host, ""
			pr.Out.URL.Path = pr.Out.URL.Path[id.prefix:]
			if pr.Out.URL.RawPath != "" {
				pr.Out.URL.RawPath = pr.Out.URL.RawPath[id.prefix:]
			}
			id.write(pr.Out.Header)
			if discovers(pr.Out.URL.Path) {
				pr.Out.Header.Del("Accept-Encoding")
			}
		},
		ModifyResponse: func(response *http.Response) error {
			if discovers(response.Request.URL.Path) {
				return hideUnserved(response)
			}
			return nil
		},
		Transport:     to.transport,
		FlushInterval: -1, // events of a watch are sent at once
		ErrorLog:      slog.NewLogLogger(rt.log.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() != nil {
				return // the client is gone
			}
			rt.log.Warn("kube-apiserver does not answer", "project", id.project, "address", to.url.Host, "error", err)
			rt.refuse(w, apierrors.NewServiceUnavailable("the kube-apiserver behind this path does not answer"))
		},
	}
	proxy.ServeHTTP(w, r)
}

// refuse answers with a Status, as a kube-apiserver would.
func (rt *router) refuse(w http.ResponseWriter, err *apierrors.StatusError) {
	status := err.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	body, encodeErr := json.Marshal(status)
	if encodeErr != nil {
		http.Error(w, status.Message, int(status.Code))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	w.WriteHeader(int(status.Code))
	if _, err := w.Write(body); err != nil {
		rt.log.Debug("client left before its answer", "error", err)
	}
}

func notFound(message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: message,
	}}
}

// splitPath returns the project of an escaped path and the length of the part before the path inside the project. Both
// are zero for a path of the root. It reports false for the path of a control plane without a trailing slash.
func splitPath(path string) (project string, length int, ok bool) {
	rest, found := strings.CutPrefix(path, projectsPath)
	if !found {
		return "", 0, true
	}
	project, rest, found = strings.Cut(rest, "/")
	if !found || project == "" {
		return "", 0, true
	}
	switch rest = "/" + rest; {
	case rest == controlPlanePath:
		return "", 0, false
	case strings.HasPrefix(rest, controlPlanePath+"/"):
		return project, len(projectsPath) + len(project) + len(controlPlanePath), true
	default:
		return "", 0, true
	}
}

// callerOf reads the user from a verified client certificate.
func callerOf(state *tls.ConnectionState) (caller, bool) {
	if state == nil || len(state.VerifiedChains) == 0 || len(state.VerifiedChains[0]) == 0 {
		return caller{}, false
	}
	subject := state.VerifiedChains[0][0].Subject
	return caller{user: subject.CommonName, groups: subject.Organization}, subject.CommonName != ""
}
