// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"strings"
	"testing"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// lost is a hub whose storage is lost, with cells that run what it has sent them.
type lost struct {
	*fixture
	hub, cell string
}

func newLost(t *testing.T) *lost {
	f := newFixture(t)
	l := &lost{fixture: f, hub: string(uuid.NewUUID()), cell: "cell-of-" + f.Namespace.Name}
	f.create(&clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{
		Name: l.cell, Labels: map[string]string{v1alpha.LabelTopologyCity: "dfw"},
	}})
	t.Cleanup(l.leave)
	return l
}

// leave removes what other tests would find: the cell, what it runs, and the projects, whose namespaces no controller empties here.
func (l *lost) leave() {
	ctx := context.WithoutCancel(l.Context())
	if err := l.Client.Delete(ctx, &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: l.cell}}); err != nil {
		l.Error(err)
	}
	deployments := &v1alpha.WorkloadDeploymentList{}
	if err := l.Client.List(ctx, deployments, client.MatchingLabels{v1alpha.LabelHub: l.hub}); err != nil {
		l.Error(err)
	}
	for i := range deployments.Items {
		if err := l.Client.Delete(ctx, &deployments.Items[i]); err != nil {
			l.Error(err)
		}
	}
	projects := &corev1.NamespaceList{}
	if err := l.Client.List(ctx, projects, client.HasLabels{v1alpha.LabelNamespaceProject}); err != nil {
		l.Error(err)
	}
	for i := range projects.Items {
		project := &projects.Items[i]
		if !strings.HasSuffix(project.Name, "-"+l.Namespace.Name) {
			continue
		}
		delete(project.Labels, v1alpha.LabelNamespaceProject)
		if err := l.Client.Update(ctx, project); err != nil {
			l.Error(err)
		}
	}
}

// project returns a name that no other test has.
func (l *lost) project(name string) string { return name + "-" + l.Namespace.Name }

// runs creates the deployment of a Workload in the cell, of a project with an identity.
func (l *lost) runs(project, workload string, identity, workloadUID types.UID) *v1alpha.WorkloadDeployment {
	l.Helper()
	d := l.Deployment(workload, "dfw")
	d.Namespace = naming.HubNamespace(string(identity), string(identity))
	d.Labels = map[string]string{
		v1alpha.LabelHub: l.hub, v1alpha.LabelProject: naming.ProjectLabel(project), v1alpha.LabelProjectNamespace: project,
		v1alpha.LabelProjectUID: string(identity), v1alpha.LabelWorkloadUID: string(workloadUID),
	}
	d.Annotations = map[string]string{v1alpha.AnnotationProjectName: project}
	d.Spec.WorkloadRef.Name, d.Spec.WorkloadRef.UID = workload, workloadUID
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: d.Namespace}}
	if err := l.Client.Create(l.Context(), space); client.IgnoreAlreadyExists(err) != nil {
		l.Fatal(err)
	}
	l.create(d)
	d.Status.DesiredReplicas, d.Status.ReadyReplicas = 2, 2
	l.update(d)
	return d
}

func (l *lost) adopt(args ...string) result {
	l.Helper()
	return l.karmadactl(append([]string{"adopt", "--hub", l.hub}, args...)...)
}

// namespace returns a namespace of the new hub; nil: it has none of the name.
func (l *lost) namespace(name string) *corev1.Namespace {
	l.Helper()
	found := &corev1.Namespace{}
	if err := l.Client.Get(l.Context(), client.ObjectKey{Name: name}, found); client.IgnoreNotFound(err) != nil {
		l.Fatal(err)
	}
	return found
}

