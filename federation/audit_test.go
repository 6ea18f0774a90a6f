// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReadWrites(t *testing.T) {
	since := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	const (
		before = `{"verb":"create","stageTimestamp":"2026-05-01T11:59:59.9Z","user":{"username":"a"},"objectRef":{"resource":"pods"}}`
		create = `{"verb":"create","requestURI":"/api/v1/namespaces/n/pods","stageTimestamp":"2026-05-01T12:00:00.5Z",` +
			`"user":{"username":"a"},"objectRef":{"resource":"pods","namespace":"n","name":"p","apiVersion":"v1"},"responseStatus":{"code":201}}`
		status = `{"verb":"patch","requestURI":"/apis/g/v1/things/t/status?fieldManager=x","stageTimestamp":"2026-05-01T12:00:01Z",` +
			`"user":{"username":"a"},"impersonatedUser":{"username":"b"},` +
			`"objectRef":{"resource":"things","name":"t","apiGroup":"g","apiVersion":"v1","subresource":"status"},"responseStatus":{"code":409}}`
		dryRun = `{"verb":"update","requestURI":"/api/v1/x?dryRun=All","stageTimestamp":"2026-05-01T12:00:02Z","objectRef":{"resource":"x"}}`
		half   = `{"verb":"create","stageTimestamp":"2026-05-0`
	)
	got, err := readWrites(strings.NewReader(strings.Join([]string{before, create, "", status, dryRun, half}, "\n")), since)
	if err != nil {
		t.Fatal(err)
	}
	want := []Write{
		{Time: since.Add(500 * time.Millisecond), User: "a", Verb: "create", Resource: "/pods", Namespace: "n", Name: "p", Code: 201},
		{Time: since.Add(time.Second), User: "b", Verb: "patch", Resource: "g/things/status", Name: "t", Code: 409},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if _, err := readWrites(strings.NewReader("no JSON\n"), since); err == nil {
		t.Error("a malformed line was ignored")
	}
}
