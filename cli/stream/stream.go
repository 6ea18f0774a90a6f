// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package stream opens InstanceSessions in a project and connects to them.
package stream

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/utils/exec"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/live"
)

const (
	// announcedWithin is how long a session may take to get a URL. Two reads are lookSoonest apart at first, and later
	// lookAgain: a replica needs some milliseconds.
	announcedWithin, lookSoonest, lookAgain = 20 * time.Second, 10 * time.Millisecond, 100 * time.Millisecond
	// closeWithin bounds the deletion of a session that is no longer needed.
	closeWithin = 5 * time.Second
	// endedWithin is how long a session may take to report why it ended.
	endedWithin = 3 * time.Second
	// maxMessage bounds the message of an error response.
	maxMessage = 4 << 10
)

// Session is an open session.
type Session struct {
	project client.Client
	object  *v1alpha.InstanceSession
	config  *rest.Config
}

// Open creates a session with a key of its own, and waits until it has a URL. Streams use the proxy of the project's
// configuration.
func Open(ctx context.Context, project *live.Plane, session *v1alpha.InstanceSession) (*Session, error) {
	key, err := keyed(session)
	if err != nil {
		return nil, err
	}
	if err := project.Client.Create(ctx, session); err != nil {
		return nil, err
	}
	s := &Session{project: project.Client, object: session}
	if err := s.await(ctx); err != nil {
		s.Close()
		return nil, err
	}
	if s.config, err = configOf(session, key); err != nil {
		s.Close()
		return nil, err
	}
	s.config.Proxy = project.Config.Proxy
	return s, nil
}

// try returns the error with which the creation of a session is refused. It creates none.
func try(ctx context.Context, project *live.Plane, session *v1alpha.InstanceSession) error {
	if _, err := keyed(session); err != nil {
		return err
	}
	return project.Client.Create(ctx, session, client.DryRunAll)
}

// keyed gives a session a new key, and returns the key.
func keyed(session *v1alpha.InstanceSession) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate the key of the session: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, fmt.Errorf("encode the key of the session: %w", err)
	}
	session.Spec.PublicKey = encode("PUBLIC KEY", public)
	return key, nil
}

// await waits until the session has a URL, or cannot have one.
func (s *Session) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, announcedWithin, errors.New("the add-on does not answer; an operator can check its "+
		"replicas that serve webhooks"))
	defer cancel()
	pause := time.NewTimer(0)
	defer pause.Stop()
	// unread is the error of the last read.
	var unread error
	for next := lookSoonest; ; next = min(2*next, lookAgain) {
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("session %s has no URL yet: %w", s.object.Name, context.Cause(ctx)), unread)
		case <-pause.C:
			pause.Reset(next)
		}
		err := s.project.Get(ctx, client.ObjectKeyFromObject(s.object), s.object)
		switch {
		case err != nil && isLasting(err):
			return err
		case err != nil:
			// The API server may be busy: the session exists.
			if ctx.Err() == nil {
				unread = err
			}
			continue
		}
		unread = nil
		ready := s.ready()
		switch {
		case ready != nil && ready.Status == metav1.ConditionFalse:
			return fmt.Errorf("%s: %s", ready.Reason, ready.Message)
		case ready != nil && s.object.Status.URL != "":
			return nil
		}
	}
}

// isLasting reports whether another read will fail as well.
func isLasting(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsMethodNotSupported(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsInvalid(err)
}

func (s *Session) ready() *metav1.Condition {
	return meta.FindStatusCondition(s.object.Status.Conditions, v1alpha.ConditionReady)
}

// configOf returns a configuration for the URL of a session, with a certificate for its key.
func configOf(session *v1alpha.InstanceSession, key *ecdsa.PrivateKey) (*rest.Config, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "session"},
		// The clocks of both sides may differ.
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(2 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("create the certificate of the session: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode the key of the session: %w", err)
	}
	return &rest.Config{
		Host: session.Status.URL,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: []byte(session.Status.CABundle), CertData: []byte(encode("CERTIFICATE", certificate)),
			KeyData:    []byte(encode("PRIVATE KEY", private)),
			NextProtos: []string{"http/1.1"},
		},
	}, nil
}

func encode(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// Close deletes the session. A session that cannot be deleted expires.
func (s *Session) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	_ = s.project.Delete(ctx, s.object) // it expires
}

// Logs copies the log to out until it ends.
func (s *Session) Logs(ctx context.Context, out io.Writer) error {
	transport, err := s.connecting()
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.config.Host, nil)
	if err != nil {
		return fmt.Errorf("connect to the session: %w", err)
	}
	response, err := transport.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return refused(response)
	}
	if _, err := io.Copy(out, response.Body); err != nil {
		return s.why(ctx, err)
	}
	return nil
}

// connecting returns a client for the session. It follows no redirect: what a cell answers must not lead anywhere else.
func (s *Session) connecting() (*http.Client, error) {
	connecting, err := rest.HTTPClientFor(s.config)
	if err != nil {
		return nil, fmt.Errorf("connect to the session: %w", err)
	}
	own := *connecting
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own, nil
}

// refused returns the error in a response from an API server or the add-on.
func refused(response *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxMessage))
	if err != nil {
		return fmt.Errorf("the session was answered with %s: %w", response.Status, err)
	}
	status := &metav1.Status{}
	if decoded := decodeStatus(body, status); decoded && status.Message != "" {
		return &apierrors.StatusError{ErrStatus: *status}
	}
	return fmt.Errorf("the session was answered with %s: %s", response.Status, strings.TrimSpace(string(bytes.ToValidUTF8(body, nil))))
}

// Exec runs the command of the session, or attaches to its container, until it ends.
func (s *Session) Exec(ctx context.Context, options remotecommand.StreamOptions) error {
	executor, err := remotecommand.NewWebSocketExecutor(s.config, http.MethodGet, s.config.Host)
	if err != nil {
		return fmt.Errorf("connect to the session: %w", err)
	}
	err = executor.StreamWithContext(ctx, options)
	var exited exec.ExitError
	if err == nil || errors.As(err, &exited) || ctx.Err() != nil {
		return err
	}
	return s.why(ctx, err)
}

// cutError reports that the other side ended a stream.
type cutError struct {
	// reason and message come from the session; empty if the session has not reported its end.
	reason, message string
	cause           error
}

// Error names the cause.
func (e *cutError) Error() string {
	if e.reason == "" {
		return fmt.Sprintf("the connection to the add-on was lost: %v", e.cause)
	}
	return fmt.Sprintf("the stream was ended: %s: %s", e.reason, e.message)
}

// Unwrap returns the error of the connection.
func (e *cutError) Unwrap() error { return e.cause }

// why returns the reason why a stream ended, which the session reports soon afterwards.
func (s *Session) why(ctx context.Context, cut error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, endedWithin)
	defer cancel()
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for {
		err := s.project.Get(ctx, client.ObjectKeyFromObject(s.object), s.object)
		ready := s.ready()
		switch {
		case apierrors.IsNotFound(err):
			return &cutError{reason: v1alpha.ReasonSessionCompleted, message: "the session was deleted"}
		case err != nil || ready == nil || ready.Status != metav1.ConditionFalse:
		case ready.Reason == v1alpha.ReasonSessionCompleted:
			// The add-on has lost this side, too.
			return &cutError{cause: cut}
		default:
			return &cutError{reason: ready.Reason, message: ready.Message}
		}
		select {
		case <-ctx.Done():
			return &cutError{cause: cut}
		case <-ticker.C:
		}
	}
}
