// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/httpstream/wsstream"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/rest"
	clientremotecommand "k8s.io/client-go/tools/remotecommand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// commands answers like an API server: with an output, and an outcome.
func commands(outcome string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{remotecommand.StreamProtocolV5Name: {
			Binary: true,
			Channels: []wsstream.ChannelType{
				wsstream.ReadChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.ReadChannel,
			},
		}})
		_, streams, err := connection.Open(w, r)
		if err != nil {
			return
		}
		defer func() { _ = connection.Close() }()
		fmt.Fprint(streams[1], "output")
		_, _ = io.WriteString(streams[3], outcome)
	})
}

// run runs the command of a session as kubectl does.
func (f *fixture) run(t *testing.T, grant *Grant, key *ecdsa.PrivateKey) (string, error) {
	t.Helper()
	var out strings.Builder
	err := f.runInto(t, grant, key, &out)
	return out.String(), err
}

// copyOutput copies the log of a session, or the output of its command.
func (f *fixture) copyOutput(t *testing.T, grant *Grant, key *ecdsa.PrivateKey, out io.Writer) error {
	t.Helper()
	if usedOnce(grant.Spec.Type) {
		return f.runInto(t, grant, key, out)
	}
	_, err := io.Copy(out, f.get(t, f.addressOf(grant), key).Body)
	return err
}

func (f *fixture) runInto(t *testing.T, grant *Grant, key *ecdsa.PrivateKey, out io.Writer) error {
	t.Helper()
	config := &rest.Config{Host: f.addressOf(grant), Transport: nil}
	own, encoded := certificate(t, key, "")
	config.CertData, config.KeyData = encoded, encodedKey(t, own)
	config.CAData = f.bundle
	executor, err := clientremotecommand.NewWebSocketExecutor(config, http.MethodGet, config.Host)
	if err != nil {
		t.Fatal(err)
	}
	return executor.StreamWithContext(t.Context(), clientremotecommand.StreamOptions{Stdout: out, Stderr: io.Discard})
}

// TestOutcomes verifies that a session shows the exit code of its command, or why it could not be run.
func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		sent, reason, message string
		code                  int32
	}{
		"success": {sent: `{"status":"Success"}`, reason: v1alpha.ReasonSessionCompleted, message: "exit code 0"},
		"a code":  {sent: failure7, reason: v1alpha.ReasonSessionCompleted, message: "exit code 7", code: 7},
		"not started": {
			sent: `{"status":"Failure","message":"no such program"}`, reason: v1alpha.ReasonSessionFailed, message: "no such program", code: -1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, commands(c.sent))
			key := newKey(t)
			session, grant := f.create(t, key, exec)
			out, err := f.run(t, grant, key)
			if out != "output" || (err == nil) != (name == "success") {
				t.Errorf("the client got %q, %v", out, err)
			}
			ended := f.await(t, session, c.reason)
			ready := meta.FindStatusCondition(ended.Status.Conditions, v1alpha.ConditionReady)
			if !strings.Contains(ready.Message, c.message) {
				t.Errorf("the message is %q", ready.Message)
			}
			if code := ended.Status.ExitCode; (code == nil) != (c.code == -1) || code != nil && *code != c.code {
				t.Errorf("the exit code is %v", code)
			}
			f.checkEvent(t, grant)
		})
	}
}

// checkEvent waits for the Event of a session: its user, type, duration and bytes.
func (f *fixture) checkEvent(t *testing.T, grant *Grant) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	event := &corev1.Event{}
	for f.Client.Get(ctx, client.ObjectKey{Namespace: grant.Namespace, Name: "session." + string(grant.UID)}, event) != nil {
		if ctx.Err() != nil {
			t.Fatal("the session has no Event")
		}
	}
	for _, part := range []string{`user "consumer"`, "type Exec", "after ", "bytes to the user"} {
		if !strings.Contains(event.Message, part) {
			t.Errorf("the Event is %q, without %q", event.Message, part)
		}
	}
	if event.InvolvedObject.UID != f.instance.UID || strings.Contains(event.Message, "output") {
		t.Errorf("it is about %+v: %q", event.InvolvedObject, event.Message)
	}
}

// TestRefusedByTheCell verifies that a session shows that its cell refused it, and that only operators see why the
// credential is refused.
func TestRefusedByTheCell(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		http.StatusForbidden: "refuses the credential of sessions", http.StatusBadRequest: "container app is not there",
	} {
		f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "container app is not there, says role secret-of-the-hub", status)
		}))
		key := newKey(t)
		session, grant := f.create(t, key)
		response := f.get(t, f.addressOf(grant), key)
		text := readAll(t, response)
		if response.StatusCode != status || !strings.Contains(text, want) ||
			strings.Contains(text, "secret-of-the-hub") != (status == http.StatusBadRequest) {
			t.Errorf("%d, %q", response.StatusCode, text)
		}
		f.await(t, session, v1alpha.ReasonSessionFailed)
	}
}

