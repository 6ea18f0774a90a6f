// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/charts"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv"
	testplanes "github.com/karmada-compute/karmada-compute/testenv/planes"
)

// inOwnProcess runs the test in a separate process, unless this is that process: the names of controllers are unique in
// a process.
func inOwnProcess(t *testing.T) bool {
	t.Helper()
	const inside = "KARMADA_COMPUTE_TEST"
	if os.Getenv(inside) == t.Name() {
		return false
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	command.Env = append(os.Environ(), inside+"="+t.Name())
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
	return true
}

// TestAReplicaWithoutMilo: without Milo, a replica with the chart's roles admits the Workloads of a labelled namespace, keeps a
// WorkloadDeployment beside the Workload and its copy in a hub namespace of the same API server, distinguishes the two,
// and leaves nothing.
func TestAReplicaWithoutMilo(t *testing.T) {
	if inOwnProcess(t) {
		return
	}
	h := startWithoutMilo(t)
	project, plain, other := h.namespace("team-a", "true"), h.namespace("team-b", ""), h.namespace("team-c", "true")
	alice := h.as("alice")
	for name, test := range map[string]struct{ namespace, city, refusal string }{
		"a city without cells":      {project.Name, "XYZ", "spec.placements[0].cityCodes[0]"},
		"a namespace without label": {plain.Name, h.city, "label it compute.datumapis.com/project=true"},
	} {
		if err := alice.Create(t.Context(), h.workload(test.namespace, test.city)); err == nil || !strings.Contains(err.Error(), test.refusal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	foreign := h.workload(project.Name, h.city)
	foreign.Spec.Template.Spec.NetworkInterfaces[0].Network.Namespace = other.Name
	if err := alice.Create(t.Context(), foreign); err == nil ||
		!strings.Contains(err.Error(), "spec.template.spec.networkInterfaces[0].network") {
		t.Errorf("a network of another project: %v", err)
	}
	web := h.workload(project.Name, h.city)
	if err := alice.Create(t.Context(), web); err != nil {
		t.Fatal(err)
	}
	original := types.NamespacedName{Namespace: project.Name, Name: naming.DeploymentName("web", "main", h.city)}
	copied := types.NamespacedName{Namespace: naming.HubNamespace(string(project.UID), string(project.UID)), Name: original.Name}
	h.gets(original, &v1alpha.WorkloadDeployment{})
	onHub := &v1alpha.WorkloadDeployment{}
	h.gets(copied, onHub)
	if onHub.Labels[v1alpha.LabelProjectUID] != string(project.UID) {
		t.Errorf("the copy has labels %v", onHub.Labels)
	}
	var list v1alpha.WorkloadDeploymentList
	if err := h.admin.List(t.Context(), &list); err != nil || len(list.Items) != 2 {
		t.Errorf("%d WorkloadDeployments, %v, want the original and its copy", len(list.Items), err)
	}
	h.boundary(original, copied)
	h.becomesAProject(plain)
	h.namespaceLabels(project, other)
	h.conversions(other.Name)
	h.scalers(web)
	h.restores()
	h.suspends(project, copied)
	if err := h.admin.Delete(t.Context(), web); err != nil {
		t.Fatal(err)
	}
	for _, key := range []types.NamespacedName{original, copied, client.ObjectKeyFromObject(web)} {
		h.isGone(key)
	}
	for _, request := range h.limited.asked() {
		if strings.HasSuffix(request, " 403") {
			t.Errorf("the hub refuses %s", request)
		}
	}
}

// boundary verifies what writers other than the add-on may change.
func (h *withoutMilo) boundary(original, copied types.NamespacedName) {
	h.Helper()
	d := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: original.Namespace, Name: original.Name}}
	forged := client.RawPatch(types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"meta.datumapis.com/upstream-cluster-name":"cluster-team-c"}}}`))
	if err := h.as("carol").Patch(h.Context(), d, forged); err == nil ||
		!strings.Contains(err.Error(), "is created and kept by karmada-compute") {
		h.Errorf("a forged label: %v", err)
	}
	slice := &v1alpha.InstanceSlice{ObjectMeta: metav1.ObjectMeta{Namespace: original.Namespace, Name: "forged"}}
	if err := h.as("carol").Create(h.Context(), slice); err == nil || !strings.Contains(err.Error(), "InstanceSlice") {
		h.Errorf("a forged InstanceSlice: %v", err)
	}
	// Karmada writes the status of the copy, and is not reviewed.
	report := client.RawPatch(types.MergePatchType, []byte(`{"status":{"replicas":1}}`))
	copyOf := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: copied.Namespace, Name: copied.Name}}
	if err := h.as("carol").Status().Patch(h.Context(), copyOf, report); err != nil {
		h.Errorf("Karmada cannot report: %v", err)
	}
	if err := h.as("alice").Get(h.Context(), copied, copyOf); !apierrors.IsForbidden(err) {
		h.Errorf("a consumer reads a hub namespace: %v", err)
	}
	ours := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns-00000000-0000-4000-8000-000000000009"}}
	eventually(h.T, func() error {
		err := h.as("dave").Create(h.Context(), ours.DeepCopy(), client.DryRunAll)
		if err != nil && strings.Contains(err.Error(), "reserved for the hub namespaces") {
			return nil
		}
		return fmt.Errorf("a namespace with the name of a hub namespace: %w", err)
	})
}

// namespaceLabels verifies that an owner of a namespace cannot make it one of another project. Karmada copies
// namespaces of the hub with their labels into every cell, where network policies select the namespaces of a project by
// its UID.
func (h *withoutMilo) namespaceLabels(project, victim *corev1.Namespace) {
	h.Helper()
	if err := h.admin.Create(h.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: project.Name, Name: "mallory"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "mallory"}},
	}); err != nil {
		h.Fatal(err)
	}
	mallory, patch := h.as("mallory"), func(label, value string) client.Patch {
		return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, label, value))
	}
	eventually(h.T, func() error {
		return mallory.Patch(h.Context(), project.DeepCopy(), patch("example.com/team", "a"), client.DryRunAll)
	})
	for label, reserved := range map[string]bool{
		v1alpha.LabelProjectUID: true, v1alpha.LabelProjectNamespaceUID: true, v1alpha.LabelHub: true, v1alpha.LabelProject: true,
		v1alpha.LabelNamespaceProject: false, "example.com/team": false,
	} {
		value := string(victim.UID)
		if label == v1alpha.LabelNamespaceProject {
			value = "true"
		}
		requests := map[string]func() error{
			"": func() error { return mallory.Patch(h.Context(), project.DeepCopy(), patch(label, value)) },
			"status": func() error {
				return mallory.Status().Patch(h.Context(), project.DeepCopy(), patch(label, value))
			},
			"finalize": func() error {
				finalized := project.DeepCopy()
				if err := h.admin.Get(h.Context(), client.ObjectKeyFromObject(project), finalized); err != nil {
					return err
				}
				finalized.Labels[label] = value
				return mallory.SubResource("finalize").Update(h.Context(), finalized)
			},
		}
		for subresource, send := range requests {
			switch err := send(); {
			case reserved && (err == nil || !strings.Contains(err.Error(), "labels of karmada-compute")):
				h.Errorf("label %s of a namespace, by subresource %q: %v", label, subresource, err)
			case !reserved && err != nil:
				h.Errorf("label %s of a namespace is refused: %v", label, err)
			}
		}
	}
	made := &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: "made", Labels: map[string]string{v1alpha.LabelProjectUID: string(victim.UID)}},
	}
	if err := h.as("dave").Create(h.Context(), made); err == nil || !strings.Contains(err.Error(), "labels of karmada-compute") {
		h.Errorf("a namespace that is created with the label: %v", err)
	}
	// A label from before the policy stays, and does not block other changes.
	if err := h.admin.Patch(h.Context(), project, patch(v1alpha.LabelNamespaceProject, v1alpha.NamespaceProject)); err != nil {
		h.Fatal(err)
	}
}

// suspends verifies that a suspension reaches the copy, and ends.
func (h *withoutMilo) suspends(project *corev1.Namespace, copied types.NamespacedName) {
	h.Helper()
	for _, test := range []struct {
		value string
		want  bool
	}{{v1alpha.NamespaceSuspended, true}, {v1alpha.NamespaceProject, false}, {v1alpha.NamespaceSuspended, true}} {
		value, want := test.value, test.want
		label := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{"compute.datumapis.com/project":%q}}}`, value))
		if err := h.admin.Patch(h.Context(), project, label); err != nil {
			h.Fatal(err)
		}
		eventually(h.T, func() error {
			d := &v1alpha.WorkloadDeployment{}
			if err := h.admin.Get(h.Context(), copied, d); err != nil || d.Spec.Suspended != want {
				return fmt.Errorf("with label %s the copy is suspended: %t, %w", value, d.Spec.Suspended, err)
			}
			return nil
		})
	}
	more := h.workload(project.Name, h.city)
	more.Name = "more"
	eventually(h.T, func() error {
		if err := h.as("alice").Create(h.Context(), more.DeepCopy(), client.DryRunAll); err == nil ||
			!strings.Contains(err.Error(), "suspended") {
			return fmt.Errorf("in a suspended project: %w", err)
		}
		return nil
	})
}

