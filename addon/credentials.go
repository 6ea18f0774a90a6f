// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// Names by which the chart finds credentials, and Karmada its addons.
const (
	hubSecret      = Name + "-config"
	hubSecretKey   = "karmada.config" //nolint:gosec // the name of a key, not a credential
	miloSecret     = Name + "-milo"
	miloSecretKey  = "kubeconfig"
	serviceAccount = Name
	// tokenKey is the key of the token beside a kubeconfig of the hub.
	tokenKey = "token"
	// Objects of Pods that serve webhooks only.
	webhookHubSecret      = Name + "-webhook-config"
	webhookMiloSecret     = Name + "-webhook-milo"
	webhookServiceAccount = Name + "-webhook"
	// Objects of sessions.
	sessionsSecret         = Name + "-sessions-config"
	sessionsServiceAccount = Name + "-sessions"
	// hubNamespace is the namespace of the add-on's ServiceAccount on the hub.
	hubNamespace = "karmada-system"
)

// hubAddress is the address at which Pods on the host reach the karmada-apiserver.
type hubAddress struct {
	server string
	ca     []byte
	// from is the place where the address was found.
	from string
}

// karmadaSecrets are the suffixes of the names of Secrets with a kubeconfig of the hub, best first: as created by
// `karmadactl init` and karmada-operator, by Karmada's chart, and by older versions.
var karmadaSecrets = []string{"karmada-controller-manager-config", "karmada-webhook-config", "karmada-kubeconfig", "kubeconfig"}

// ownSecrets are the Secrets that enable writes on the host.
var ownSecrets = []string{hubSecret, miloSecret, webhookHubSecret, webhookMiloSecret, sessionsSecret}

// findHub finds the address of the hub that Karmada's own components use.
func (s *session) findHub(ctx context.Context) (hubAddress, error) {
	secrets := &corev1.SecretList{}
	if err := s.host.List(ctx, secrets, client.InNamespace(s.options.karmada.namespace)); err != nil {
		return hubAddress{}, fmt.Errorf("list the Secrets of Karmada: %w", err)
	}
	own := hubAddress{server: s.hub.config.Host, ca: s.hub.config.CAData, from: "--karmada-kubeconfig"}
	if len(own.ca) == 0 && s.hub.config.CAFile != "" {
		loaded := rest.CopyConfig(s.hub.config)
		if err := rest.LoadTLSFiles(loaded); err != nil {
			return hubAddress{}, fmt.Errorf("--karmada-kubeconfig: %w", err)
		}
		own.ca = loaded.CAData
	}
	found := own
	for _, end := range slices.Backward(karmadaSecrets) {
		for i := range secrets.Items {
			if address, ok := addressIn(&secrets.Items[i]); ok && strings.HasSuffix(secrets.Items[i].Name, end) &&
				!slices.Contains(ownSecrets, secrets.Items[i].Name) {
				found = address
			}
		}
	}
	if s.options.hubServer != "" {
		found.server, found.from = s.options.hubServer, "--compute-hub-server"
	}
	return found, nil
}

func addressIn(secret *corev1.Secret) (hubAddress, bool) {
	for _, key := range []string{hubSecretKey, miloSecretKey} {
		config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data[key])
		if err == nil && config.Host != "" && len(config.CAData) > 0 {
			return hubAddress{server: config.Host, ca: config.CAData, from: "Secret " + secret.Namespace + "/" + secret.Name}, true
		}
	}
	return hubAddress{}, false
}

// hubCredential requests a token of a ServiceAccount of the add-on on the hub, and returns the Secret for the host. The
// hub keeps no token: Karmada sends what its Secrets hold to the endpoints of Clusters. The replicas renew the token.
func (s *session) hubCredential(ctx context.Context, serviceAccount, secret string) (credential, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: hubNamespace, Name: serviceAccount}}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(wire.TokenLife.Seconds()))}}
	err := s.hub.Get(ctx, client.ObjectKeyFromObject(account), account)
	if err == nil {
		err = s.hub.SubResource("token").Create(ctx, account, request)
	}
	if err != nil {
		return credential{}, fmt.Errorf("request a token of ServiceAccount %s/%s of the hub: %w", hubNamespace, serviceAccount, err)
	}
	// The file is the one that client-go follows. The token in the kubeconfig is for Pods of the version before.
	user := &clientcmdapi.AuthInfo{Token: request.Status.Token, TokenFile: tokenKey}
	kubeconfig, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"hub": {Server: s.hubAddress.server, CertificateAuthorityData: s.hubAddress.ca}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{serviceAccount: user},
		Contexts:       map[string]*clientcmdapi.Context{"hub": {Cluster: "hub", AuthInfo: serviceAccount}},
		CurrentContext: "hub",
	})
	return credential{
		name: secret, data: map[string][]byte{hubSecretKey: kubeconfig, tokenKey: []byte(request.Status.Token)},
		// The replicas follow another token, but not one of another ServiceAccount: their caches hold what the earlier one could read.
		identity: fmt.Sprint(s.hubAddress.server, string(s.hubAddress.ca), account.UID),
	}, err
}

