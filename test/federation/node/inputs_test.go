// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// createData creates a ConfigMap and a Secret with the name data.
func (f *fixture) createData() {
	f.Helper()
	meta := metav1.ObjectMeta{Name: "data"}
	_, err := f.client.CoreV1().ConfigMaps(f.namespace).Create(f.Context(),
		&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"KEY": "from-config"}}, metav1.CreateOptions{})
	if err != nil {
		f.Fatal(err)
	}
	_, err = f.client.CoreV1().Secrets(f.namespace).Create(f.Context(),
		&corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"token": "from-secret"}}, metav1.CreateOptions{})
	if err != nil {
		f.Fatal(err)
	}
}

func field(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

var dataName = corev1.LocalObjectReference{Name: "data"}

func TestVariables(t *testing.T) {
	f := startNode(t)
	pod := f.pod("env",
		field("NAME", "metadata.name"), field("NAMESPACE", "metadata.namespace"), field("UID", "metadata.uid"),
		corev1.EnvVar{Name: "JOINED", Value: "$(NAME)-$(NONE)-$$(NAME)"},
	)
	pod.Spec.Containers[0].Args = append(pod.Spec.Containers[0].Args, "--", "$(NAMESPACE)")
	f.create(pod)
	pod = f.awaitReady("env")
	for name, want := range map[string]string{
		"NAME": "env", "NAMESPACE": f.namespace, "UID": string(pod.UID), "JOINED": "env-$(NONE)-$(NAME)", "HOSTNAME": "env",
	} {
		if got := f.ask(pod, "/env?name="+name); got != want {
			t.Errorf("$%s is %q, want %q", name, got, want)
		}
	}
	if got := f.ask(pod, "/args"); got != "["+f.namespace+"]" {
		t.Errorf("arguments: %s", got)
	}
}

func TestVolumes(t *testing.T) {
	f := startNode(t)
	f.createData()
	pod := f.pod("files", corev1.EnvVar{Name: "FOLDERS", Value: "/etc/secret:/etc/secret-2"})
	life := int64(600)
	pod.Spec.ServiceAccountName = "default"
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "data"}}},
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: dataName, Items: []corev1.KeyToPath{{Key: "KEY", Path: "sub/key"}},
		}}},
		{Name: "projected", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "tests", ExpirationSeconds: &life, Path: "token"}},
			{Secret: &corev1.SecretProjection{LocalObjectReference: dataName, Items: []corev1.KeyToPath{{Key: "token", Path: "secret"}}}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
				{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}},
			}}},
		}}}},
	}
	c := &pod.Spec.Containers[0]
	c.VolumeMounts = []corev1.VolumeMount{
		{Name: "secret", MountPath: "/etc/secret"},
		{Name: "config", MountPath: "/etc/config/"},
		{Name: "projected", MountPath: "/var/run/all"},
	}
	c.Args = append(c.Args, "/etc/secret/token")
	c.Env = append(c.Env, corev1.EnvVar{Name: "F", Value: "/etc/config/sub/key"}, corev1.EnvVar{Name: "ALL", Value: "/var/run/all"})
	f.create(pod)
	pod = f.awaitReady("files")
	secret := strings.Trim(f.ask(pod, "/args"), "[]")
	if got := f.ask(pod, "/env?name=FOLDERS"); got != strings.TrimSuffix(secret, "/token")+":/etc/secret-2" {
		t.Errorf("a variable with a mount path: %q", got)
	}
	for path, want := range map[string]string{
		secret: "from-secret", "$F": "from-config", "$ALL/secret": "from-secret", "$ALL/namespace": f.namespace,
	} {
		if got := f.ask(pod, "/file?path="+path); got != want {
			t.Errorf("file %s: %q, want %q", path, got, want)
		}
	}
	f.checkToken(f.ask(pod, "/file?path=$ALL/token"), "tests")
	f.changeSecret()
	f.eventually("changed in the files", func(context.Context) (bool, error) {
		return f.ask(pod, "/file?path="+secret) == "changed" && f.ask(pod, "/file?path=$ALL/secret") == "changed", nil
	})
}

func (f *fixture) changeSecret() {
	f.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "data"}, StringData: map[string]string{"token": "changed"}}
	if _, err := f.client.CoreV1().Secrets(f.namespace).Update(f.Context(), secret, metav1.UpdateOptions{}); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) checkToken(token, audience string) {
	f.Helper()
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	if audience != "" {
		review.Spec.Audiences = []string{audience}
	}
	review, err := f.client.AuthenticationV1().TokenReviews().Create(f.Context(), review, metav1.CreateOptions{})
	if err != nil || !review.Status.Authenticated || review.Status.User.Username != "system:serviceaccount:"+f.namespace+":default" {
		f.Errorf("the token is not one of the Pod's service account: %+v, %v", review, err)
	}
}

func TestKubeconfig(t *testing.T) {
	f := startNode(t)
	f.create(f.pod("with"))
	without := f.pod("without")
	no := false
	without.Spec.AutomountServiceAccountToken = &no
	f.create(without)
	if got := f.ask(f.awaitReady("without"), "/env?name=KUBECONFIG"); got != "" {
		t.Errorf("a Pod without access has $KUBECONFIG %s", got)
	}
	path := f.ask(f.awaitReady("with"), "/env?name=KUBECONFIG")
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	self, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{},
		metav1.CreateOptions{})
	if err != nil || self.Status.UserInfo.Username != "system:serviceaccount:"+f.namespace+":default" {
		t.Errorf("$KUBECONFIG is one of %+v, %v", self, err)
	}
}

func TestWaitsForData(t *testing.T) {
	f := startNode(t)
	pod := f.pod("waits")
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "data"}}},
	}
	f.create(pod)
	f.await("waits", "waiting for the Secret", func(p *corev1.Pod) bool { return waits(p, reasonCreating, `secrets "data" not found`) })
	f.createData()
	f.awaitReady("waits")
}

// waits reports whether the first container waits for a reason, with a message that contains a text.
func waits(p *corev1.Pod, reason, text string) bool {
	if len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].State.Waiting == nil {
		return false
	}
	w := p.Status.ContainerStatuses[0].State.Waiting
	return w.Reason == reason && strings.Contains(w.Message, text)
}

// A token is kept for four fifths of its life.
func TestTokenIsRenewed(t *testing.T) {
	f := newFixture(t)
	object := f.pod("token")
	object.Spec.ServiceAccountName = "default"
	p := &pod{node: &node{client: f.client}, object: f.create(object), tokens: map[string]issuedToken{}}
	want := &corev1.ServiceAccountTokenProjection{}
	first, renewal, err := p.token(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	if in := time.Until(renewal); in < 45*time.Minute || in > 50*time.Minute {
		t.Errorf("a token that lives an hour is renewed in %s", in)
	}
	if again, _, err := p.token(t.Context(), want); err != nil || again != first {
		t.Errorf("another token before that, %v", err)
	}
	for key, token := range p.tokens {
		token.renewal = time.Now()
		p.tokens[key] = token
	}
	if again, _, err := p.token(t.Context(), want); err != nil || again == first {
		t.Errorf("the same token after that, %v", err)
	}
	f.checkToken(first, "")
}