// withoutMilo is a replica and the hub.
type withoutMilo struct {
	*testing.T
	planes  *testplanes.Planes
	admin   client.Client
	config  *rest.Config
	limited *limited
	city    string
}

// startWithoutMilo starts a replica with the chart's roles, and waits until its admission is registered.
func startWithoutMilo(t *testing.T) *withoutMilo {
	t.Helper()
	// The replica's log is part of the output of a failed test.
	ctrllog.SetLogger(klog.NewKlogr())
	p := testplanes.New(t)
	h := &withoutMilo{T: t, planes: p, admin: p.Client, config: p.Config(), city: testplanes.City()}
	cell := p.Cell(t, h.city)
	h.applyChart("controllers")
	h.limited = newLimited(t, p.Config(), "controllers")
	port, health := strconv.Itoa(testenv.FreePort(t)), testenv.FreeAddress(t)
	startProcess(t,
		"--projects=namespaces", "--kubeconfig="+kubeconfigOf(t, h.limited.url), "--controllers=*", "--webhooks=workloads,owned,namespaces",
		"--webhook-bind-address=127.0.0.1", "--webhook-port="+port, "--webhook-url=https://127.0.0.1:"+port, "--replica-name=namespaces",
		"--metrics-bind-address=0", "--peer-bind-address=0", "--health-probe-bind-address="+health,
		"--shutdown-delay-duration=0",
	)
	r := &replica{client: &http.Client{}}
	eventually(t, func() error { _, err := r.do(t.Context(), http.MethodGet, "http://"+health+"/readyz", nil); return err })
	probe := h.namespace("probe", "")
	// Until the API server has loaded the configuration, it stores Workloads without a review.
	eventually(t, func() error {
		err := h.admin.Create(t.Context(), h.workload(probe.Name, h.city), client.DryRunAll)
		if err != nil && strings.Contains(err.Error(), "is not a project") {
			return nil
		}
		return errors.Join(errors.New("admission is not registered"), err)
	})
	// The replica creates the first type, and projects may use a city when it has confirmed the cell.
	eventually(t, func() error {
		return h.admin.Get(t.Context(), client.ObjectKey{Name: "datumcloud-d1-standard-2"}, &v1alpha.InstanceType{})
	})
	eventually(t, func() error {
		works := &corev1.Namespace{}
		err := h.admin.Get(t.Context(), client.ObjectKey{Name: testplanes.ExecutionSpace(cell.Name)}, works)
		if err == nil && works.Labels[v1alpha.LabelTopologyCity] == "" {
			return errors.New("the city of the cell is not confirmed")
		}
		return err
	})
	return h
}

