// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"bufio"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// endless writes a line, and then nothing until the client leaves.
var endless = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintln(w, "first")
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
})

// TestLogs: a session is announced, its client reads the container's output while it is written, and the cell gets the
// options of the grant and nothing from the client.
func TestLogs(t *testing.T) {
	var requests []*http.Request
	next := make(chan struct{})
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r)
		fmt.Fprintln(w, "first")
		_ = http.NewResponseController(w).Flush()
		<-next
		fmt.Fprintln(w, "second")
	}))
	key := newKey(t)
	session, _ := f.create(t, key, func(s *v1alpha.InstanceSessionSpec) {
		s.ContainerName, s.Logs = "app", &v1alpha.SessionLogOptions{Follow: true, TailLines: new(int64(5))}
	})
	ready := f.await(t, session, v1alpha.ReasonSessionReady).Status
	if ready.UserName != "consumer" || ready.CABundle == "" || ready.ExpirationTime == nil ||
		time.Until(ready.ExpirationTime.Time) > 15*time.Minute {
		t.Errorf("status is %+v", ready)
	}
	response := f.get(t, ready.URL+"?container=other&follow=false", key)
	lines := bufio.NewReader(response.Body)
	if line, err := lines.ReadString('\n'); line != "first\n" || err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%d, line %q, %v", response.StatusCode, line, err)
	}
	f.await(t, session, v1alpha.ReasonSessionConnected)
	close(next)
	if rest, err := io.ReadAll(lines); string(rest) != "second\n" || err != nil {
		t.Errorf("then %q, %v", rest, err)
	}
	f.await(t, session, v1alpha.ReasonSessionCompleted)
	want := fmt.Sprintf("/apis/cluster.karmada.io/v1alpha1/clusters/%s/proxy/api/v1/namespaces/%s/pods/web-main-dfw-0/log"+
		"?container=app&follow=true&tailLines=5",
		f.cell.Name, f.HubNamespace)
	if len(requests) != 1 || requests[0].URL.String() != want {
		t.Fatalf("the cell got %v, want %s", requests, want)
	}
	for _, header := range []string{"Authorization", "Impersonate-User", "X-Forwarded-For"} {
		if value := requests[0].Header.Get(header); value != "" {
			t.Errorf("the cell got %s: %s", header, value)
		}
	}
	f.checkReview(t)
}

// checkReview checks that the project was asked about the user of the grant, with all attributes of the user.
func (f *fixture) checkReview(t *testing.T) {
	t.Helper()
	f.project.mu.Lock()
	defer f.project.mu.Unlock()
	if asked := f.project.asked[0]; asked.User != "consumer" || asked.UID != "7" || len(asked.Extra) != 1 ||
		asked.ResourceAttributes.Subresource != "log" {
		t.Errorf("asked %+v", asked)
	}
}

