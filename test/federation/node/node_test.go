// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/karmada-compute/karmada-compute/testenv"
)

func TestMain(m *testing.M) {
	if program := os.Getenv(programVariable); program != "" {
		os.Exit(runProgram(program))
	}
	os.Exit(testenv.Main(m, testenv.Options{}))
}

// patience is how long something that is awaited may take on a slow, busy machine.
const patience = time.Minute

const image = "registry.example/tests/program:v1"

// fixture is a node for one test, and a namespace.
type fixture struct {
	*testing.T
	client    kubernetes.Interface
	node      string
	namespace string
	options   Options
	ended     chan error
	end       context.CancelFunc
}

// startNode starts a node that ends with the test.
func startNode(t *testing.T, change ...func(*Options)) *fixture {
	t.Helper()
	f := newFixture(t)
	for _, one := range change {
		one(&f.options)
	}
	f.start()
	t.Cleanup(func() {
		f.end()
		if err := <-f.ended; err != nil {
			t.Error(err)
		}
	})
	return f
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	client, err := kubernetes.NewForConfig(testenv.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "node-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := client.CoreV1().ServiceAccounts(namespace.Name).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	f := &fixture{T: t, client: client, node: namespace.Name, namespace: namespace.Name}
	f.options = Options{
		Name: f.node, Config: testenv.Config(t), Images: map[string]string{"program": own}, Folder: t.TempDir(),
		InitialBackoff: time.Second, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	return f
}

func (f *fixture) start() {
	ctx, end := context.WithCancel(context.Background())
	f.ended, f.end = make(chan error, 1), end
	go func() { f.ended <- Run(ctx, f.options) }()
}

// pod returns a Pod of this node with one container that serves.
func (f *fixture) pod(name string, env ...corev1.EnvVar) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: f.namespace, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			NodeName: f.node,
			Containers: []corev1.Container{{
				Name: "main", Image: image,
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
				Env: append([]corev1.EnvVar{
					{Name: programVariable, Value: "serve"},
					{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
				}, env...),
				Args:           []string{"--listen=$(POD_IP):8080"},
				ReadinessProbe: &corev1.Probe{ProbeHandler: get("/readyz"), PeriodSeconds: 1},
			}},
		},
	}
}

func get(path string) corev1.ProbeHandler {
	return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("http")}}
}

func (f *fixture) create(pod *corev1.Pod) *corev1.Pod {
	f.Helper()
	pod, err := f.client.CoreV1().Pods(f.namespace).Create(f.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		f.Fatal(err)
	}
	return pod
}

// await waits until a Pod is as it should be.
func (f *fixture) await(name, what string, is func(*corev1.Pod) bool) *corev1.Pod {
	f.Helper()
	var pod *corev1.Pod
	f.eventually(what, func(ctx context.Context) (bool, error) {
		var err error
		pod, err = f.client.CoreV1().Pods(f.namespace).Get(ctx, name, metav1.GetOptions{})
		return err == nil && is(pod), err
	}, func() string { return fmt.Sprintf("%+v", pod.Status) })
	return pod
}

func (f *fixture) eventually(what string, is func(context.Context) (bool, error), state ...func() string) {
	f.Helper()
	if err := wait.PollUntilContextTimeout(f.Context(), 20*time.Millisecond, patience, true, is); err != nil {
		for _, one := range state {
			what += "; it is: " + one()
		}
		f.Fatalf("not %s: %v", what, err)
	}
}

func (f *fixture) awaitReady(name string) *corev1.Pod {
	f.Helper()
	return f.await(name, "Ready", ready)
}

func ready(pod *corev1.Pod) bool { return holds(pod, corev1.PodReady) }

func holds(pod *corev1.Pod, kind corev1.PodConditionType) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func (f *fixture) awaitGone(name string) {
	f.Helper()
	f.eventually("gone", func(ctx context.Context) (bool, error) {
		_, err := f.client.CoreV1().Pods(f.namespace).Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

func (f *fixture) delete(name string, grace ...int64) {
	f.Helper()
	options := metav1.DeleteOptions{}
	if len(grace) > 0 {
		options.GracePeriodSeconds = &grace[0]
	}
	if err := f.client.CoreV1().Pods(f.namespace).Delete(f.Context(), name, options); err != nil {
		f.Fatal(err)
	}
}

// ask asks the process of a Pod.
func (f *fixture) ask(pod *corev1.Pod, path string) string {
	f.Helper()
	answer, err := f.tryAsk(pod, path)
	if err != nil {
		f.Fatal(err)
	}
	return answer
}

func (f *fixture) tryAsk(pod *corev1.Pod, path string) (string, error) {
	local, err := Local(pod.Status.PodIP)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(f.Context(), http.MethodGet, "http://"+local+":8080"+path, nil)
	if err != nil {
		return "", err
	}
	response, err := prober.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// pid returns the process of the first container, by what the Pod's status says.
func pid(pod *corev1.Pod) int {
	number, _ := strconv.Atoi(strings.TrimPrefix(pod.Status.ContainerStatuses[0].ContainerID, "process://"))
	return number
}

// runs reports whether a process runs.
func runs(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestServes(t *testing.T) {
	f := startNode(t)
	f.create(f.pod("web"))
	pod := f.awaitReady("web")
	if !holds(pod, corev1.ContainersReady) || !holds(pod, corev1.PodInitialized) || pod.Status.Phase != corev1.PodRunning {
		t.Errorf("status of a Pod that is Ready: %+v", pod.Status)
	}
	if answer := f.ask(pod, "/env?name=POD_IP"); answer != strings.Replace(pod.Status.PodIP, "10.", "127.", 1) {
		t.Errorf("the Pod has IP %s and $POD_IP is %s", pod.Status.PodIP, answer)
	}
	log, err := os.ReadFile(filepath.Join(f.options.Folder, "log", fmt.Sprintf("%s_%s_web_main.log", f.node, f.namespace)))
	if err != nil || !strings.Contains(string(log), "serving") {
		t.Errorf("log of the container: %q, %v", log, err)
	}
	node, err := f.client.CoreV1().Nodes().Get(t.Context(), f.node, metav1.GetOptions{})
	if err != nil || node.Labels[TypeLabel] != TypeProcess || node.Status.Conditions[0].Status != corev1.ConditionTrue {
		t.Errorf("node: %+v, %v", node, err)
	}
	f.delete("web")
	f.awaitGone("web")
	if runs(pid(pod)) {
		t.Error("the process outlives its Pod")
	}
}
