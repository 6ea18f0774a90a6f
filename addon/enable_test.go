// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// The tests share hub and Milo, so they run one after the other and leave nothing.

func TestEnableTwiceAndDisable(t *testing.T) {
	s := newSite(t)
	if err := s.enable(t.Context(), s.options(), map[string]any{}); err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	known := s.inventory()
	for plane, atLeast := range map[string]int{onHost: 6, onHub: 15, atMilo: 5} {
		if len(known[plane]) < atLeast {
			t.Errorf("only %d objects are listed for %s", len(known[plane]), plane)
		}
	}
	first := s.checkKubeconfig(t)
	s.checkNoTokens(t)
	deployment := s.deployment(t)
	patched := s.countPatches(t, func(run *session) error {
		run.out, run.values = &s.out, map[string]any{}
		return errors.Join(run.prepare(t.Context()), run.finish(t.Context()))
	})
	isKind := func(path string) bool { return strings.Contains(path, "customresourcedefinitions") }
	if len(patched) < 20 || slices.ContainsFunc(patched, isKind) {
		t.Errorf("a second enable applies kinds that have not changed: %v", patched)
	}
	if s.deployment(t).Generation != deployment.Generation {
		t.Error("a second enable changed the Deployment, although nothing else did")
	}
	if renewed := s.checkKubeconfig(t); bytes.Equal(renewed, first) {
		t.Error("a second enable stores no new token")
	}
	// A revoked credential, as in docs/runbooks/certificates.md: another one, and Pods that have it.
	revoked := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: hubNamespace, Name: serviceAccount}}
	if err := errors.Join(s.Delete(t.Context(), revoked), s.enable(t.Context(), s.options(), map[string]any{})); err != nil {
		t.Fatal(err)
	}
	s.checkKubeconfig(t)
	if s.deployment(t).Generation == deployment.Generation {
		t.Error("no Pod gets the new credential")
	}
	// Other values: objects that are no longer rendered are deleted.
	values := map[string]any{"host": map[string]any{"podDisruptionBudget": map[string]any{"enabled": false}}}
	if err := s.enable(t.Context(), s.options(), values); err != nil {
		t.Fatal(err)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(deployment), &policyv1.PodDisruptionBudget{}); !apierrors.IsNotFound(err) {
		t.Errorf("the PodDisruptionBudget that is not wanted any more: %v", err)
	}
	known = s.inventory()
	if err := s.disable(t.Context(), s.options()); err != nil {
		t.Fatal(err)
	}
	if left := s.left(known); len(left) > 0 {
		t.Errorf("disable left %v", left)
	}
	if s.inventory() != nil {
		t.Error("disable left the inventory")
	}
}

// TestDisableWithoutMilo verifies that an addon without Milo is disabled: first with its Workloads kept, and then
// altogether.
func TestDisableWithoutMilo(t *testing.T) {
	s := newSite(t)
	o := s.options()
	o.miloKubeconfig = ""
	if err := s.enable(t.Context(), o, nested([]string{"projects", "mode"}, modeNamespaces)); err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	known := s.inventory()
	for _, workloads := range []string{workloadsKeep, workloadsRefuse} {
		o.workloads = workloads
		if err := s.disable(t.Context(), o); err != nil {
			t.Fatalf("with --compute-workloads=%s: %v", workloads, err)
		}
		credential := &corev1.Secret{}
		if err := s.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: hubSecret}, credential); !apierrors.IsNotFound(err) {
			t.Errorf("with --compute-workloads=%s, the host keeps the credential for the hub: %v", workloads, err)
		}
	}
	if left := s.left(known); len(left) > 0 || s.inventory() != nil {
		t.Errorf("disable left %v", left)
	}
}

// deployment is the Deployment of the replicas.
func (s *site) deployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	found := &appsv1.Deployment{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: Name}, found); err != nil {
		t.Fatal(err)
	}
	return found
}