// portable reports whether a kubeconfig works in a Pod.
func portable(file string) error {
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		return err
	}
	if err := clientcmdapi.MinifyConfig(config); err != nil {
		return err
	}
	for _, user := range config.AuthInfos {
		if user.Exec != nil || user.AuthProvider != nil {
			return errors.New("it gets its credentials from a program, which a Pod does not have; give one with a token or a client certificate")
		}
	}
	return nil
}

// flat returns a kubeconfig that needs no other file.
func flat(file string) ([]byte, error) {
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(clientcmdapi.MinifyConfig(config), clientcmdapi.FlattenConfig(config)); err != nil {
		return nil, err
	}
	return clientcmd.Write(*config)
}

// credential is a kubeconfig in a Secret on the host.
type credential struct {
	name string
	data map[string][]byte
	// identity changes when Pods must be replaced.
	identity string
}

// storeCredentials writes the Secrets on the host, and returns a hash, by which Pods are replaced when it changes.
func (s *session) storeCredentials(ctx context.Context) (string, error) {
	credentials, err := s.credentials(ctx)
	if err != nil {
		return "", err
	}
	all := sha256.New()
	for _, secret := range credentials {
		data := map[string]any{}
		for key, content := range secret.data {
			data[key] = base64.StdEncoding.EncodeToString(content)
		}
		object := reference{"v1", "Secret", s.options.karmada.namespace, secret.name}.object()
		object.Object["type"], object.Object["data"] = string(corev1.SecretTypeOpaque), data
		if err := s.create(ctx, onHost, object); err != nil {
			return "", err
		}
		all.Write([]byte(secret.identity))
	}
	return hex.EncodeToString(all.Sum(nil)[:8]), nil
}

// credentials are the credentials of the controllers and, if the values enable them, of Pods that serve webhooks only
// and of sessions.
func (s *session) credentials(ctx context.Context) (credentials []credential, err error) {
	accounts := [][2]string{{serviceAccount, hubSecret}}
	withMilo := !isWithoutMilo(s.values)
	if withMilo {
		credentials = append(credentials, miloCredential(miloSecret, s.miloCredentials))
	}
	if withMilo && separatesWebhooks(s.values) {
		accounts = append(accounts, [2]string{webhookServiceAccount, webhookHubSecret})
		credentials = append(credentials, miloCredential(webhookMiloSecret, s.miloWebhookCredentials))
	}
	if needsSessionsSecret(s.values) {
		accounts = append(accounts, [2]string{sessionsServiceAccount, sessionsSecret})
	}
	for _, account := range accounts {
		hub, err := s.hubCredential(ctx, account[0], account[1])
		if err != nil {
			return nil, err
		}
		credentials = append(credentials, hub)
	}
	s.say("the add-on reaches the hub at %s (%s)", s.hubAddress.server, s.hubAddress.from)
	return credentials, nil
}

func miloCredential(secret string, kubeconfig []byte) credential {
	return credential{secret, map[string][]byte{miloSecretKey: kubeconfig}, string(kubeconfig)}
}

// separatesWebhooks reports whether the values have Pods that serve webhooks only.
func separatesWebhooks(values map[string]any) bool { return isOn(values, "host", "separateWebhooks") }

// needsSessionsSecret reports whether the values enable sessions with the credential that the chart expects by default.
// Values with their own Secret or subjects use another credential.
func needsSessionsSecret(values map[string]any) bool {
	own := slices.ContainsFunc([]string{"secret", "subjects"}, func(key string) bool {
		_, set, err := unstructured.NestedFieldNoCopy(values, "sessions", key)
		return set || err != nil
	})
	return !own && (isOn(values, "sessions", "logs") || isOn(values, "sessions", "exec"))
}

// whoIs returns the user that a kubeconfig is at Milo.
func whoIs(ctx context.Context, atMilo *plane, flag string) (string, error) {
	review := &authenticationv1.SelfSubjectReview{}
	if err := atMilo.Create(ctx, review); err != nil {
		return "", fmt.Errorf("ask Milo which user --%s is: %w", flag, err)
	}
	return review.Status.UserInfo.Username, nil
}
