// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	// accessPath is the folder in which programs expect the in-cluster configuration.
	accessPath = "/var/run/secrets/kubernetes.io/serviceaccount"
	// tokenLife is the lifetime of the token in a kubeconfig, the same as for tokens at accessPath.
	tokenLife = 3607
)

// issuedToken is a token with its renewal time: after four fifths of its lifetime, as in kubelet.
type issuedToken struct {
	token   string
	renewal time.Time
}

// token returns a token of the Pod's service account for an audience. It requests a new token when the last one is too
// old.
func (p *pod) token(ctx context.Context, want *corev1.ServiceAccountTokenProjection) (string, time.Time, error) {
	life := int64(tokenLife)
	if want.ExpirationSeconds != nil {
		life = *want.ExpirationSeconds
	}
	key := fmt.Sprintf("%s/%d", want.Audience, life)
	if last, ok := p.tokens[key]; ok && time.Now().Before(last.renewal) {
		return last.token, last.renewal, nil
	}
	object := p.current()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: &life,
	}}
	if object.Spec.ServiceAccountName != "" {
		// Without the admission plugin a Pod may have no service account name, and a token cannot be bound to it.
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: object.Name, UID: object.UID}
	}
	if want.Audience != "" {
		request.Spec.Audiences = []string{want.Audience}
	}
	issued := time.Now()
	answer, err := p.node.client.CoreV1().ServiceAccounts(object.Namespace).CreateToken(ctx, serviceAccount(object),
		request, metav1.CreateOptions{})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("request a token: %w", err)
	}
	renewal := issued.Add(answer.Status.ExpirationTimestamp.Sub(issued) * 4 / 5)
	p.tokens[key] = issuedToken{token: answer.Status.Token, renewal: renewal}
	return answer.Status.Token, renewal, nil
}

// kubeconfig returns the path of the kubeconfig of the Pod's service account.
func (p *pod) kubeconfig() string { return filepath.Join(p.folder, "access", "kubeconfig") }

// writeAccess writes a kubeconfig of the Pod's service account if the Pod may use the service account in this way.
func (p *pod) writeAccess(ctx context.Context) (time.Time, error) {
	ok, err := p.mayAccess(ctx)
	if err != nil || !ok {
		return time.Time{}, err
	}
	token, renewal, err := p.token(ctx, &corev1.ServiceAccountTokenProjection{})
	if err != nil {
		return renewal, err
	}
	folder := filepath.Dir(p.kubeconfig())
	content, err := p.node.kubeconfig(p.name.Namespace, filepath.Join(folder, "token"))
	if err != nil {
		return renewal, err
	}
	return renewal, payload{"kubeconfig": {content: content, mode: 0o600}, "token": {content: []byte(token), mode: 0o600}}.write(folder)
}

// mayAccess reports whether the containers of the Pod have the in-cluster configuration: it is mounted at the usual
// path, or no field forbids it. The second is for API servers without the admission plugin that mounts it.
func (p *pod) mayAccess(ctx context.Context) (bool, error) {
	if p.access != nil {
		return *p.access, nil
	}
	object := p.current()
	mounted := slices.ContainsFunc(slices.Concat(object.Spec.InitContainers, object.Spec.Containers), func(c corev1.Container) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return filepath.Clean(m.MountPath) == accessPath })
	})
	if automount := object.Spec.AutomountServiceAccountToken; mounted || automount != nil {
		ok := mounted || *automount
		p.access = &ok
		return ok, nil
	}
	account, err := p.node.client.CoreV1().ServiceAccounts(object.Namespace).Get(ctx, serviceAccount(object), metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	ok := account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken
	p.access = &ok
	return ok, nil
}

// kubeconfig returns a kubeconfig with the server and CA that the node uses and with the token in a file, which clients
// read again when it is renewed.
func (n *node) kubeconfig(namespace, tokenFile string) ([]byte, error) {
	ca := n.options.Config.CAData
	if len(ca) == 0 && n.options.Config.CAFile != "" {
		var err error
		if ca, err = os.ReadFile(n.options.Config.CAFile); err != nil {
			return nil, err
		}
	}
	const name = "cluster"
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{Server: n.server.String(), CertificateAuthorityData: ca}
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{TokenFile: tokenFile}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: namespace}
	file.CurrentContext = name
	return clientcmd.Write(*file)
}