// checkKubeconfig checks the kubeconfig of the add-on's Pods for the hub, and returns its token.
func (s *site) checkKubeconfig(t *testing.T) []byte {
	t.Helper()
	secret := &corev1.Secret{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: hubSecret}, secret); err != nil {
		t.Fatal(err)
	}
	loaded, err := clientcmd.Load(secret.Data[hubSecretKey])
	if err != nil {
		t.Fatal(err)
	}
	if user := loaded.AuthInfos[serviceAccount]; user == nil || user.TokenFile != tokenKey || user.Token != string(secret.Data[tokenKey]) {
		t.Fatalf("the kubeconfig for the hub is not that of the ServiceAccount: %v", loaded.AuthInfos)
	}
	token, err := wire.ReadToken(secret.Data[tokenKey])
	if err != nil {
		t.Fatal(err)
	}
	user, life := "system:serviceaccount:"+hubNamespace+":"+serviceAccount, token.Expires.Sub(token.Issued)
	if token.User() != user || life != wire.TokenLife {
		t.Errorf("a token of %s for %s", token.User(), life)
	}
	config := rest.AnonymousClientConfig(testConfig(t))
	config.BearerToken = string(secret.Data[tokenKey])
	pod, err := client.New(config, client.Options{Scheme: s.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	review := &authenticationv1.SelfSubjectReview{}
	if err := pod.Create(t.Context(), review); err != nil || review.Status.UserInfo.Username != token.User() {
		t.Errorf("the hub takes the token for %q: %v", review.Status.UserInfo.Username, err)
	}
	return secret.Data[tokenKey]
}

// checkNoTokens checks that no Secret of the hub has a token of the add-on.
func (s *site) checkNoTokens(t *testing.T) {
	t.Helper()
	secrets := &corev1.SecretList{}
	if err := s.List(t.Context(), secrets, client.InNamespace(hubNamespace)); err != nil {
		t.Fatal(err)
	}
	for i := range secrets.Items {
		for key := range secrets.Items[i].Data {
			t.Errorf("Secret %s of the hub has %s", secrets.Items[i].Name, key)
		}
	}
}

// TestUpgradeDeletesTokens: the Secret with a token that the version before keeps on the hub is deleted when the replicas
// have another token, and not earlier.
func TestUpgradeDeletesTokens(t *testing.T) {
	s := newSite(t)
	if err := s.enable(t.Context(), s.options(), map[string]any{}); err != nil {
		t.Fatal(err)
	}
	old := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: hubNamespace, Name: Name + "-token", Annotations: map[string]string{corev1.ServiceAccountNameKey: serviceAccount},
		},
		Type: corev1.SecretTypeServiceAccountToken, Data: map[string][]byte{"token": []byte("old")},
	}
	if err := s.Create(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	host, err := planeOf("the host", testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	known := s.inventory()
	known.add(onHub, entry{reference: reference{"v1", "Secret", old.Namespace, old.Name}})
	if err := known.write(t.Context(), host, s.namespace); err != nil {
		t.Fatal(err)
	}
	var early atomic.Bool
	rolls := func(string) {
		if s.Get(t.Context(), client.ObjectKeyFromObject(old), &corev1.Secret{}) != nil {
			early.Store(true)
		}
	}
	s.rolls.Store(&rolls)
	if err := s.enable(t.Context(), s.options(), map[string]any{"host": map[string]any{"podLabels": map[string]any{"a": "b"}}}); err != nil {
		t.Fatal(err)
	}
	if early.Load() {
		t.Error("the replicas of the version before lost their token before they were replaced")
	}
	s.checkNoTokens(t)
	if err := s.disable(t.Context(), s.options()); err != nil {
		t.Fatal(err)
	}
}

// TestOverdueTokensAreNamed: preflight and `addons list` name a token that no replica renews when half of its life is over.
func TestOverdueTokensAreNamed(t *testing.T) {
	s := newSite(t)
	token := func(life, age time.Duration) []byte {
		claims := fmt.Appendf(nil, `{"sub":"system:serviceaccount:karmada-system:karmada-compute","iat":%d,"exp":%d}`,
			time.Now().Add(-age).Unix(), time.Now().Add(life-age).Unix())
		return []byte("header." + base64.RawURLEncoding.EncodeToString(claims) + ".signature")
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: hubSecret}}
	secret.Data = map[string][]byte{tokenKey: token(time.Hour, 29*time.Minute)}
	if err := s.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	host, err := planeOf("the host", testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		data []byte
		says string
	}{
		{token(time.Hour, 29*time.Minute), "[]"},
		{token(time.Hour, 31*time.Minute), "expires at"},
		{nil, "[]"},
		{[]byte("no token"), "is no token"},
	} {
		secret.Data = map[string][]byte{tokenKey: test.data}
		if err := s.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		if overdue, err := overdueTokens(t.Context(), host, s.namespace); !strings.Contains(fmt.Sprint(overdue, err), test.says) {
			t.Errorf("%s: %v, %v", test.data, overdue, err)
		}
	}
}