// row returns the line of a deployment.
func row(out, project, workload, cell string) string {
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) > 3 && fields[0] == project && fields[1] == workload && fields[3] == cell {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// TestAdopt: the list writes nothing. Confirmed, each project that can take over what it ran has its earlier identity, and its
// Workloads theirs, before a Workload can be written there.
func TestAdopt(t *testing.T) {
	l := newLost(t)
	shop, identity, web, api := l.project("shop"), uuid.NewUUID(), uuid.NewUUID(), uuid.NewUUID()
	d := l.runs(shop, "web", identity, web)
	l.runs(shop, "api", identity, api)

	listed := l.adopt("--cell-kubeconfig", l.cell+"="+l.kubeconfig(l.Config()))
	if listed.err != nil {
		t.Fatal(listed.err)
	}
	for _, want := range []string{d.Namespace, "2/2", l.hub, "can be adopted"} {
		if got := row(listed.out, shop, "web", l.cell); !strings.Contains(got, want) {
			t.Errorf("the list has %q, without %s", got, want)
		}
	}
	if l.namespace(shop).UID != "" {
		t.Fatal("the list creates a namespace")
	}

	done := l.adopt("--yes")
	if done.err != nil || !strings.Contains(done.out, "project "+shop+" adopted: apply its Workloads api, web") {
		t.Fatalf("%v, %s", done.err, done.out)
	}
	namespace := l.namespace(shop)
	record := wire.AdoptionOf(namespace)
	if record.Project != identity || record.Workloads["web"] != web || record.Workloads["api"] != api {
		t.Errorf("the namespace takes over %+v", record)
	}
	if namespace.Labels[v1alpha.LabelNamespaceProject] != v1alpha.NamespaceProject {
		t.Error("the namespace is no project")
	}

	again := l.adopt("--yes")
	if got := row(again.out, shop, "web", l.cell); again.err != nil || !strings.Contains(got, "waits for its Workload") {
		t.Errorf("the second time: %v, %s", again.err, got)
	}
	if got := l.namespace(shop); got.ResourceVersion != namespace.ResourceVersion {
		t.Error("the second time it writes the namespace")
	}
}

// TestAdoptRefuses: what cells report is not believed where it contradicts itself or the hub, and a project whose Workloads run a
// second time is not given the first ones.
func TestAdoptRefuses(t *testing.T) {
	own := uuid.NewUUID()
	tests := map[string]struct {
		setUp func(l *lost, project string)
		want  string
	}{
		"a cell that reports another project's Instances as this one's": {func(l *lost, project string) {
			l.runs(project, "web", own, uuid.NewUUID())
			l.runs(project, "theirs", uuid.NewUUID(), uuid.NewUUID())
		}, "with the UIDs"},
		"a cell that reports this project's Instances as another's": {func(l *lost, project string) {
			l.runs(project, "web", own, uuid.NewUUID())
			l.runs(l.project("other"), "stolen", own, uuid.NewUUID())
		}, "for project"},
		"another's, beside a Workload that is not believed": {func(l *lost, project string) {
			l.runs(project, "api", own, "mine")
			l.runs(l.project("another"), "stolen", own, uuid.NewUUID())
		}, "for project"},
		"two Workloads with one UID": {func(l *lost, project string) {
			l.runs(project, "web", own, own)
			l.runs(project, "api", own, own)
		}, "contradict each other about the UID of Workload"},
		"a UID that no API server gives": {func(l *lost, project string) { l.runs(project, "web", own, "mine") }, "contradict each other"},
		"the UID of a namespace of the hub": {func(l *lost, project string) {
			l.runs(project, "web", l.Namespace.UID, uuid.NewUUID())
		}, "of the hub has"},
		"a project whose Workloads run already": {func(l *lost, project string) {
			l.runs(project, "web", own, uuid.NewUUID())
			l.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: project}})
			workload := l.workload().DeepCopy()
			workload.ObjectMeta = metav1.ObjectMeta{Namespace: project, Name: "web"}
			l.create(workload)
		}, "run a second time"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			own = uuid.NewUUID()
			l := newLost(t)
			project := l.project("shop")
			test.setUp(l, project)
			done := l.adopt("--yes")
			if done.err == nil || !strings.Contains(done.err.Error(), "project "+project+" is not adopted") ||
				!strings.Contains(done.out, test.want) {
				t.Errorf("%v\n%s", done.err, done.out)
			}
			if found := l.namespace(project); found.Annotations[v1alpha.AnnotationAdopted] != "" {
				t.Errorf("the namespace takes over %s", found.Annotations[v1alpha.AnnotationAdopted])
			}
		})
	}
}

// TestAdoptWithMilo: the command leaves a project of Milo alone, which has its identity still.
func TestAdoptWithMilo(t *testing.T) {
	l := newLost(t)
	d := l.Deployment("web", "dfw")
	d.Namespace, d.Annotations = l.HubNamespace, map[string]string{v1alpha.AnnotationProjectName: "north"}
	d.Labels = map[string]string{v1alpha.LabelHub: l.hub, v1alpha.LabelProjectUID: string(uuid.NewUUID())}
	l.EnsureHubNamespace(t)
	l.create(d)
	done := l.adopt("--yes")
	if got := row(done.out, "north", d.Spec.WorkloadRef.Name, l.cell); done.err != nil || !strings.Contains(got, "of Milo") {
		t.Errorf("%v, %s", done.err, done.out)
	}
}
