// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/exec"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	if os.Getenv(asCommand) != "" {
		os.Exit(runAsCommand())
	}
	os.Exit(testenv.Main(m, testenv.Options{CRDPaths: []string{
		"milo/crds/networking.datumapis.com_locationbindings.yaml", "hub/names/testdata/dnsendpoints.yaml",
	}}))
}

// now is the time in the tests: one minute after the events in them.
var now = time.Date(2026, 5, 1, 12, 1, 0, 0, time.UTC)

// fixture is a project on a real API server, with users.
type fixture struct {
	*testing.T
	*planes.Planes
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{T: t, Planes: planes.New(t)}
}

// buffer holds the output of a command. Tests read it while the command runs.
type buffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// The exit codes, in addition to 0 and 1, of a command about an object that is not Ready, and of one that SIGINT ends.
const (
	exitNotReady    = 2
	exitInterrupted = 130
)

// result is the result of a command.
type result struct {
	out, errOut string
	// err is the error that the user sees; nil for a command that ends with an exit code and without a message.
	err  error
	code int
}

// call is a way to call the command.
type call struct {
	config   *rest.Config
	operator bool
	ctx      context.Context
	// out and errOut get the output; nil: only the result has it.
	out, errOut *buffer
	// in is the standard input; nil: it is empty. terminal, if it is set, is the standard input and output.
	in       io.Reader
	terminal *os.File
	// now is the time; zero: the one of the other tests.
	now time.Time
}

// kubectl calls kubectl compute as a user.
func (f *fixture) kubectl(config *rest.Config, args ...string) result {
	f.Helper()
	return f.call(call{config: config}, args...)
}

// karmadactl calls karmadactl compute.
func (f *fixture) karmadactl(args ...string) result {
	f.Helper()
	return f.call(call{config: f.Config(), operator: true}, args...)
}

func (f *fixture) call(how call, args ...string) result {
	f.Helper()
	if how.out == nil {
		how.out = &buffer{}
	}
	if how.ctx == nil {
		how.ctx = f.Context()
	}
	if how.now.IsZero() {
		how.now = now
	}
	if how.in == nil {
		how.in = strings.NewReader("")
	}
	if how.errOut == nil {
		how.errOut = &buffer{}
	}
	streams := genericiooptions.IOStreams{In: how.in, Out: how.out, ErrOut: how.errOut}
	if how.terminal != nil {
		streams.In, streams.Out = how.terminal, how.terminal
	}
	flags := genericclioptions.NewConfigFlags(true)
	kubeconfig := f.kubeconfig(how.config)
	flags.KubeConfig = &kubeconfig
	cmd := newCommand(Options{
		Use: "compute", Flags: flags, Operator: how.operator, Clock: clocktesting.NewFakePassiveClock(how.now), Streams: streams,
	}, func(hub *rest.Config, _ string) *rest.Config { return hub })
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(how.ctx)
	r := result{out: how.out.String(), errOut: how.errOut.String(), err: err}
	var silent exec.CodeExitError
	switch {
	case errors.As(err, &silent):
		r.code, r.err = silent.Code, nil
	case err != nil:
		r.code = 1
	}
	return r
}

// kubeconfig writes a kubeconfig with the namespace of the fixture.
func (f *fixture) kubeconfig(config *rest.Config) string {
	f.Helper()
	path := filepath.Join(f.TempDir(), "kubeconfig")
	user := &clientcmdapi.AuthInfo{
		ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Impersonate: config.Impersonate.UserName,
	}
	cluster := &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	if config.Proxy != nil {
		proxy, err := config.Proxy(nil)
		if err != nil {
			f.Fatal(err)
		}
		cluster.ProxyURL = proxy.String()
	}
	if err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": cluster},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": user},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u", Namespace: f.Namespace.Name}},
		CurrentContext: "x",
	}, path); err != nil {
		f.Fatal(err)
	}
	return path
}

var users atomic.Int64

// user returns a user with only these rights in the namespace.
func (f *fixture) user(rules ...rbacv1.PolicyRule) *rest.Config {
	f.Helper()
	name := fmt.Sprintf("consumer-%d", users.Add(1))
	config := rest.CopyConfig(f.Config())
	config.Impersonate = rest.ImpersonationConfig{UserName: name}
	if len(rules) == 0 {
		return config
	}
	f.create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: name}, Rules: rules})
	f.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
	})
	last := rules[len(rules)-1]
	if err := wait.PollUntilContextTimeout(f.Context(), 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: name, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: f.Namespace.Name, Verb: last.Verbs[0], Group: last.APIGroups[0], Resource: last.Resources[0],
			},
		}}
		err := f.Client.Create(ctx, review)
		return review.Status.Allowed, err
	}); err != nil {
		f.Fatal(err)
	}
	return config
}

// may returns a rule for the add-on's kinds.
func may(verbs []string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{v1alpha.GroupVersion.Group}, Resources: resources, Verbs: verbs}
}

var read = []string{"get", "list", "watch"}

func (f *fixture) create(object client.Object) {
	f.Helper()
	if err := f.Client.Create(f.Context(), object); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) update(object client.Object) {
	f.Helper()
	if err := f.Client.Status().Update(f.Context(), object); err != nil {
		f.Fatal(err)
	}
}

func is(conditionType string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(now.Add(-time.Minute)),
	}
}

