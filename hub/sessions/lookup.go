// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/listeners"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// admit serves one request.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) {
	grant, at, err := s.look(r)
	var ended *ending
	switch {
	case errors.Is(err, errUnknown) || errors.Is(err, errUsed):
		s.metrics.refused.Inc()
		refuse(w)
	case errors.Is(err, errBusy):
		busy(w, "this replica looks up as many sessions as it may, try again")
	case errors.Is(err, errNoTurn) || errors.Is(err, errOften):
		busy(w, err.Error()+", try again")
	case errors.As(err, &ended):
		s.finish(grant, ended, trace{})
		http.Error(w, ended.message, http.StatusGone)
	case err != nil:
		// Only a client with the key gets this far.
		s.options.Log.Error(err, "A session could not be looked up", "session", grant.Name, "project", grant.Project)
		http.Error(w, "the session could not be looked up, try again: "+err.Error(), http.StatusServiceUnavailable)
	default:
		s.carry(w, r, grant, at)
	}
}

var (
	// errBusy reports that a request was not looked up.
	errBusy = errors.New("too many requests are looked up")
	// errOften reports that a session is requested too often.
	errOften = errors.New("the session is requested too often")
)

// look returns the grant that a request is for and the place of its Instance. A client must not be able to distinguish
// errUnknown from errUsed, and errBusy does not depend on the session. With any other error the client has proved that
// it has the key.
func (s *Server) look(r *http.Request) (*Grant, place, error) {
	grant, err := s.proveInTurn(r)
	if err != nil {
		return nil, place{}, err
	}
	listeners.Prove(r.Context())
	if !s.rates.limiter(grant).AllowN(s.options.Clock.Now(), 1) {
		return grant, place{}, errOften
	}
	// Only now something is asked of the project.
	ctx, cancel := context.WithTimeout(r.Context(), lookupTimeout)
	defer cancel()
	release, err := s.turns.take(ctx, grant.ProjectUID)
	if err != nil {
		return grant, place{}, err
	}
	defer release()
	if err := review(ctx, s.options.Projects, grant); err != nil {
		return grant, place{}, err
	}
	at, err := s.places.find(ctx, grant)
	return grant, at, err
}

// proveInTurn is prove, for some requests at the same time, and for a source without the key of any session not often.
func (s *Server) proveInTurn(r *http.Request) (*Grant, error) {
	waiting, stop := context.WithTimeout(r.Context(), lookupTimeout)
	defer stop()
	isHolder := s.isHolder(r)
	if !isHolder && !s.attempts.Left(r) {
		return nil, errBusy
	}
	select {
	case s.unproved <- struct{}{}:
		defer func() { <-s.unproved }()
	case <-waiting.Done():
		return nil, errBusy
	}
	ctx, cancel := context.WithTimeout(r.Context(), lookupTimeout)
	defer cancel()
	grant, err := s.prove(ctx, r)
	if err != nil && !isHolder {
		s.attempts.Take(r)
	}
	return grant, err
}

// isHolder reports whether this replica knows that a client has the key of the session that it asks for: the failures of
// strangers do not refuse it.
func (s *Server) isHolder(r *http.Request) bool {
	s.tasks.mu.Lock()
	known := s.tasks.known[types.UID(r.PathValue("uid"))]
	s.tasks.mu.Unlock()
	return known != nil && hasKey(r, known)
}

// hasKey reports whether a client has the key of a grant. The handshake has proved that it has the private key of its
// certificate.
func hasKey(r *http.Request, grant *Grant) bool {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return false
	}
	key, err := wire.SessionKey(grant.Spec.PublicKey)
	return err == nil && subtle.ConstantTimeCompare(key, r.TLS.PeerCertificates[0].RawSubjectPublicKeyInfo) == 1
}

// prove returns the grant of a request whose client has its key. Every error is errUnknown or errUsed.
func (s *Server) prove(ctx context.Context, r *http.Request) (*Grant, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil, errUnknown
	}
	grant, err := s.options.Grants.get(ctx, types.UID(r.PathValue("uid")))
	if err != nil {
		if !errors.Is(err, errUnknown) {
			s.options.Log.Error(err, "A session is refused: its grant could not be read")
		}
		return nil, errUnknown
	}
	if !hasKey(r, grant) {
		return nil, errUnknown
	}
	named := grant.Project == r.PathValue("project") && grant.Namespace == r.PathValue("namespace") && grant.Name == r.PathValue("name")
	if !named || !s.options.Clock.Now().Before(grant.Expires) {
		return nil, errUnknown
	}
	if grant.used {
		return nil, errUsed
	}
	return grant, nil
}

// review returns an ending if the session is deleted, or its user has lost the permission. With any other error, the
// project gave no answer.
func review(ctx context.Context, projects Projects, grant *Grant) error {
	if err := exists(ctx, projects, grant); err != nil {
		return err
	}
	verb, subresource, ok := grant.Spec.Type.Permission()
	if !ok {
		return errUnknown
	}
	extra := make(map[string]authorizationv1.ExtraValue, len(grant.User.Extra))
	for key, values := range grant.User.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	allowed, err := projects.Review(ctx, grant.Project, grant.ProjectUID, authorizationv1.SubjectAccessReviewSpec{
		User: grant.User.Username, Groups: grant.User.Groups, UID: grant.User.UID, Extra: extra,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: grant.Namespace, Verb: verb, Group: v1alpha.GroupVersion.Group, Resource: "instances", Subresource: subresource,
			Name: grant.Spec.InstanceRef.Name,
		},
	})
	switch {
	case err != nil:
		return fmt.Errorf("review the permission of user %q: %w", grant.User.Username, err)
	case !allowed:
		return &ending{
			reason: v1alpha.ReasonSessionRevoked,
			message: fmt.Sprintf("user %q may not %s instances/%s %s any more", grant.User.Username, verb,
				subresource, grant.Spec.InstanceRef.Name),
		}
	}
	return nil
}
