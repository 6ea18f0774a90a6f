// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/cert"

	"github.com/karmada-compute/karmada-compute/charts"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// files are where the processes of a test find what Pods have in /etc/karmada-compute, and systemd's unit in its
// credentials.
type files struct{ folder string }

// newFiles writes every file that an example refers to. The API server is hub and Milo.
func newFiles(t *testing.T) files {
	t.Helper()
	f := files{folder: t.TempDir()}
	ensureNamespace(t, newClient(t), releaseNamespace)
	kubeconfig, err := os.ReadFile(testenv.Kubeconfig(t, testenv.Config(t)))
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"hub/kubeconfig": kubeconfig, "milo/kubeconfig": kubeconfig, "hub.kubeconfig": kubeconfig, "milo.kubeconfig": kubeconfig,
		"certificates/tls.crt": certificate, "certificates/tls.key": key, "certificates/ca.crt": certificate,
		"client-ca/ca.crt": testenv.Config(t).CAData, "client-ca.crt": testenv.Config(t).CAData,
	} {
		f.write(t, name, content)
	}
	return f
}

func (f files) write(t *testing.T, name string, content []byte) {
	t.Helper()
	path := filepath.Join(f.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// access writes the kubeconfigs that the chart renders for a component, and the token that a kubelet would write beside
// them.
func (f files) access(t *testing.T, objects []*unstructured.Unstructured, deployment *unstructured.Unstructured) {
	t.Helper()
	volumes, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "volumes")
	for _, plane := range []string{"hub", "milo"} {
		for _, volume := range volumes {
			raw, err := json.Marshal(volume)
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range objects {
				encoded, found, _ := unstructured.NestedString(object.Object, "data", "kubeconfig")
				if object.GetKind() != "Secret" || !found || !strings.Contains(string(raw), `"name":"`+plane+`"`) ||
					!strings.Contains(string(raw), `"`+object.GetName()+`"`) {
					continue
				}
				content, err := base64.StdEncoding.DecodeString(encoded)
				if err != nil {
					t.Fatal(err)
				}
				f.write(t, plane+"/kubeconfig", content)
				f.write(t, plane+"/token", tokenOf(t, query(t, objects, id(deployment), "{.spec.template.spec.serviceAccountName}")))
			}
		}
	}
}

// tokenOf is a token of a ServiceAccount that may do everything: which rights are needed is another test.
func tokenOf(t *testing.T, name string) []byte {
	t.Helper()
	clients, err := kubernetes.NewForConfig(testenv.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	accounts := clients.CoreV1().ServiceAccounts(releaseNamespace)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"}}
	if account, err = accounts.Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: releaseNamespace, Name: account.Name}},
	}
	if binding, err = clients.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The context of the test has ended.
		if err := clients.RbacV1().ClusterRoleBindings().Delete(context.WithoutCancel(t.Context()), binding.Name,
			metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	token, err := accounts.CreateToken(t.Context(), account.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return []byte(token.Status.Token)
}

// releaseNamespace is the namespace of the release.
const releaseNamespace = "karmada-system"

// runUntilReady runs a binary with arguments until it is ready, and then until it has stopped. Only its ports are other
// ones, because the machine of the test is not its own, and it does not register its webhooks, which would concern all
// tests.
func runUntilReady(t *testing.T, binary string, f files, arguments []string) {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	replaced := strings.NewReplacer("/etc/karmada-compute", f.folder, "${CREDENTIALS_DIRECTORY}", f.folder, "$(POD_NAME)",
		"replica", "$(POD_IP)", "127.0.0.1", "%H", host)
	arguments = slices.Clone(arguments)
	for i := range arguments {
		arguments[i] = replaced.Replace(arguments[i])
	}
	health := testenv.FreeAddress(t)
	arguments = append(arguments, "--health-probe-bind-address="+health, "--metrics-bind-address="+testenv.FreeAddress(t),
		"--peer-bind-address=127.0.0.1:0",
		"--webhook-port="+strconv.Itoa(testenv.FreePort(t)), "--register-webhooks=false", "--shutdown-delay-duration=0")
	var log strings.Builder
	ctx, stop := context.WithCancel(t.Context())
	command := exec.CommandContext(ctx, binary, arguments...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.Stdout, command.Stderr, command.WaitDelay = &log, &log, 20*time.Second
	defer deleteSecrets(t)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- command.Wait()
		stop()
	}()
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+health+"/readyz", nil)
		if err != nil {
			return false, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, nil //nolint:nilerr // it does not listen yet
		}
		return response.StatusCode == http.StatusOK, response.Body.Close()
	})
	stop()
	if exit := <-ended; err != nil {
		t.Errorf("%v is not ready: %v, %v\n%s", arguments, err, exit, log.String())
	}
}