// interrupted ends its context at the first output that has a text.
type interrupted struct {
	text string
	end  context.CancelFunc
}

// Write implements io.Writer.
func (i interrupted) Write(line []byte) (int, error) {
	if strings.Contains(string(line), i.text) {
		i.end()
	}
	return len(line), nil
}

func TestInterruptedAnywhereAndRunAgain(t *testing.T) {
	s := newSite(t)
	for _, at := range []string{"applied at the hub", "applied at Milo", "credentials", "applied at the host"} {
		ctx, end := context.WithCancel(t.Context())
		run, err := s.options().connect()
		if err != nil {
			t.Fatal(err)
		}
		run.out, run.values = interrupted{at, end}, map[string]any{}
		err = run.prepare(ctx)
		if err == nil {
			err = run.finish(ctx)
		}
		if err = resumable(ctx, err); err == nil || !strings.Contains(err.Error(), "run the same command again") {
			t.Errorf("interrupted after %q: %v", at, err)
		}
		end()
	}
	// If disable runs next, no object remains; if enable runs next, it continues.
	if err := s.enable(t.Context(), s.options(), map[string]any{}); err != nil {
		t.Fatal(err)
	}
	known := s.inventory()
	ctx, end := context.WithCancel(t.Context())
	run, err := s.options().connect()
	if err != nil {
		t.Fatal(err)
	}
	run.out, run.known = interrupted{"deleted at the hub", end}, known
	if err := run.remove(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("disable was not interrupted: %v", err)
	}
	end()
	if err := s.disable(t.Context(), s.options()); err != nil {
		t.Fatal(err)
	}
	if left := s.left(known); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestAgentsFollowTheReplicas: a repeated enable updates the agents when the replicas are updated, and not before.
func TestAgentsFollowTheReplicas(t *testing.T) {
	s := newSite(t)
	values := func(version string) map[string]any {
		return map[string]any{"agents": map[string]any{"podAnnotations": map[string]any{"version": version}}}
	}
	agents := func() string {
		t.Helper()
		deployment := &appsv1.Deployment{}
		if err := s.Get(t.Context(), agentDeployment, deployment); err != nil {
			t.Fatal(err)
		}
		return deployment.Spec.Template.Annotations["version"]
	}
	if err := s.enable(t.Context(), s.options(), values("first")); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	run, err := s.options().connect()
	if err != nil {
		t.Fatal(err)
	}
	run.out, run.values = interrupted{"Deployment karmada-compute is available", end}, values("second")
	if err := run.prepare(ctx); err != nil {
		t.Fatal(err)
	}
	if err := run.finish(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("it was not interrupted: %v", err)
	}
	if got := agents(); got != "first" {
		t.Errorf("before the replicas are updated the agents are the %s", got)
	}
	known := s.inventory()
	if err := s.enable(t.Context(), s.options(), values("second")); err != nil {
		t.Fatal(err)
	}
	if got := agents(); got != "second" || !strings.Contains(s.out.String(), "the agents follow") {
		t.Errorf("after it the agents are the %s:\n%s", got, s.out.String())
	}
	if err := s.disable(t.Context(), s.options()); err != nil {
		t.Fatal(err)
	}
	if left := s.left(known); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestPresentAgents: an agent that is healthy and not yet updated is still waited for.
func TestPresentAgents(t *testing.T) {
	cell := func(name, health string, generation int64) any {
		return map[string]any{"clusterName": name, "health": health, "status": map[string]any{"resourceTemplateGeneration": generation}}
	}
	binding := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"aggregatedStatus": []any{
		cell("updated", "Healthy", 3), cell("old", "Healthy", 2), cell("broken", "Unhealthy", 3),
		map[string]any{"clusterName": "silent", "health": "Unknown"},
	}}}}
	present, err := presentAgents(binding, 3)
	if err != nil || !present["updated"] || present["old"] || present["broken"] || present["silent"] {
		t.Errorf("got %v, %v", present, err)
	}
}

