// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/httpstream/wsstream"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
	"k8s.io/utils/exec"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/sessions"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// onlyProject implements sessions.Projects for the project of a fixture.
type onlyProject struct{ client client.Client }

func (p onlyProject) Client(context.Context, string, types.UID) (client.Client, error) {
	return p.client, nil
}

func (p onlyProject) Review(context.Context, string, types.UID, authorizationv1.SubjectAccessReviewSpec) (bool, error) {
	return true, nil
}

// serveSessions runs a replica that grants every session of the namespace. cells answers for Karmada's proxy.
func (f *fixture) serveSessions(cells http.Handler, change ...func(*sessions.Options)) {
	f.Helper()
	listener, err := (&net.ListenConfig{}).Listen(f.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	serving, bundle := selfSigned(f.T)
	hub := httptest.NewServer(cells)
	f.Cleanup(hub.CloseClientConnections)
	options := sessions.Options{
		Grants: &sessions.Grants{
			Hub: f.Client, Namespace: testenv.Namespace(f.T, f.Client, "grants").Name, Clock: clock.RealClock{},
			Limits: sessions.Limits{PerUser: 20, PerProject: 20, Streams: 20},
		},
		Projects: onlyProject{f.Client}, Cells: http.DefaultTransport, Hub: hub.URL,
		URL: "https://" + listener.Addr().String(), Clock: clock.RealClock{},
		Certificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return serving, nil },
		Bundle:      func(context.Context) ([]byte, error) { return bundle, nil },
		Log:         logr.Discard(),
	}
	for _, one := range change {
		one(&options)
	}
	s, err := sessions.New(options)
	if err != nil {
		f.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	admission := sessions.NewAdmission(options.Grants, options.Projects, clock.RealClock{}, logr.Discard())
	ended := make(chan error, 2)
	go func() { ended <- s.Serve(ctx, listener) }()
	go func() { ended <- admission.Run(ctx) }()
	events, err := f.Client.Watch(ctx, &v1alpha.InstanceSessionList{}, client.InNamespace(f.Namespace.Name))
	if err != nil {
		f.Fatal(err)
	}
	granted := make(chan struct{})
	go func() {
		defer close(granted)
		for event := range events.ResultChan() {
			session, ok := event.Object.(*v1alpha.InstanceSession)
			if !ok || event.Type != watch.Added {
				continue
			}
			if err := admission.Grant(ctx, &sessions.Grant{
				Project: string(planes.ProjectName), ProjectUID: planes.ProjectUID, Namespace: session.Namespace, Name: session.Name, UID: session.UID,
				User: authenticationv1.UserInfo{Username: "consumer"}, Spec: session.Spec,
			}); err != nil && ctx.Err() == nil {
				f.Errorf("grant: %v", err)
			}
		}
	}()
	f.Cleanup(func() {
		stop()
		events.Stop()
		<-granted
		for range cap(ended) {
			if err := <-ended; err != nil {
				f.Errorf("serve: %v", err)
			}
		}
	})
}

func selfSigned(t *testing.T) (*tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{behindProxy},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// reachable creates a scene whose Instances are in a cell.
func (f *fixture) reachable() {
	f.Helper()
	_, d := f.scene()
	onHub := f.copied(d)
	onHub.Labels[v1alpha.LabelProjectUID] = string(planes.ProjectUID)
	onHub.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{{
		Name: f.Cell(f.T, planes.City()).Name, Indices: []v1alpha.IndexRange{{First: 0, Last: 1}},
	}}}
	if err := f.Client.Update(f.Context(), onHub); err != nil {
		f.Fatal(err)
	}
}

// pod returns the name of the Pod in a request.
func pod(r *http.Request) string {
	parts := strings.Split(r.URL.Path, "/")
	return parts[len(parts)-2]
}

func TestLogs(t *testing.T) {
	f := newFixture(t)
	f.reachable()
	f.serveSessions(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("previous") == "true" {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(metav1.Status{
				TypeMeta: metav1.TypeMeta{Kind: "Status"}, Message: "previous terminated container not found",
			})
			return
		}
		stamp, query := "", r.URL.RawQuery
		if follow, asked := strings.CutSuffix(query, "&timestamps=true"); asked && strings.HasSuffix(follow, "follow=true") {
			// The command requests the time of each line, so that it can continue an interrupted log.
			stamp, query = "2026-01-02T03:04:05.000000000Z ", follow
		}
		fmt.Fprintf(w, "%shello of %s\n%s%s", stamp, pod(r), stamp, query)
	}))
	// Only the rights that the page lists for a consumer.
	consumer := f.user(
		may(read, "instances", "workloads"), may([]string{"create", "get", "delete"}, "instancesessions"),
	)
	f.want(f.kubectl(consumer, "logs", "web-texas-dfw-0", "--tail=5", "--since=1500ms", "--timestamps"), 0,
		"hello of web-texas-dfw-0\ncontainer=web&sinceSeconds=2&tailLines=5&timestamps=true")
	r := f.kubectl(consumer, "logs", "web", "-f")
	f.want(r, 0, "[web-texas-dfw-0/web] hello of web-texas-dfw-0\n", "[web-texas-dfw-1/web] hello of web-texas-dfw-1\n", "follow=true\n")
	if lines := strings.Count(r.out, "\n"); lines != 4 {
		t.Errorf("%d lines in %q", lines, r.out)
	}
	f.want(f.kubectl(consumer, "logs", "web", "--city=ORD"), 1, "no Instance of a Workload of that name in ORD")
	f.want(f.kubectl(consumer, "logs", "web-texas-dfw-0", "-p"), 1, "previous terminated container not found")
	f.want(f.kubectl(consumer, "logs", "web-texas-dfw-0", "-c", "other"), 1,
		"container other is not in Instance web-texas-dfw-0, which has web")
	f.want(f.kubectl(consumer, "logs", "web", "-f", "--max-log-requests=1"), 1, "there are 2 logs to follow")
	f.want(f.kubectl(consumer, "logs", "web", "--since=1s", "--since-time=2026-01-02T03:04:05Z"), 1, "set one of them")
	f.want(f.kubectl(f.user(may(read, "instances")), "logs", "web-texas-dfw-0"), 1, "forbidden")
	// The command leaves no session behind.
	var left v1alpha.InstanceSessionList
	if err := f.Client.List(f.Context(), &left, client.InNamespace(f.Namespace.Name)); err != nil || len(left.Items) > 0 {
		t.Errorf("%d sessions are left, %v", len(left.Items), err)
	}
}