// deleteSecrets deletes the Secrets of the webhooks that a process has created: other tests create them.
func deleteSecrets(t *testing.T) {
	t.Helper()
	clients, err := kubernetes.NewForConfig(testenv.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"karmada-compute-webhook-ca", "karmada-compute-webhook-path"} {
		if err := clients.CoreV1().Secrets(releaseNamespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil &&
			!apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
}

// runExamples: the process of every Deployment of an example becomes ready with the arguments, the kubeconfigs and the
// tokens of the example. The examples are one cluster; host and hub apart, with separate Pods for webhooks; beside
// Karmada.
func runExamples(t *testing.T, folder string) {
	t.Helper()
	all := examples(t)
	for _, name := range []string{"one-cluster.yaml", "host-and-hub-apart.yaml", "beside-karmada.yaml"} {
		t.Run(name, func(t *testing.T) {
			example := partOf(all[name], "host")
			if name == "host-and-hub-apart.yaml" {
				// As an operator replaces these.
				for _, plane := range []string{"hub", "milo"} {
					replaceValue(t, example, testenv.Config(t).Host, "access", plane, "token", "server")
					if err := unstructured.SetNestedField(example, string(testenv.Config(t).CAData), "access", plane, "token", "ca"); err != nil {
						t.Fatal(err)
					}
				}
			}
			objects, err := charts.Render(example, charts.Release{})
			if err != nil {
				t.Fatal(err)
			}
			ran := 0
			for _, object := range objects {
				if object.GetKind() != "Deployment" {
					continue
				}
				var arguments []string
				if err := json.Unmarshal([]byte(query(t, objects, id(object), args)), &arguments); err != nil {
					t.Fatal(err)
				}
				f := newFiles(t)
				f.access(t, objects, object)
				runUntilReady(t, filepath.Join(folder, "karmada-compute"), f, arguments)
				ran++
			}
			if want := map[bool]int{true: 2, false: 1}[name == "host-and-hub-apart.yaml"]; ran != want {
				t.Errorf("%d Deployments, and not %d", ran, want)
			}
		})
	}
}

// replaceValue sets a value that exists.
func replaceValue(t *testing.T, values map[string]any, value any, path ...string) {
	t.Helper()
	if _, found, _ := unstructured.NestedFieldNoCopy(values, path...); !found {
		t.Fatalf("the example has no %v", path)
	}
	if err := unstructured.SetNestedField(values, value, path...); err != nil {
		t.Fatal(err)
	}
}

// runUnit: systemd finds no mistake in the unit, and what it starts becomes ready without systemd, which needs no root.
func runUnit(t *testing.T, folder string) {
	t.Helper()
	runUntilReady(t, filepath.Join(folder, "karmada-compute"), newFiles(t), unitArgs(t))
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed: the unit is not verified")
	}
	content, err := charts.FS.ReadFile("karmada-compute/examples/karmada-compute.service")
	if err != nil {
		t.Fatal(err)
	}
	// The binary is not in the folder of the unit.
	path := filepath.Join(t.TempDir(), "karmada-compute.service")
	if err := os.WriteFile(path, []byte(strings.Replace(string(content), "/usr/local/bin/", folder+"/", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", path).CombinedOutput(); err != nil ||
		strings.Contains(string(out), path) {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}
