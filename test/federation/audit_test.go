// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestReadWrites(t *testing.T) {
	since := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	const (
		before = `{"verb":"create","stageTimestamp":"2026-05-01T11:59:59.900000Z","user":{"username":"a"},"objectRef":{"resource":"pods"}}`
		create = `{"verb":"create","requestURI":"/api/v1/namespaces/n/pods","stageTimestamp":"2026-05-01T12:00:00.500000Z",` +
			`"user":{"username":"a"},"objectRef":{"resource":"pods","namespace":"n","name":"p","apiVersion":"v1"},"responseStatus":{"code":201}}`
		status = `{"verb":"patch","requestURI":"/apis/g/v1/things/t/status?fieldManager=x","stageTimestamp":"2026-05-01T12:00:01.000000Z",` +
			`"user":{"username":"a"},"impersonatedUser":{"username":"b"},` +
			`"objectRef":{"resource":"things","name":"t","apiGroup":"g","apiVersion":"v1","subresource":"status"},"responseStatus":{"code":409}}`
		dryRun = `{"verb":"update","requestURI":"/api/v1/x?dryRun=All","stageTimestamp":"2026-05-01T12:00:02.000000Z","objectRef":{"resource":"x"}}`
		half   = `{"verb":"create","stageTimestamp":"2026-05-0`
	)
	const (
		review = `{"verb":"create","stageTimestamp":"2026-05-01T12:00:02.000000Z","objectRef":{"resource":"tokenreviews","apiGroup":"authentication.k8s.io"}}`
		read   = `{"verb":"get","stageTimestamp":"2026-05-01T12:00:03.000000Z","user":{"username":"a"},"objectRef":{"resource":"pods","name":"p"},` +
			`"responseStatus":{"code":403},"annotations":{"authorization.k8s.io/decision":"forbid"}}`
		denied = `{"verb":"create","stageTimestamp":"2026-05-01T11:59:00.000000Z","objectRef":{"resource":"works","apiGroup":"work.karmada.io"},` +
			`"responseStatus":{"code":403,"message":"works \"a\" is forbidden: ValidatingAdmissionPolicy 'karmada-compute' with binding 'karmada-compute' denied request"}}`
		full = `{"verb":"create","stageTimestamp":"2026-05-01T11:59:00.000000Z","objectRef":{"resource":"pods"},` +
			`"responseStatus":{"code":403,"message":"pods \"a\" is forbidden: exceeded quota"}}`
	)
	var got []Write
	var forbidden []Request
	err := readEvents(strings.NewReader(strings.Join([]string{
		before, create, "", status, dryRun, review, read, denied, full, half,
	}, "\n")), func(e auditEvent) {
		if write, ok := e.write(); ok && !write.Time.Before(since) {
			got = append(got, write)
		}
		if request := e.request(); request.Forbidden {
			forbidden = append(forbidden, request)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(forbidden) != 2 || forbidden[0].Resource != "/pods" || forbidden[0].Verb != "get" || forbidden[0].Code != 403 ||
		forbidden[1].Resource != "work.karmada.io/works" {
		t.Errorf("forbidden are %v", forbidden)
	}
	want := []Write{
		{Time: since.Add(500 * time.Millisecond), User: "a", Verb: "create", Resource: "/pods", Namespace: "n", Name: "p", Code: 201},
		{Time: since.Add(time.Second), User: "b", Verb: "patch", Resource: "g/things/status", Name: "t", Code: 409},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if err := readEvents(strings.NewReader("no JSON\n"), func(auditEvent) {}); err == nil {
		t.Error("a malformed line was ignored")
	}
}

// TestRequestsDuringStart covers a kube-apiserver that refuses everything until it has read the roles.
func TestRequestsDuringStart(t *testing.T) {
	f := newFolder(t)
	const plane = planeHub
	f.state.Ports = map[string]int{plane: 1}
	begin := time.Now()
	event := func(at time.Time) string {
		return `{"verb":"get","requestURI":"/api","stageTimestamp":"` + at.UTC().Format(metav1.RFC3339Micro) + `","user":{"username":"a"},` +
			`"annotations":{"authorization.k8s.io/decision":"forbid"}}` + "\n"
	}
	if err := f.StartProcess(t.Context(), Process{
		Name: apiServerName(plane), Path: "/bin/sleep", Args: []string{"60"}, Ready: func(context.Context) error { return nil },
	}); err != nil {
		t.Fatal(err)
	}
	end := time.Now()
	lines := event(begin.Add(-time.Second)) + event(begin.Add(end.Sub(begin)/2)) + event(end.Add(time.Second))
	if err := os.WriteFile(f.auditLog(plane), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	requests, err := f.Requests(plane, time.Time{}, "a")
	if err != nil {
		t.Fatal(err)
	}
	var got []bool
	for _, request := range requests {
		got = append(got, request.Forbidden)
	}
	if want := []bool{true, false, true}; !slices.Equal(got, want) {
		t.Errorf("forbidden before, during and after the start: %v, want %v", got, want)
	}
}