// TestRefusals: a client without the key, or too late, or with a second use, gets the same answer as for a session that
// does not exist, and its request reaches no cell.
func TestRefusals(t *testing.T) {
	reached := make(chan string, 100)
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached <- r.URL.Path
		echo(w, r)
	}))
	key, other := newKey(t), newKey(t)
	_, grant := f.create(t, key)
	address := f.addressOf(grant)
	_, used := f.create(t, key, exec)
	if response := f.upgrade(t, f.addressOf(used), key); response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the first use: %d", response.StatusCode)
	}
	<-reached
	deleted, ofDeleted := f.create(t, key)
	if err := f.Client.Delete(t.Context(), deleted); err != nil {
		t.Fatal(err)
	}
	late, ofLate := f.create(t, key)
	f.await(t, late, v1alpha.ReasonSessionReady)
	f.expire(t, ofLate, -time.Second)
	for name, c := range map[string]struct {
		address string
		key     *ecdsa.PrivateKey
	}{
		"no certificate":    {address, nil},
		"another key":       {address, other},
		"unknown":           {strings.Replace(address, string(grant.UID), "00000000-0000-4000-8000-000000000000", 1), key},
		"no UID":            {strings.Replace(address, string(grant.UID), "..%2f..%2fsecrets", 1), key},
		"another name":      {strings.Replace(address, grant.Name, "other", 1), key},
		"another namespace": {strings.Replace(address, grant.Namespace, "other", 1), key},
		"another project":   {strings.Replace(address, "/north/", "/south/", 1), key},
		"used":              {f.addressOf(used), key},
		"expired":           {f.addressOf(ofLate), key},
		"another path":      {f.url + "/", key},
	} {
		for _, send := range []func(*testing.T, string, *ecdsa.PrivateKey) *http.Response{f.get, f.upgrade} {
			response := send(t, c.address, c.key)
			if body := readAll(t, response); response.StatusCode != http.StatusNotFound || body != refusal+"\n" || len(response.Header) > 5 {
				t.Errorf("%s: %d, %q, %v", name, response.StatusCode, body, response.Header)
			}
		}
	}
	if response := f.get(t, f.addressOf(ofDeleted), key); response.StatusCode != http.StatusGone {
		t.Errorf("the client of a deleted session is told %d", response.StatusCode)
	}
	select {
	case path := <-reached:
		t.Errorf("a cell got %s", path)
	default:
	}
}

// TestOneUse: of clients that use a session at the same time, one is served.
func TestOneUse(t *testing.T) {
	f := newFixture(t, http.HandlerFunc(echo))
	key := newKey(t)
	_, grant := f.create(t, key, exec)
	var mu sync.Mutex
	var all sync.WaitGroup
	codes := map[int]int{}
	for range 8 {
		all.Go(func() {
			response := f.upgrade(t, f.addressOf(grant), key)
			mu.Lock()
			defer mu.Unlock()
			codes[response.StatusCode]++
		})
	}
	all.Wait()
	if codes[http.StatusSwitchingProtocols] != 1 || codes[http.StatusNotFound] != 7 {
		t.Errorf("answers are %v", codes)
	}
}

// TestEnds: a running stream ends within 10 s with the reason when it must not continue.
func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*testing.T, *fixture, *v1alpha.InstanceSession)
		reason string
	}{
		"a withdrawn permission": {
			func(_ *testing.T, f *fixture, _ *v1alpha.InstanceSession) { f.project.refuses.Store(true) }, v1alpha.ReasonSessionRevoked,
		},
		"an Instance that moves": {func(t *testing.T, f *fixture, _ *v1alpha.InstanceSession) {
			t.Helper()
			f.copy.Spec.Assignment = assigned(f.Cell(t, planes.City()).Name)
			if err := f.Client.Update(t.Context(), f.copy); err != nil {
				t.Fatal(err)
			}
		}, v1alpha.ReasonSessionInstanceGone},
		"a recreated Instance": {func(t *testing.T, f *fixture, _ *v1alpha.InstanceSession) {
			t.Helper()
			if err := f.Client.Delete(t.Context(), f.instance); err != nil {
				t.Fatal(err)
			}
			again := &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: f.instance.Namespace, Name: f.instance.Name}, Spec: f.instance.Spec}
			if err := f.Client.Create(t.Context(), again); err != nil {
				t.Fatal(err)
			}
		}, v1alpha.ReasonSessionInstanceGone},
		"a shutdown": {func(_ *testing.T, f *fixture, _ *v1alpha.InstanceSession) { f.stop() }, v1alpha.ReasonSessionReplicaStopped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, endless)
			key := newKey(t)
			session, grant := f.create(t, key)
			response := f.get(t, f.addressOf(grant), key)
			lines := bufio.NewReader(response.Body)
			if line, err := lines.ReadString('\n'); line != "first\n" {
				t.Fatalf("%d, %q, %v", response.StatusCode, line, err)
			}
			began := time.Now()
			c.change(t, f, session)
			if _, err := lines.ReadString('\n'); err == nil {
				t.Error("the stream continues")
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("the stream ended after %s", took)
			}
			f.await(t, session, c.reason)
		})
	}
}

