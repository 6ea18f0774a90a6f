// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/karmada-compute/karmada-compute/cmd/internal/component"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

const (
	// tokenKey is the key of the token in a Secret on the host.
	tokenKey = "token"
	// tokenInterval is the interval between two checks of a token, at most twice as long.
	tokenInterval = time.Minute
)

var (
	tokenExpiry = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "karmada_compute_hub_token_expiry_timestamp_seconds",
		Help: "When the token expires that the replica uses for the hub, by its Secret on the host.",
	}, []string{"secret"})
	tokenOverdue = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "karmada_compute_hub_token_overdue_timestamp_seconds",
		Help: "When half of the life of that token is over: a replica has failed to renew it by then.",
	}, []string{"secret"})
)

func init() { metrics.Registry.MustRegister(tokenExpiry, tokenOverdue) }

// renewal keeps a token for the hub valid: every replica checks the Secret on the host, and the first one that finds
// a third of the token's life over stores another token of the same ServiceAccount. The kubelet brings it to all Pods.
type renewal struct {
	hub, host kubernetes.Interface
	// namespace and secret name the Secret. file has the token that this process uses.
	namespace, secret, file string
	clock                   clock.PassiveClock
	log                     logr.Logger
}

// renewals are the renewals of the Secrets that flags name. A process that only carries streams has no credential for
// the host: others renew its token.
func (a *app) renewals(p *planes) (all []func(context.Context) error, err error) {
	secrets := []struct{ flag, secret, kubeconfig string }{
		{"token-secret", a.options.hub.tokenSecret, a.options.hub.kubeconfig},
		{"session-token-secret", a.options.sessions.tokenSecret, a.options.sessions.kubeconfig},
	}
	for _, s := range secrets {
		if s.secret == "" {
			continue
		}
		config := p.hub
		if s.kubeconfig != a.options.hub.kubeconfig {
			if config, err = a.loadConfig(s.kubeconfig); err != nil {
				return nil, err
			}
		}
		if config.BearerTokenFile == "" {
			// The operator's own credential.
			ctrl.Log.WithName("tokens").Info("No token is renewed: the user of the kubeconfig has no tokenFile", "flag", s.flag)
			continue
		}
		r, err := a.newRenewal(config, s.secret)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", s.flag, err)
		}
		all = append(all, r.start)
	}
	return all, nil
}

func (a *app) newRenewal(hub *rest.Config, secret string) (*renewal, error) {
	onHost, err := component.LoadConfig("")
	if err != nil {
		return nil, fmt.Errorf("load the configuration of the cluster that runs this Pod: %w", err)
	}
	a.options.client.Apply(onHost)
	onHost.UserAgent = name
	r := &renewal{file: hub.BearerTokenFile, clock: clock.RealClock{}, log: ctrl.Log.WithName("tokens")}
	r.namespace, r.secret, _ = strings.Cut(secret, "/")
	if r.host, err = kubernetes.NewForConfig(onHost); err != nil {
		return nil, err
	}
	r.hub, err = kubernetes.NewForConfig(hub)
	return r, err
}

// checkSecretName returns a mistake unless the value of a flag names a Secret with its namespace.
func checkSecretName(flag, value string) error {
	if namespace, name, found := strings.Cut(value, "/"); value != "" && (!found || namespace == "" || name == "") {
		return fmt.Errorf("--%s: %q is not the namespace and name of a Secret, such as karmada-system/karmada-compute-config", flag, value)
	}
	return nil
}

func (r *renewal) start(ctx context.Context) error {
	wait.JitterUntilWithContext(ctx, func(ctx context.Context) {
		if err := errors.Join(r.observe(), r.renew(ctx)); err != nil && ctx.Err() == nil {
			r.log.Error(err, "The token for the hub is not renewed", "secret", r.secret)
		}
	}, tokenInterval, 1, true)
	return nil
}

// observe reports the life of the token that this process uses.
func (r *renewal) observe() error {
	content, err := fs.ReadFile(os.DirFS(filepath.Dir(r.file)), filepath.Base(r.file))
	if err != nil {
		return err
	}
	used, err := wire.ReadToken(content)
	if err != nil {
		return fmt.Errorf("file %s: %w", r.file, err)
	}
	tokenExpiry.WithLabelValues(r.secret).Set(float64(used.Expires.Unix()))
	tokenOverdue.WithLabelValues(r.secret).Set(float64(used.OverdueAt().Unix()))
	return nil
}

// renew stores another token if a third of the life of the stored one is over.
func (r *renewal) renew(ctx context.Context) error {
	secret, err := r.host.CoreV1().Secrets(r.namespace).Get(ctx, r.secret, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read Secret %s/%s of the host: %w", r.namespace, r.secret, err)
	}
	before := secret.Data[tokenKey]
	stored, err := wire.ReadToken(before)
	if err != nil {
		return fmt.Errorf("key %s of Secret %s/%s of the host: %w", tokenKey, r.namespace, r.secret, err)
	}
	if r.clock.Now().Before(stored.RenewAt()) {
		return nil
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(wire.TokenLife.Seconds()))}}
	answer, err := r.hub.CoreV1().ServiceAccounts(stored.Namespace).CreateToken(ctx, stored.ServiceAccount, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("request a token of ServiceAccount %s/%s of the hub: %w", stored.Namespace, stored.ServiceAccount, err)
	}
	for key, content := range secret.Data {
		// The kubeconfig has it, too.
		secret.Data[key] = bytes.ReplaceAll(content, before, []byte(answer.Status.Token))
	}
	_, err = r.host.CoreV1().Secrets(r.namespace).Update(ctx, secret, metav1.UpdateOptions{})
	switch {
	case apierrors.IsConflict(err):
		return nil // Another replica has renewed it.
	case err != nil:
		return fmt.Errorf("store a token in Secret %s/%s of the host: %w", r.namespace, r.secret, err)
	}
	r.log.Info("The token for the hub is renewed", "secret", r.secret, "expires", answer.Status.ExpirationTimestamp)
	return nil
}
