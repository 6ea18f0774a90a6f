// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestExposure: when a call fails, an API server shows a consumer the path of the call only if it got no answer.
// Package server detects these exposures, or the next replica does when it starts.
func TestExposure(t *testing.T) {
	const secret = "0123456789abcdef"
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		// change changes the server after its start, and may return another bundle.
		change func(*httptest.Server) []byte
		shown  bool
	}{
		"no replica listens": {change: func(s *httptest.Server) []byte { s.Close(); return nil }, shown: true},
		"the replica does not answer in time": {
			handler: func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
			}, shown: true,
		},
		"the replica is killed": {handler: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, shown: true},
		"the certificate is not trusted": {
			change: func(*httptest.Server) []byte { return otherCA(t) }, shown: true,
		},
		"status 500": {handler: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "a fault", http.StatusInternalServerError) }},
		"status 404": {handler: func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }},
		"no review":  {handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(c.handler)
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.StartTLS()
			t.Cleanup(server.Close)
			bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			if c.change != nil {
				if other := c.change(server); other != nil {
					bundle = other
				}
			}
			if message := refusalBy(t, server.URL+"/validate-workload/"+secret, bundle); strings.Contains(message, secret) != c.shown {
				t.Errorf("the consumer reads: %s", message)
			}
		})
	}
}

// otherCA is the certificate of another server.
func otherCA(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// refusalBy returns the message that a consumer gets whose create request calls a webhook.
func refusalBy(t *testing.T, url string, bundle []byte) string {
	t.Helper()
	admin := as(t, "")
	namespace := testenv.Namespace(t, admin, "exposure").Name
	hook := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "exposed.example.com", AdmissionReviewVersions: []string{"v1"}, SideEffects: new(admissionregistrationv1.SideEffectClassNone),
			FailurePolicy: new(admissionregistrationv1.Fail), TimeoutSeconds: new(int32(1)),
			ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: bundle},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}
	if err := admin.Create(t.Context(), hook); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := admin.Delete(context.Background(), hook); err != nil {
			t.Error(err)
		}
	})
	message, user := "", as(t, consumer)
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		// Until the API server calls the webhook, it stores the object.
		err := user.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "x-"}})
		if err != nil {
			message = err.Error()
		}
		return err != nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return message
}