// TestMiloAway: a running stream continues while Milo does not answer, and a new one is refused with that reason.
func TestMiloAway(t *testing.T) {
	t.Parallel()
	write := make(chan struct{})
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "first")
		_ = http.NewResponseController(w).Flush()
		<-write
		fmt.Fprintln(w, "second")
	}))
	key := newKey(t)
	_, grant := f.create(t, key)
	response := f.get(t, f.addressOf(grant), key)
	lines := bufio.NewReader(response.Body)
	if line, err := lines.ReadString('\n'); line != "first\n" {
		t.Fatalf("%q, %v", line, err)
	}
	f.project.mute.Store(true)
	if second := f.get(t, f.addressOf(grant), key); second.StatusCode != http.StatusServiceUnavailable ||
		!strings.Contains(readAll(t, second), "try again") {
		t.Errorf("a new stream: %d", second.StatusCode)
	}
	// Longer than the maximum delay until a stream ends.
	timer := time.NewTimer(2 * watchInterval)
	defer timer.Stop()
	<-timer.C
	close(write)
	if line, err := lines.ReadString('\n'); line != "second\n" {
		t.Errorf("then %q, %v", line, err)
	}
	f.project.mute.Store(false)
}

// TestNoStream: a session that cannot be served reports the reason and the remedy.
func TestNoStream(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*testing.T, *fixture)
		spec   func(*v1alpha.InstanceSessionSpec)
		reason string
		want   string
	}{
		"a cell in pull mode": {change: func(t *testing.T, f *fixture) {
			t.Helper()
			f.cell.Spec.SyncMode = clusterv1alpha1.Pull
			if err := f.Client.Update(t.Context(), f.cell); err != nil {
				t.Fatal(err)
			}
		}, reason: v1alpha.ReasonSessionUnreachable, want: "Karmada's tunnel"},
		"a cell in pull mode with a tunnel, whose agent has reported no credential": {change: func(t *testing.T, f *fixture) {
			t.Helper()
			f.cell.Spec.SyncMode, f.cell.Spec.ProxyURL, f.cell.Spec.ImpersonatorSecretRef = clusterv1alpha1.Pull,
				"http://tunnel.karmada-compute.test", nil
			if err := f.Client.Update(t.Context(), f.cell); err != nil {
				t.Fatal(err)
			}
		}, reason: v1alpha.ReasonSessionUnreachable, want: "--report-secrets"},
		"a cell that is lost": {change: func(t *testing.T, f *fixture) {
			t.Helper()
			f.SetReady(t, f.cell, metav1.ConditionFalse, metav1.Now())
		}, reason: v1alpha.ReasonSessionUnreachable, want: "does not answer the hub"},
		"no Instance": {
			spec:   func(s *v1alpha.InstanceSessionSpec) { s.InstanceRef.Name = "web-main-dfw-1" },
			reason: v1alpha.ReasonSessionInstanceGone, want: "web-main-dfw-1 does not exist",
		},
		"another Instance of the name": {
			spec:   func(s *v1alpha.InstanceSessionSpec) { s.InstanceRef.UID = "former" },
			reason: v1alpha.ReasonSessionInstanceGone, want: "was replaced",
		},
		"a copy of another project": {change: func(t *testing.T, f *fixture) {
			t.Helper()
			f.copy.Labels[v1alpha.LabelProjectUID] = "another"
			if err := f.Client.Update(t.Context(), f.copy); err != nil {
				t.Fatal(err)
			}
		}, reason: v1alpha.ReasonSessionInstanceGone, want: "not assigned"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request reached the cell") }))
			if c.change != nil {
				c.change(t, f)
			}
			key := newKey(t)
			var changes []func(*v1alpha.InstanceSessionSpec)
			if c.spec != nil {
				changes = append(changes, c.spec)
			}
			session, grant := f.create(t, key, changes...)
			ended := f.await(t, session, c.reason)
			if message := ended.Status.Conditions[0].Message; !strings.Contains(message, c.want) || ended.Status.URL != "" {
				t.Errorf("message is %q, URL %q", message, ended.Status.URL)
			}
			if response := f.get(t, f.addressOf(grant), key); response.StatusCode != http.StatusGone ||
				!strings.Contains(readAll(t, response), c.want) {
				t.Errorf("the client is told %d", response.StatusCode)
			}
		})
	}
}

