// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"fmt"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// admissionConfig makes a kube-apiserver authenticate to every validating
// webhook with a client certificate.
const admissionConfig = `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ValidatingAdmissionWebhook
  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: %q}
`

// webhookCredentials writes the admission configuration of a kube-apiserver that
// calls webhooks as a user, and returns its path.
func (f *Federation) webhookCredentials(user string) (string, error) {
	certFile, keyFile, err := f.pki.client(identity(user))
	if err != nil {
		return "", err
	}
	config := clientcmdapi.NewConfig()
	// The key is a pattern for the webhook's host.
	config.AuthInfos["*"] = &clientcmdapi.AuthInfo{ClientCertificate: certFile, ClientKey: keyFile}
	content, err := clientcmd.Write(*config)
	if err != nil {
		return "", fmt.Errorf("credentials of %s for webhooks: %w", user, err)
	}
	kubeconfig := filepath.Join(f.folder, "kubeconfig", "webhooks."+fileName(user)+".kubeconfig")
	if err := writeFile(kubeconfig, content); err != nil {
		return "", fmt.Errorf("credentials of %s for webhooks: %w", user, err)
	}
	path := filepath.Join(f.folder, "kubeconfig", "webhooks."+fileName(user)+".admission.yaml")
	return path, writeFile(path, fmt.Appendf(nil, admissionConfig, kubeconfig))
}