// TestProtocols verifies that a command is only served with a protocol that shows its outcome, and with no other
// upgrade.
func TestProtocols(t *testing.T) {
	t.Parallel()
	f := newFixture(t, http.HandlerFunc(echo))
	key := newKey(t)
	for _, c := range []struct {
		upgrade, protocol string
		want              int
	}{
		{"SPDY/3.1", "", http.StatusBadRequest},
		{"websocket", "base64.channel.k8s.io", http.StatusBadRequest},
		{"websocket", "base64.channel.k8s.io, v4.channel.k8s.io", http.StatusSwitchingProtocols},
	} {
		_, grant := f.create(t, key, exec)
		response, _ := f.dialWith(t, f.addressOf(grant), key, http.Header{"Upgrade": {c.upgrade}, "Sec-Websocket-Protocol": {c.protocol}})
		if response.StatusCode != c.want {
			t.Errorf("%+v: %d", c, response.StatusCode)
		}
	}
}

// TestIdle verifies that a command without data ends, and that pings are no data.
func TestIdle(t *testing.T) {
	t.Parallel()
	f := newFixture(t, http.HandlerFunc(echo), func(o *Options) { o.IdleTimeout = time.Second })
	key := newKey(t)
	session, grant := f.create(t, key, exec)
	response, connection := f.dial(t, f.addressOf(grant), key)
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the answer is %d", response.StatusCode)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, connection)
	}()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_, _ = connection.Write([]byte{last | ping, 0x80, 1, 2, 3, 4})
			continue
		case <-ended:
		}
		break
	}
	f.await(t, session, v1alpha.ReasonSessionIdle)
}

// TestPace verifies that a stream carries no more bytes per second than allowed.
func TestPace(t *testing.T) {
	t.Parallel()
	const size = 256 << 10
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("a", 2*size))
	}), func(o *Options) { o.BytesPerSecond = size })
	key := newKey(t)
	_, grant := f.create(t, key)
	began := time.Now()
	if got := len(readAll(t, f.get(t, f.addressOf(grant), key))); got != 2*size {
		t.Errorf("%d bytes", got)
	}
	// The first second's bytes may pass at once.
	if took := time.Since(began); took < 800*time.Millisecond {
		t.Errorf("twice the bytes of a second took %s", took)
	}
}

// TestStreamsOfASession verifies that one session does not occupy all streams of a replica.
func TestStreamsOfASession(t *testing.T) {
	t.Parallel()
	f := newFixture(t, http.HandlerFunc(follow), func(o *Options) { o.Grants.Limits.Streams = 2 * userShare * maxSessionStreams })
	key := newKey(t)
	_, grant := f.create(t, key, followed)
	for range maxSessionStreams {
		if response := f.get(t, f.addressOf(grant), key); response.StatusCode != http.StatusOK {
			t.Fatalf("%d, %q", response.StatusCode, readAll(t, response))
		}
	}
	if response := f.get(t, f.addressOf(grant), key); response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", response.StatusCode)
	}
	_, other := f.create(t, key, followed)
	if response := f.get(t, f.addressOf(other), key); response.StatusCode != http.StatusOK {
		t.Errorf("another session: %d", response.StatusCode)
	}
}

// TestLookupsWait verifies that a client waits while a replica looks up as many sessions as it may, instead of a
// refusal that means that its session does not exist.
func TestLookupsWait(t *testing.T) {
	t.Parallel()
	f := newFixture(t, http.HandlerFunc(follow))
	key := newKey(t)
	_, grant := f.create(t, key, followed)
	for range lookups {
		f.server.unproved <- struct{}{}
	}
	answered := make(chan *http.Response, 1)
	go func() { answered <- f.get(t, f.addressOf(grant), key) }()
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case response := <-answered:
		t.Fatalf("the answer is %d, %q", response.StatusCode, readAll(t, response))
	case <-timer.C:
	}
	<-f.server.unproved
	if response := <-answered; response.StatusCode != http.StatusOK {
		t.Errorf("then the answer is %d, %q", response.StatusCode, readAll(t, response))
	}
}

func followed(s *v1alpha.InstanceSessionSpec) { s.Logs = &v1alpha.SessionLogOptions{Follow: true} }

// follow writes a line, and waits.
func follow(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintln(w, "line")
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// TestDrain verifies that a stopping replica ends followed logs at once, and lets a command finish.
func TestDrain(t *testing.T) {
	t.Parallel()
	const delay = 20 * time.Second
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/log") {
			follow(w, r)
			return
		}
		echo(w, r)
	}), func(o *Options) { o.Delay = delay })
	key := newKey(t)
	_, command := f.create(t, key, exec)
	response, connection := f.dial(t, f.addressOf(command), key)
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the answer is %d", response.StatusCode)
	}
	session, grant := f.create(t, key, followed)
	log := bufio.NewReader(f.get(t, f.addressOf(grant), key).Body)
	if _, err := log.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	stopped, began := make(chan struct{}), time.Now()
	go func() {
		defer close(stopped)
		f.stop()
	}()
	if _, err := log.ReadString('\n'); err == nil {
		t.Error("the log continues")
	}
	f.await(t, session, v1alpha.ReasonSessionReplicaStopped)
	fmt.Fprint(connection, "hello")
	got := make([]byte, 5)
	if _, err := io.ReadFull(connection, got); err != nil {
		t.Errorf("the command has not the time to end: %v", err)
	}
	_ = connection.Close()
	<-stopped
	if took := time.Since(began); took >= delay {
		t.Errorf("without a stream the replica waits for %s", took)
	}
}