func TestDisableRefusesWhileSomethingRuns(t *testing.T) {
	s := newSite(t)
	if err := s.enable(t.Context(), s.options(), map[string]any{}); err != nil {
		t.Fatal(err)
	}
	deployment := deployment(s.namespace)
	if err := s.Create(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	known := s.inventory()
	before := s.left(known)
	err := s.disable(t.Context(), s.options())
	if err == nil || !strings.Contains(err.Error(), "1 WorkloadDeployments exist") || !strings.Contains(err.Error(), "--compute-workloads") {
		t.Errorf("disabled although something runs: %v", err)
	}
	if left := s.left(known); len(left) != len(before) {
		t.Errorf("a refused disable has deleted something; left is %v of %v", left, before)
	}
	keep := s.options()
	keep.workloads = workloadsKeep
	if err := s.disable(t.Context(), keep); err != nil {
		t.Fatal(err)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment); err != nil {
		t.Errorf("what runs was not kept: %v", err)
	}
	if left := s.left(inventory{onHost: known[onHost]}); len(left) > 0 {
		t.Errorf("left at the host: %v", left)
	}
	if err := s.Delete(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	if err := s.disable(t.Context(), s.options()); err != nil {
		t.Fatal(err)
	}
	if left := s.left(known); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func deployment(namespace string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "compute.datumapis.com/v1alpha", "kind": "WorkloadDeployment",
		"spec": map[string]any{
			"workloadRef": map[string]any{"name": "web", "uid": "1"}, "placementName": "main", "cityCode": "DFW",
			"scaleSettings": map[string]any{"minReplicas": int64(1)},
			"template": map[string]any{"spec": map[string]any{
				"runtime": map[string]any{
					"resources": map[string]any{"instanceType": "datumcloud/d1-standard-2"},
					"sandbox":   map[string]any{"containers": []any{map[string]any{"name": "app", "image": "registry.example/app:1"}}},
				},
				"networkInterfaces": []any{map[string]any{"network": map[string]any{"name": "default"}}},
			}},
		},
	}}
	object.SetNamespace(namespace)
	object.SetName("web")
	return object
}

func TestWhatWasThereBeforeStays(t *testing.T) {
	s := newSite(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: Name}}
	if err := s.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	if err := s.enable(t.Context(), s.options(), map[string]any{}); err != nil {
		t.Fatal(err)
	}
	if err := s.disable(t.Context(), s.options()); err != nil {
		t.Fatal(err)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(account), account); err != nil {
		t.Errorf("disable deleted what enable had not created: %v", err)
	}
}

// TestWhatIsBeingDeletedWasNotThereBefore: enable right after disable finds objects that are being deleted, and creates
// them again. The next disable deletes those.
func TestWhatIsBeingDeletedWasNotThereBefore(t *testing.T) {
	s := newSite(t)
	host, err := newPlane("the host", s.kube, "")
	if err != nil {
		t.Fatal(err)
	}
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "held", Finalizers: []string{"example.com/hold"}}}
	if err := errors.Join(s.Create(t.Context(), held), s.Delete(t.Context(), held)); err != nil {
		t.Fatal(err)
	}
	if existed, err := host.exists(t.Context(), reference{"v1", "ConfigMap", s.namespace, "held"}); err != nil || existed {
		t.Errorf("exists: %t, %v", existed, err)
	}
	if err := s.Patch(t.Context(), held, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Error(err)
	}
}

// TestTheKubeconfigIsNamed: clientcmd leaves out a file that does not exist.
func TestTheKubeconfigIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "karmada.config")
	t.Setenv("KUBECONFIG", file)
	if _, err := newPlane("the host", "", "karmada-host"); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v", err)
	}
}

