// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditPolicy records every request of the add-on, a watch when it begins and when it ends, and every write of other
// users. Reviews are creates that store nothing: reviews of other users are left out.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: Metadata
  users: [karmada-compute, "system:serviceaccount:karmada-system:karmada-compute", "system:serviceaccount:karmada-compute-system:karmada-compute-cell"]
- level: None
  resources:
  - group: authorization.k8s.io
  - group: authentication.k8s.io
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
  omitStages: [RequestReceived, ResponseStarted]
`

// Write is one write request that a kube-apiserver answered, successful or not.
type Write struct {
	Time     time.Time // when the answer was complete
	Received time.Time // when the request arrived
	User     string    // the requesting user, or the impersonated one
	Verb     string    // create, update, patch, delete or deletecollection
	// Resource is group/resource/subresource; the core group is empty, as in
	// "/pods/status".
	Resource  string
	Namespace string
	Name      string
	Code      int // HTTP status of the answer
}

// Attacker is the user agent of tests that try the rights of the add-on's credentials. Requests leaves out their
// requests.
const Attacker = "attacker"

// Request is a request of the add-on that a kube-apiserver answered.
type Request struct {
	Write
	// Path of a request without a resource.
	Path string
	// Forbidden is set if RBAC or a ValidatingAdmissionPolicy has denied the request. It is not set for requests while the
	// kube-apiserver starts, which denies all of them until it has read the roles.
	Forbidden bool
}

// auditEvent is an event of an audit log.
type auditEvent struct{ auditv1.Event }

// Writes returns the writes that a plane's kube-apiserver answered at or after
// since, oldest first, from its audit log. Dry runs are left out.
func (f *Federation) Writes(plane string, since time.Time) ([]Write, error) {
	var writes []Write
	return writes, f.readAudit(plane, func(event auditEvent) {
		if write, ok := event.write(); ok && !write.Time.Before(since) {
			writes = append(writes, write)
		}
	})
}

// Requests returns the requests of some users that a plane's kube-apiserver answered at or after since, oldest first,
// from its audit log. The log has only the add-on's requests.
func (f *Federation) Requests(plane string, since time.Time, users ...string) ([]Request, error) {
	starts, err := f.starts(apiServerName(audited(plane)))
	if err != nil {
		return nil, err
	}
	var requests []Request
	return requests, f.readAudit(plane, func(event auditEvent) {
		request := event.request()
		if !slices.Contains(users, request.User) || request.Time.Before(since) || event.UserAgent == Attacker {
			return
		}
		if slices.ContainsFunc(starts, func(s start) bool { return s.during(request.Time) }) {
			request.Forbidden = false
		}
		requests = append(requests, request)
	})
}

// audited returns the plane whose kube-apiserver answers the requests to a plane.
func audited(plane string) string {
	switch {
	case plane == planeMilo:
		return planeMiloRoot
	case strings.HasPrefix(plane, planeProject):
		return planeProjectDirect + strings.TrimPrefix(plane, planeProject)
	default:
		return plane
	}
}

// readAudit calls each for every event in the audit log of a plane.
func (f *Federation) readAudit(plane string, each func(auditEvent)) error {
	plane = audited(plane)
	if _, err := f.server(plane); err != nil {
		return err
	}
	file, err := os.Open(f.auditLog(plane))
	if err != nil {
		return fmt.Errorf("audit log of %s: %w", plane, err)
	}
	defer func() { _ = file.Close() }() // only read from
	if err := readEvents(file, each); err != nil {
		return fmt.Errorf("audit log of %s: %w", plane, err)
	}
	return nil
}

// readEvents reads audit events. A last one without its end is still being written and is ignored.
func readEvents(r io.Reader, each func(auditEvent)) error {
	for decoder := json.NewDecoder(r); ; {
		var event auditEvent
		err := decoder.Decode(&event.Event)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("event at byte %d: %w", decoder.InputOffset(), err)
		}
		each(event)
	}
}

// writeVerbs are the verbs that change an object.
var writeVerbs = []string{"create", "update", "patch", "delete", "deletecollection"}

// reviewGroups have creates that store nothing.
var reviewGroups = []string{"authorization.k8s.io", "authentication.k8s.io"}

func (e auditEvent) write() (Write, bool) {
	if e.ObjectRef == nil || strings.Contains(e.RequestURI, "dryRun=All") ||
		!slices.Contains(writeVerbs, e.Verb) || slices.Contains(reviewGroups, e.ObjectRef.APIGroup) {
		return Write{}, false
	}
	return e.request().Write, true
}

func (e auditEvent) request() Request {
	w := Write{Time: e.StageTimestamp.UTC(), Received: e.RequestReceivedTimestamp.UTC(), User: e.User.Username, Verb: e.Verb}
	path, _, _ := strings.Cut(e.RequestURI, "?")
	if e.ObjectRef != nil {
		path = ""
		w.Resource = e.ObjectRef.APIGroup + "/" + e.ObjectRef.Resource
		w.Namespace, w.Name = e.ObjectRef.Namespace, e.ObjectRef.Name
		if e.ObjectRef.Subresource != "" {
			w.Resource += "/" + e.ObjectRef.Subresource
		}
	}
	if e.ImpersonatedUser != nil {
		w.User = e.ImpersonatedUser.Username
	}
	if e.ResponseStatus != nil {
		w.Code = int(e.ResponseStatus.Code)
	}
	return Request{Write: w, Path: path, Forbidden: e.Annotations["authorization.k8s.io/decision"] == "forbid" || e.deniedByPolicy()}
}

// deniedByPolicy reports whether a ValidatingAdmissionPolicy has denied the request.
func (e auditEvent) deniedByPolicy() bool {
	return e.ResponseStatus != nil && e.ResponseStatus.Code == http.StatusForbidden &&
		strings.Contains(e.ResponseStatus.Message, "ValidatingAdmissionPolicy")
}

func writeAuditPolicy(path string) error {
	if err := writeFile(path, []byte(auditPolicy)); err != nil {
		return fmt.Errorf("audit policy: %w", err)
	}
	return nil
}
