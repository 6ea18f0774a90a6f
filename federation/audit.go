// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// auditPolicy records every write request. Reviews are creates that store
// nothing and are left out.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
omitManagedFields: true
rules:
- level: None
  resources:
  - group: authorization.k8s.io
  - group: authentication.k8s.io
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
`

// Write is one write request that a kube-apiserver answered, successful or not.
type Write struct {
	Time time.Time // when the answer was complete
	User string    // the requesting user, or the impersonated one
	Verb string    // create, update, patch, delete or deletecollection
	// Resource is group/resource/subresource; the core group is empty, as in
	// "/pods/status".
	Resource  string
	Namespace string
	Name      string
	Code      int // HTTP status of the answer
}

// auditEvent has the fields of an audit.k8s.io/v1 Event that are used here.
type auditEvent struct {
	Verb             string    `json:"verb"`
	RequestURI       string    `json:"requestURI"`
	StageTimestamp   time.Time `json:"stageTimestamp"`
	User             auditUser
	ImpersonatedUser *auditUser
	ObjectRef        *struct {
		APIGroup, Resource, Subresource, Namespace, Name string
	}
	ResponseStatus *struct{ Code int }
}

type auditUser struct {
	Username string `json:"username"`
}

// Writes returns the writes that a plane's kube-apiserver answered at or after
// since, oldest first, from its audit log. Dry runs are left out.
func (f *Federation) Writes(plane string, since time.Time) ([]Write, error) {
	switch {
	case plane == planeMilo:
		plane = planeMiloRoot
	case strings.HasPrefix(plane, planeProject):
		plane = planeProjectDirect + strings.TrimPrefix(plane, planeProject)
	}
	if _, err := f.server(plane); err != nil {
		return nil, err
	}
	file, err := os.Open(f.auditLog(plane))
	if err != nil {
		return nil, fmt.Errorf("audit log of %s: %w", plane, err)
	}
	defer func() { _ = file.Close() }() // only read from
	writes, err := readWrites(file, since)
	if err != nil {
		return nil, fmt.Errorf("audit log of %s: %w", plane, err)
	}
	return writes, nil
}

// readWrites reads audit events, one per line. A last line without its end is
// still being written and is ignored.
func readWrites(r io.Reader, since time.Time) ([]Write, error) {
	var writes []Write
	reader := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return writes, nil
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var event auditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("event %q: %w", line, err)
		}
		if write, ok := event.write(); ok && !write.Time.Before(since) {
			writes = append(writes, write)
		}
	}
}

func (e auditEvent) write() (Write, bool) {
	if e.ObjectRef == nil || strings.Contains(e.RequestURI, "dryRun=All") {
		return Write{}, false
	}
	w := Write{
		Time: e.StageTimestamp, User: e.User.Username, Verb: e.Verb,
		Resource:  e.ObjectRef.APIGroup + "/" + e.ObjectRef.Resource,
		Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
	}
	if e.ImpersonatedUser != nil {
		w.User = e.ImpersonatedUser.Username
	}
	if e.ObjectRef.Subresource != "" {
		w.Resource += "/" + e.ObjectRef.Subresource
	}
	if e.ResponseStatus != nil {
		w.Code = e.ResponseStatus.Code
	}
	return w, true
}

func writeAuditPolicy(path string) error {
	if err := writeFile(path, []byte(auditPolicy)); err != nil {
		return fmt.Errorf("audit policy: %w", err)
	}
	return nil
}