// applyChart applies the rights and the policy of the part at the hub.
func (h *withoutMilo) applyChart(user string) {
	h.Helper()
	objects, err := charts.Render(map[string]any{
		"host": map[string]any{"enabled": false}, "projects": map[string]any{"mode": "namespaces"},
		"hub": map[string]any{"enabled": true, "subjects": []any{map[string]any{"kind": "User", "name": user}}},
	}, charts.Release{})
	if err != nil {
		h.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "karmada-system"}}
	if err := client.IgnoreAlreadyExists(h.admin.Create(h.Context(), namespace)); err != nil {
		h.Fatal(err)
	}
	wanted := []string{
		"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	}
	for _, object := range objects {
		if object.GetName() == "karmada-compute-cell" || !slices.Contains(wanted, object.GetKind()) ||
			object.GetNamespace() != "" && object.GetNamespace() != namespace.Name {
			continue
		}
		// The planes have the policy of an installation with Milo.
		if err := client.IgnoreNotFound(h.admin.Delete(h.Context(), object)); err != nil {
			h.Fatal(err)
		}
		if err := h.admin.Create(h.Context(), object); err != nil {
			h.Fatal(err)
		}
	}
	// Dave may create namespaces, as another tenant of the hub.
	if err := h.admin.Create(h.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "dave"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"create"}}},
	}); err != nil {
		h.Fatal(err)
	}
	// Carol has every right, as Karmada; alice is a consumer of the projects to which the test binds the role.
	for name, role := range map[string]string{"carol": "cluster-admin", "dave": "dave"} {
		if err := h.admin.Create(h.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
		}); err != nil {
			h.Fatal(err)
		}
	}
}