func TestPreflightSaysEverythingAtOnce(t *testing.T) {
	s := newSite(t)
	o := s.options()
	nowhere := kubeconfigOf(testConfig(t))
	nowhere.Clusters["c"].Server = "https://127.0.0.1:1"
	file := s.kube + ".nowhere"
	if err := clientcmd.WriteToFile(nowhere, file); err != nil {
		t.Fatal(err)
	}
	o.karmada.hubKubeconfig, o.miloKubeconfig = file, file
	err := s.enable(t.Context(), o, map[string]any{})
	for _, part := range []string{"nothing was changed", "the hub does not answer", "Milo's root does not answer"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
	if s.inventory() != nil {
		t.Error("something was listed as created")
	}
	if err := s.enable(t.Context(), s.options(), map[string]any{"host": map[string]any{"replcas": 1}}); err == nil ||
		!strings.Contains(err.Error(), "replcas") {
		t.Errorf("a wrong key of the values: %v", err)
	}
	if !strings.Contains(s.out.String(), "no cluster has joined Karmada") {
		t.Errorf("no word of cities in:\n%s", s.out.String())
	}
}

// TestNothingIsWrittenBeforeEveryCheck verifies that a missing namespace of Karmada is found before anything is
// written, together with all other faults. The first write is the inventory, in this namespace.
func TestNothingIsWrittenBeforeEveryCheck(t *testing.T) {
	s := newSite(t)
	o := s.options()
	o.karmada.namespace = "nowhere"
	err := s.enable(t.Context(), o, map[string]any{})
	for _, part := range []string{"nothing was changed", "the host has no namespace nowhere", "--namespace"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
	if out := s.out.String(); strings.Contains(out, "applied") {
		t.Errorf("something was applied:\n%s", out)
	}
}

// TestMiloWithoutKinds verifies that enable names the kinds that an operator must install at Milo first, and changes
// nothing.
func TestMiloWithoutKinds(t *testing.T) {
	s := newSite(t)
	s.uninstall(t, locationBindings)
	needed := []string{
		"nothing was changed", "Milo's root does not serve locationbindings of networking.datumapis.com/v1alpha", "docs/how-to/install.md",
	}
	const claims, bindings = "resourceclaims of quota.miloapis.com/v1alpha1", "networkbindings of networking.datumapis.com/v1alpha"
	err := s.enable(t.Context(), s.options(), map[string]any{})
	for _, part := range needed {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
	if err == nil || strings.Contains(err.Error(), claims) || strings.Contains(s.out.String(), bindings) {
		t.Errorf("what is off is asked for: %v\n%s", err, s.out.String())
	}
	if want := "warning: Milo's root does not serve networks of networking.datumapis.com/v1alpha"; !strings.Contains(s.out.String(), want) {
		t.Errorf("no %q in:\n%s", want, s.out.String())
	}
	if s.inventory() != nil {
		t.Error("something was listed as created")
	}
	err = s.enable(t.Context(), s.options(), map[string]any{
		"controllers": map[string]any{"quota": map[string]any{"enabled": true}}, "featureGates": map[string]any{"NetworkBinding": true},
	})
	for _, part := range append(needed, claims) {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("with quota %v does not say %q", err, part)
		}
	}
	if !strings.Contains(s.out.String(), bindings) {
		t.Errorf("no word of networkbindings in:\n%s", s.out.String())
	}
}

func TestMiloWithoutRights(t *testing.T) {
	s := newSite(t)
	nobody := kubeconfigOf(testConfig(t))
	nobody.AuthInfos["u"].Impersonate = "nobody"
	file := s.kube + ".nobody"
	if err := clientcmd.WriteToFile(nobody, file); err != nil {
		t.Fatal(err)
	}
	o := s.options()
	o.miloKubeconfig = file
	err := s.enable(t.Context(), o, map[string]any{})
	for _, part := range []string{"you may not patch customresourcedefinitions at Milo's root", "Projects cannot be listed at Milo's root"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
}

func TestWhereKarmadaSaysTheHubIs(t *testing.T) {
	for name, key := range map[string]string{
		"karmada-controller-manager-config":      "karmada.config", // karmadactl init
		"mine-karmada-controller-manager-config": "karmada.config", // karmada-operator
		"karmada-kubeconfig":                     "kubeconfig",     // Karmada's chart
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			inside := kubeconfigOf(testConfig(t))
			inside.Clusters["c"].Server = "https://karmada-apiserver.karmada-system.svc:5443"
			content, err := clientcmd.Write(inside)
			if err != nil {
				t.Fatal(err)
			}
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}, Data: map[string][]byte{key: content}}
			if err := s.Create(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
			run, err := s.options().connect()
			if err != nil {
				t.Fatal(err)
			}
			found, err := run.findHub(t.Context())
			if err != nil || found.server != inside.Clusters["c"].Server || len(found.ca) == 0 || found.from != "Secret "+s.namespace+"/"+name {
				t.Errorf("found %s, %s, %v", found.server, found.from, err)
			}
			run.options.hubServer = "https://hub.example.com"
			if found, err = run.findHub(t.Context()); err != nil || found.server != "https://hub.example.com" {
				t.Errorf("--compute-hub-server does not win: %s, %v", found.server, err)
			}
		})
	}
}