// TestLogsOfSeveral: an Instance that has no log yet does not end the logs of the others.
func TestLogsOfSeveral(t *testing.T) {
	f := newFixture(t)
	f.reachable()
	refused := make(chan struct{}, 2)
	f.serveSessions(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if pod(r) == "web-texas-dfw-0" {
			defer func() { refused <- struct{}{} }()
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status"}, Message: "is waiting to start"})
			return
		}
		select {
		case <-refused:
		case <-r.Context().Done():
		}
		stamp := ""
		if r.URL.Query().Get("follow") == "true" {
			stamp = "2026-01-02T03:04:05.000000000Z "
		}
		fmt.Fprintf(w, "%shello\n", stamp)
	}))
	for _, follow := range []string{"-f=false", "-f"} {
		f.want(f.kubectl(f.Config(), "logs", "web", follow), 1, "[web-texas-dfw-1/web] hello\n",
			"Instance web-texas-dfw-0: is waiting to start", "1 of 2 logs")
	}
}

// TestLogsThatAreCutOff: the command reports why a log was cut off.
func TestLogsThatAreCutOff(t *testing.T) {
	f := newFixture(t)
	f.reachable()
	f.serveSessions(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "first")
		_ = http.NewResponseController(w).Flush()
		instance := &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "web-texas-dfw-0"}}
		_ = f.Client.Delete(r.Context(), instance)
		<-r.Context().Done()
	}))
	f.want(f.kubectl(f.Config(), "logs", "web-texas-dfw-0", "-f"), 1, "first\n",
		"SessionInstanceGone: Instance web-texas-dfw-0 does not exist")
}

// openCommand opens the streams of a command as an API server does, or none.
func openCommand(w http.ResponseWriter, r *http.Request) ([]io.ReadWriteCloser, *wsstream.Conn) {
	connection := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{remotecommand.StreamProtocolV5Name: {
		Binary: true,
		Channels: []wsstream.ChannelType{
			wsstream.ReadChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.ReadChannel,
		},
	}})
	_, streams, err := connection.Open(w, r)
	if err != nil {
		return nil, nil
	}
	return streams, connection
}

