// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

const (
	// firstRetry and lastRetry bound the time between two questions, questionTimeout how long one may take.
	firstRetry, lastRetry = 250 * time.Millisecond, 5 * time.Second
	questionTimeout       = 10 * time.Second
	// sayAgainAfter is the interval between log lines while an API server does not answer.
	sayAgainAfter = 30 * time.Second
	// refusedFor is the time for which 401 and 403 are retried: an API server that has just started refuses every caller
	// for some seconds.
	refusedFor = 15 * time.Second
)

// Server is an API server without which a component cannot begin.
type Server struct {
	// Name is the server's name in messages. Flag is the source of its address and credential.
	Name, Flag string
	// Config is for a client of it.
	Config *rest.Config
	// Clock is for the time between questions.
	Clock clock.Clock
	// Log gets the waits.
	Log logr.Logger
}

// Await returns when the API server answers, or with an error when ctx ends. It waits for an unavailable server
// indefinitely: if the process ended, the kubelet would restart the component only after up to five minutes. An answer
// that waiting does not change is an error: the credential is not accepted, or the server is no API server with the
// certificate of the kubeconfig.
func (s *Server) Await(ctx context.Context) error {
	asked, err := discovery.NewDiscoveryClientForConfig(s.Config)
	if err != nil {
		return fmt.Errorf("make a client for %s, see %s: %w", s.Name, s.Flag, err)
	}
	// client-go would repeat requests by itself, without a log line.
	ask := func() error {
		bounded, cancel := context.WithTimeout(ctx, questionTimeout)
		defer cancel()
		return asked.RESTClient().Get().AbsPath("/api").MaxRetries(0).Do(bounded).Error()
	}
	w := waiting{Server: s, began: s.Clock.Now()}
	for delay := firstRetry; ; delay = min(2*delay, lastRetry) {
		err := ask()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if done, err := w.takeAnswer(err); done {
			return err
		}
		timer := s.Clock.NewTimer(delay/2 + rand.N(delay/2)) //nolint:gosec // jitter
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C():
		}
	}
}

// waiting is the state of Await.
type waiting struct {
	*Server
	began time.Time
	// said is the time of the last log line, and refused the time since which all answers are refusals.
	said, refused time.Time
}

// takeAnswer reports whether the waiting is over, and how it ends.
func (w *waiting) takeAnswer(err error) (done bool, _ error) {
	now := w.Clock.Now()
	isRefusal := apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err)
	switch {
	case err == nil:
		if !w.said.IsZero() {
			w.Log.Info("The API server answers", "server", w.Name, "after", now.Sub(w.began))
		}
		return true, nil
	case isRefusal && w.refused.IsZero():
		w.refused = now
	case isRefusal && now.Sub(w.refused) >= refusedFor:
		return true, fmt.Errorf("%s does not accept the credential of %s; renew it, or grant its user the role system:discovery: %w", w.Name,
			w.Flag, err)
	case isRefusal:
	case isAway(err):
		w.refused = time.Time{}
	default:
		return true, fmt.Errorf("%s gives no answer that is one of an API server; correct its address and CA in %s: %w", w.Name, w.Flag, err)
	}
	if w.said.IsZero() || now.Sub(w.said) >= sayAgainAfter {
		w.said = now
		w.Log.Info("Waiting for an API server to answer: see that it runs, that the address is right, and that nothing between "+
			"keeps this process from it",
			"server", w.Name, "address", w.Config.Host, "from", w.Flag, "error", err.Error())
	}
	return false, nil
}

// isAway reports whether an error means that an API server does not answer now: no connection, an error of the server,
// or 429.
func isAway(err error) bool {
	if certificate := (*tls.CertificateVerificationError)(nil); errors.As(err, &certificate) {
		return false
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return status.Status().Code >= http.StatusInternalServerError || apierrors.IsTooManyRequests(err)
	}
	unsent, network := (*url.Error)(nil), net.Error(nil)
	return errors.As(err, &unsent) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