// TestSweep: expired sessions are deleted with their grants, grants without a session as well, and sessions of a lost
// replica are announced.
func TestSweep(t *testing.T) {
	f := newFixture(t, endless)
	key := newKey(t)
	sweep := func() {
		t.Helper()
		// Grants do not change otherwise.
		f.server.tasks.retain(nil)
		if err := f.server.sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	grants := f.server.options.Grants
	session, grant := f.create(t, key)
	sweep()
	f.await(t, session, v1alpha.ReasonSessionReady)
	f.expire(t, grant, -time.Second)
	never := *grant
	never.Name, never.UID, never.Spec.TTLSeconds = "never", "00000000-0000-4000-8000-000000000001", 900
	if err := grants.Record(t.Context(), &never); err != nil {
		t.Fatal(err)
	}
	sweep()
	f.eventually(t, "the expired session is deleted", func() bool {
		return apierrors.IsNotFound(f.Client.Get(t.Context(), client.ObjectKeyFromObject(session), session))
	})
	never.Spec.TTLSeconds = 7200
	f.expire(t, &never, time.Hour)
	sweep()
	f.eventually(t, "no grant is left", func() bool {
		left, err := grants.list(t.Context())
		return len(left) == 0 && err == nil
	})
}

// TestGrants: a grant is never replaced, and has its own place and user.
func TestGrants(t *testing.T) {
	f := newFixture(t, endless)
	f.stop()
	grants := f.server.options.Grants
	grants.Limits = Limits{PerUser: 2, PerProject: 3}
	key := newKey(t)
	_, first := f.create(t, key)
	forged := *first
	forged.User.Username = "admin"
	if err := grants.Record(t.Context(), &forged); err == nil {
		t.Error("a grant was replaced")
	}
	if stored, err := grants.get(t.Context(), first.UID); err != nil || stored.User.Username != "consumer" {
		t.Errorf("stored is %+v, %v", stored, err)
	}
	record := func(n int, user string, project types.UID) error {
		grant := *first
		grant.UID, grant.User.Username, grant.ProjectUID = types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n)), user, project
		return grants.Record(t.Context(), &grant)
	}
	for n, c := range []struct {
		user    string
		project types.UID
		tooMany bool
	}{
		{"consumer", planes.ProjectUID, false},
		{"consumer", planes.ProjectUID, true},
		{"other", planes.ProjectUID, false},
		{"third", planes.ProjectUID, true},
		{"consumer", "another", false},
	} {
		if err := record(n, c.user, c.project); errors.Is(err, ErrTooMany) != c.tooMany || !c.tooMany && err != nil {
			t.Errorf("%d: %v", n, err)
		}
	}
	large := *first
	large.UID, large.User.Groups = "00000000-0000-4000-8000-000000000099", []string{strings.Repeat("g", maxGrantBytes)}
	large.ProjectUID = "large"
	if err := grants.Record(t.Context(), &large); !errors.Is(err, ErrTooMany) {
		t.Errorf("a large grant: %v", err)
	}
}

func TestSplit(t *testing.T) {
	for name, want := range map[string]string{
		"web-main-dfw-0": "web-main-dfw 0", "a-1-12": "a-1 12", "a-01": "", "a-+1": "", "a-": "", "-1": "", "a": "", "": "", "a--1": "a- 1",
	} {
		got := ""
		if deployment, index, ok := split(name); ok {
			got = fmt.Sprintf("%s %d", deployment, index)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
