// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/union"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"

	"github.com/karmada-compute/karmada-compute/internal/listeners"
	"github.com/karmada-compute/karmada-compute/webhook/rotation/paths"
)

const (
	// reviewTimeout bounds a TokenReview: less than any API server waits for a webhook.
	reviewTimeout = 3 * time.Second
	// reviewTTL is how long an answer of the delegate is cached, so that a caller costs one review and not one per
	// request.
	reviewTTL = 10 * time.Second
)

// retry is the backoff of reviews that fail. The caller waits meanwhile.
func retry() *wait.Backoff {
	return &wait.Backoff{Duration: 200 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 4}
}

// guard authenticates callers by a client certificate or a token, and authorizes them for the path that they call, by a
// group or a SubjectAccessReview. A caller with neither may call the webhook whose secret path it knows.
type guard struct {
	authenticator authenticator.Request
	authorizer    authorizer.Authorizer
	// tokens bounds the TokenReviews of made-up tokens.
	tokens *listeners.Tokens
	log    logr.Logger
	// refused counts refused callers, by the name of the webhook or endpoint that they called.
	refused func(name string)
}

// clientCA is the bundle that client certificates are verified against. It is reloaded when the file changes.
func (o *Options) clientCA() (*dynamiccertificates.DynamicFileCAContent, error) {
	if o.ClientCAFile == "" {
		return nil, nil
	}
	ca, err := dynamiccertificates.NewDynamicCAContentFromFile("client-ca", o.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("--client-ca-file: %w", err)
	}
	return ca, nil
}

func newGuard(o *Options, ca *dynamiccertificates.DynamicFileCAContent, log logr.Logger, refused func(string)) (*guard, error) {
	delegate, err := kubernetes.NewForConfig(o.Delegate)
	if err != nil {
		return nil, fmt.Errorf("make a client for TokenReviews and SubjectAccessReviews: %w", err)
	}
	authentication := authenticatorfactory.DelegatingAuthenticatorConfig{
		TokenAccessReviewClient:  delegate.AuthenticationV1(),
		TokenAccessReviewTimeout: reviewTimeout,
		WebhookRetryBackoff:      retry(),
		CacheTTL:                 reviewTTL,
	}
	if ca != nil {
		authentication.ClientCertificateCAContentProvider = ca
	}
	authenticate, _, err := authentication.New()
	if err != nil {
		return nil, fmt.Errorf("set up the authentication of callers: %w", err)
	}
	ask, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: delegate.AuthorizationV1(),
		AllowCacheTTL:             reviewTTL,
		DenyCacheTTL:              reviewTTL,
		WebhookRetryBackoff:       retry(),
	}.New()
	if err != nil {
		return nil, fmt.Errorf("set up the authorization of callers: %w", err)
	}
	authorize := union.New(authorizerfactory.NewPrivilegedGroups(o.AllowedGroups...), ask)
	return &guard{authenticator: authenticate, authorizer: authorize, log: log, refused: refused}, nil
}

type authenticatedKey struct{}

// Authenticated reports whether the caller of a request has proved its identity. Otherwise it knows the secret path,
// and everything in the request is no more than its claim.
func Authenticated(ctx context.Context) bool { return ctx.Value(authenticatedKey{}) != nil }

// wrap puts the guard in front of a handler.
func (g *guard) wrap(name string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.tokens.Admit(r) {
			g.refused(name)
			listeners.TooMany(w)
			return
		}
		code, err := g.admit(r)
		if err == nil {
			listeners.Prove(r.Context())
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), authenticatedKey{}, true)))
			return
		}
		g.refused(name)
		g.log.Info("Caller refused", "called", name, "from", r.RemoteAddr, "reason", err.Error())
		http.Error(w, err.Error(), code)
	})
}

// secretSegment is the name of the last segment of a path in which callers without credentials give a secret.
const secretSegment = "secret"

// wrapSecret puts the comparison of the path's secret in front of a handler. A wrong one is answered as any path that
// does not exist. The secret is not logged, right or wrong.
func (g *guard) wrapSecret(webhook Webhook, known Paths, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if known.Accepts(webhook.Path, r.PathValue(secretSegment)) {
			listeners.Prove(r.Context())
			next.ServeHTTP(w, r)
			// Its caller quotes the URL of a call that gets no answer. With an answer, whatever its status, an API server does
			// not.
			if r.Context().Err() != nil {
				known.Expose(paths.CauseLeft)
			}
			return
		}
		g.refused(webhook.Name)
		g.log.Info("Caller refused", "called", webhook.Name, "from", r.RemoteAddr, "reason",
			"the path has another secret than the webhook configurations")
		http.NotFound(w, r)
	})
}

func (g *guard) admit(r *http.Request) (int, error) {
	ctx, cancel := context.WithTimeout(r.Context(), timeoutOf(r))
	defer cancel()
	// Authenticators remove the header.
	asked := r.Clone(ctx)
	who, ok, err := g.authenticator.AuthenticateRequest(asked)
	g.tokens.Reviewed(r, err == nil && ok)
	if err != nil || !ok {
		// The details are logged and not sent, nor how one could authenticate: that could help an attacker.
		g.log.V(1).Info("Caller is not authenticated", "error", err)
		return http.StatusUnauthorized, errors.New("not authenticated")
	}
	decision, reason, err := g.authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: who.User, Verb: strings.ToLower(r.Method), Path: r.URL.Path,
	})
	switch {
	case decision == authorizer.DecisionAllow:
		return http.StatusOK, nil
	case err != nil:
		return http.StatusServiceUnavailable, fmt.Errorf("user %q cannot be authorized: %w", who.User.GetName(), err)
	default:
		return http.StatusForbidden, fmt.Errorf("user %q may not %s %s: grant it with a ClusterRole for this nonResourceURL%s",
			who.User.GetName(), strings.ToLower(r.Method), r.URL.Path, because(reason))
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}