// TestExec: input and output go through, and the command ends with the exit code of the one in the container.
func TestExec(t *testing.T) {
	f := newFixture(t)
	f.reachable()
	f.serveSessions(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		streams, connection := openCommand(w, r)
		if streams == nil {
			return
		}
		defer func() { _ = connection.Close() }()
		fmt.Fprintf(streams[1], "%s runs %v", pod(r), r.URL.Query()["command"])
		fmt.Fprint(streams[2], "an error of it")
		status := metav1.Status{
			Status: metav1.StatusFailure, Reason: remotecommand.NonZeroExitCodeReason,
			Message: "exit code 7", Details: &metav1.StatusDetails{
				Causes: []metav1.StatusCause{{Type: remotecommand.ExitCodeCauseType, Message: "7"}},
			},
		}
		if r.URL.Path[strings.LastIndexByte(r.URL.Path, '/'):] == "/attach" {
			status = metav1.Status{Status: metav1.StatusSuccess}
		}
		encoded, _ := json.Marshal(status)
		_, _ = streams[3].Write(encoded)
	}))
	r := f.kubectl(f.Config(), "exec", "web-texas-dfw-0", "--", "sh", "-c", "exit 7")
	// kubectl's CheckErr ends the process with the status of such an error.
	var exited exec.ExitError
	if !errors.As(r.err, &exited) || exited.ExitStatus() != 7 || r.out != "web-texas-dfw-0 runs [sh -c exit 7]" ||
		r.errOut != "an error of it" {
		t.Errorf("exit code %d, %q, %q, %v", r.code, r.out, r.errOut, r.err)
	}
	f.want(f.kubectl(f.Config(), "attach", "web-texas-dfw-0"), 0, "web-texas-dfw-0 runs []")
	f.want(f.kubectl(f.Config(), "exec", "web-texas-dfw-0"), 1, "a command")
	f.want(f.kubectl(f.Config(), "exec", "web-texas-dfw-9", "--", "sh"), 1, "not found")
}

// succeed reports to a client that its command has ended with exit code 0.
func succeed(streams []io.ReadWriteCloser) {
	encoded, _ := json.Marshal(metav1.Status{Status: metav1.StatusSuccess})
	_, _ = streams[3].Write(encoded)
}

// TestExecInput verifies that the command in the container gets the end of its input, and that its output still arrives
// afterwards.
func TestExecInput(t *testing.T) {
	f := newFixture(t)
	f.reachable()
	f.serveSessions(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		streams, connection := openCommand(w, r)
		if streams == nil {
			return
		}
		defer func() { _ = connection.Close() }()
		text, err := io.ReadAll(streams[0])
		fmt.Fprintf(streams[1], "%s, %v", strings.ToUpper(string(text)), err)
		succeed(streams)
	}))
	large := strings.Repeat("from the consumer ", 10000)
	r := f.call(call{config: f.Config(), in: strings.NewReader(large)}, "exec", "web-texas-dfw-0", "-i", "--", "tr", "a-z", "A-Z")
	if want := strings.ToUpper(large) + ", <nil>"; r.code != 0 || r.out != want {
		t.Errorf("exit code %d, %v, %d of %d bytes: %.100q", r.code, r.err, len(r.out), len(want), r.out)
	}
}

// TestLogsThatContinue verifies that a followed log that is cut off continues without a lost or repeated line.
func TestLogsThatContinue(t *testing.T) {
	f := newFixture(t)
	f.reachable()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	lines := make([]string, 9)
	for i := range lines {
		// Three lines have the same second, and two the same time.
		lines[i] = fmt.Sprintf("%s line %d\n", at.Add(time.Duration(i/2)*400*time.Millisecond).Format("2006-01-02T15:04:05.000000000Z07:00"), i)
	}
	streams := 0
	f.serveSessions(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		since, err := time.Parse(time.RFC3339, r.URL.Query().Get("sinceTime"))
		if streams++; streams == 1 != (err != nil) || r.URL.Query().Get("timestamps") != "true" {
			t.Errorf("stream %d asks for %s", streams, r.URL.RawQuery)
		}
		for i, line := range lines {
			if stamp, err := time.Parse(time.RFC3339Nano, strings.Fields(line)[0]); err != nil || stamp.Before(since) {
				continue
			}
			if streams < 3 && i == 3*streams {
				// Within a line.
				fmt.Fprint(w, line[:len(line)-2])
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
			fmt.Fprint(w, line)
		}
	}))
	r := f.kubectl(f.Config(), "logs", "web-texas-dfw-0", "-f")
	var want strings.Builder
	for i := range lines {
		fmt.Fprintf(&want, "line %d\n", i)
	}
	if r.out != want.String() || r.code != 0 || streams != 3 {
		t.Errorf("exit code %d after %d streams: %q, %q", r.code, streams, r.out, r.errOut)
	}
}

// TestPortForwardMistakes verifies that the command names the wrong argument.
func TestPortForwardMistakes(t *testing.T) {
	f := newFixture(t)
	f.reachable()
	f.serveSessions(http.NotFoundHandler())
	f.want(f.kubectl(f.Config(), "port-forward", "web-texas-dfw-0"), 1, "and ports")
	f.want(f.kubectl(f.Config(), "port-forward", "web-texas-dfw-0", "80:0"), 1, `"0" is not a port from 1 to 65535`)
	f.want(f.kubectl(f.Config(), "port-forward", "web-texas-dfw-0", "70000:80"), 1, `"70000" is not a port from 0 to 65535`)
	f.want(f.kubectl(f.Config(), "port-forward", "web-texas-dfw-9", "80"), 1, "not found")
}