// namespace creates a namespace with the label, or without, in which alice may edit.
func (h *withoutMilo) namespace(name, label string) *corev1.Namespace {
	h.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	if label != "" {
		namespace.Labels[v1alpha.LabelNamespaceProject] = label
	}
	if err := h.admin.Create(h.Context(), namespace); err != nil {
		h.Fatal(err)
	}
	for _, role := range []string{"karmada-compute-consumer"} {
		if err := h.admin.Create(h.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "alice"}},
		}); err != nil {
			h.Fatal(err)
		}
	}
	return namespace
}

// as is a client of a user.
func (h *withoutMilo) as(user string) client.Client {
	h.Helper()
	config := rest.CopyConfig(h.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	c, err := client.New(config, client.Options{Scheme: testenv.Scheme(h.T, v1alpha.AddToScheme)})
	if err != nil {
		h.Fatal(err)
	}
	return c
}

// workload is Workload web with an Instance in a city.
func (*withoutMilo) workload(namespace, city string) *v1alpha.Workload {
	return &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Spec: v1alpha.WorkloadSpec{
		Placements: []v1alpha.WorkloadPlacement{{
			Name: "main", CityCodes: []string{city}, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1},
		}},
		Template: v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{
			NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "default"}}},
			Runtime: v1alpha.InstanceRuntimeSpec{
				Sandbox: &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "web", Image: "nginx"}}},
			},
		}},
	}}
}

// gets waits for an object.
func (h *withoutMilo) gets(key types.NamespacedName, into client.Object) {
	h.Helper()
	eventually(h.T, func() error { return h.admin.Get(h.Context(), key, into) })
}

// isGone waits until neither a Workload nor a WorkloadDeployment of a name exists.
func (h *withoutMilo) isGone(key types.NamespacedName) {
	h.Helper()
	for _, obj := range []client.Object{&v1alpha.Workload{}, &v1alpha.WorkloadDeployment{}} {
		eventually(h.T, func() error {
			if err := h.admin.Get(h.Context(), key, obj); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%T %s is still there, with finalizers %v: %w", obj, key, obj.GetFinalizers(), err)
			}
			return nil
		})
	}
}