// workload creates Workload web with one placement in Dallas.
func (f *fixture) workload(placements ...v1alpha.WorkloadPlacement) *v1alpha.Workload {
	f.Helper()
	if len(placements) == 0 {
		placements = []v1alpha.WorkloadPlacement{placement("texas", 2, "DFW")}
	}
	w := &v1alpha.Workload{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "web"},
		Spec:       v1alpha.WorkloadSpec{Template: template(), Placements: placements},
	}
	f.create(w)
	w.Status.ReplicaCounts = v1alpha.ReplicaCounts{Replicas: 2, ReadyReplicas: 1, DesiredReplicas: 2}
	w.Status.Conditions = []metav1.Condition{is(v1alpha.ConditionAvailable, metav1.ConditionTrue, v1alpha.ReasonAvailablePlacementFound, "")}
	f.update(w)
	return w
}

func placement(name string, replicas int32, cities ...string) v1alpha.WorkloadPlacement {
	return v1alpha.WorkloadPlacement{Name: name, CityCodes: cities, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: replicas}}
}

func template() v1alpha.InstanceTemplateSpec {
	t := v1alpha.InstanceTemplateSpec{}
	t.Spec.Runtime.Sandbox = &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{
		Name: "web", Image: "nginx", Ports: []v1alpha.NamedPort{{Name: "http", Port: 80}},
	}}}
	t.Spec.NetworkInterfaces = []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "default"}}}
	return t
}

// deployment creates the deployment of a placement in a city.
func (f *fixture) deployment(w *v1alpha.Workload, placement, city string, replicas int32) *v1alpha.WorkloadDeployment {
	f.Helper()
	d := &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Namespace, Name: naming.DeploymentName(w.Name, placement, city),
			Labels: map[string]string{v1alpha.LabelWorkloadUID: string(w.UID)}, OwnerReferences: []metav1.OwnerReference{w.ControllerReference()},
			Annotations: map[string]string{v1alpha.AnnotationHubNamespace: f.HubNamespace},
		},
		Spec: v1alpha.WorkloadDeploymentSpec{
			WorkloadRef: v1alpha.WorkloadReference{Name: w.Name, UID: w.UID}, PlacementName: placement, CityCode: city,
			Template: w.Spec.Template, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: replicas},
		},
	}
	f.create(d)
	d.Status.ReplicaCounts = v1alpha.ReplicaCounts{Replicas: replicas, DesiredReplicas: replicas}
	d.Status.Conditions = []metav1.Condition{
		is(v1alpha.ConditionAvailable, metav1.ConditionFalse, v1alpha.ReasonInstancesProvisioning, "Instances start"),
	}
	f.update(d)
	return d
}

// instance creates an Instance of a deployment.
func (f *fixture) instance(d *v1alpha.WorkloadDeployment, index int, conditions ...metav1.Condition) *v1alpha.Instance {
	f.Helper()
	i := &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: naming.InstanceName(d.Name, index), Labels: naming.InstanceLabels(d, index),
			OwnerReferences: []metav1.OwnerReference{d.ControllerReference()},
		},
		Spec: *d.Spec.Template.Spec.DeepCopy(),
	}
	f.create(i)
	address := fmt.Sprintf("10.0.0.%d", index+1)
	i.Status.Conditions = conditions
	i.Status.NetworkInterfaces = []v1alpha.InstanceNetworkInterfaceStatus{
		{Assignments: v1alpha.InstanceNetworkAssignments{NetworkIP: &address}},
	}
	f.update(i)
	return i
}

var (
	ready    = is(v1alpha.ConditionReady, metav1.ConditionTrue, v1alpha.ReasonAvailable, "")
	gated    = is(v1alpha.ConditionReady, metav1.ConditionFalse, v1alpha.ReasonSchedulingGatesPresent, "waits for gate Quota")
	exceeded = is(v1alpha.ConditionQuotaGranted, metav1.ConditionFalse, v1alpha.ReasonQuotaExceeded, "no vcpus are left")
)

// scene creates Workload web in Dallas with two Instances: one is Ready, and one waits for quota.
func (f *fixture) scene() (*v1alpha.Workload, *v1alpha.WorkloadDeployment) {
	f.Helper()
	w := f.workload()
	d := f.deployment(w, "texas", "DFW", 2)
	f.instance(d, 0, ready)
	f.instance(d, 1, gated, exceeded)
	return w, d
}

// copied creates the hub's copy of a deployment, as the add-on and Karmada do.
func (f *fixture) copied(d *v1alpha.WorkloadDeployment) *v1alpha.WorkloadDeployment {
	f.Helper()
	f.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.HubNamespace}})
	onHub := &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: d.Name, Labels: maps.Clone(d.Labels), Annotations: map[string]string{
			v1alpha.AnnotationProjectName: string(planes.ProjectName),
		}},
		Spec: *d.Spec.DeepCopy(),
	}
	onHub.Labels[v1alpha.LabelDeploymentUID] = string(d.UID)
	onHub.Labels[v1alpha.LabelProject] = naming.ProjectLabel(string(planes.ProjectName))
	onHub.Labels[v1alpha.LabelProjectNamespace] = f.Namespace.Name
	onHub.Labels[v1alpha.LabelTopologyCity] = naming.CityLabel(d.Spec.CityCode)
	f.create(onHub)
	return onHub
}

func (f *fixture) want(r result, code int, parts ...string) {
	f.Helper()
	if r.code != code {
		f.Errorf("exit code %d, want %d (%v)", r.code, code, r.err)
	}
	all := r.out + r.errOut
	if r.err != nil {
		all += r.err.Error()
	}
	for _, part := range parts {
		if !strings.Contains(all, part) && !strings.Contains(squeeze(all), part) {
			f.Errorf("%q is missing in\n%s", part, all)
		}
	}
}
