// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/policies"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

const (
	withdrawAfter = 2 * time.Minute
	oldUID        = types.UID("old")
	newUID        = types.UID("new")
)

var errAway = errors.New("Milo is away")

// roster plays Milo and the watch for the test's project.
type roster struct {
	name   string
	lost   bool
	knows  types.UID
	exists types.UID
	err    error
	asked  int
	change func(string)
}

func (r *roster) Owns(key naming.ShardKey) bool         { return key == naming.ProjectKey(r.name) && !r.lost }
func (r *roster) Knows(name string, uid types.UID) bool { return name == r.name && uid == r.knows }
func (r *roster) OnChange(f func(string))               { r.change = f }
func (r *roster) Lookup(context.Context, string) (types.UID, bool, error) {
	r.asked++
	return r.exists, r.exists != "" && r.err == nil, r.err
}

// namespacesFixture is a hub namespace of a project that does not exist any more, with a copy that is deleted slowly.
type namespacesFixture struct {
	*planes.Planes
	reconciler *Namespaces
	clock      *testingclock.FakePassiveClock
	roster     *roster
	copied     *v1alpha.WorkloadDeployment
	city       string
	brake      brake
}

// brake holds withdrawals for a reason.
type brake struct {
	reason string
	err    error
}

func (b *brake) Held(context.Context) (string, error) { return b.reason, b.err }

func newNamespacesFixture(t *testing.T) *namespacesFixture {
	t.Helper()
	f := &namespacesFixture{
		Planes: planes.New(t), city: planes.City(),
		clock: testingclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
	}
	f.roster = &roster{name: "project-of-" + f.Namespace.Name}
	f.restart(t)
	f.addNamespace(t, oldUID)
	f.copied = f.addCopy(t, "web", oldUID)
	return f
}

// restart replaces the reconciler, as a restarted process does.
func (f *namespacesFixture) restart(t *testing.T) {
	t.Helper()
	f.reconciler = NewNamespaces(NamespacesOptions{
		Projects: f.roster, Hub: f.Hub, APIReader: f.HubAPI,
		Owners: ownership.New(ownership.Options{Milo: f.roster, Brake: &f.brake}), After: withdrawAfter, Clock: f.clock,
		Registerer: prometheus.NewRegistry(),
		Grants:     projects.NewGrants(f.Hub),
	})
}

func (f *namespacesFixture) origin(uid types.UID) projects.Origin {
	return projects.Origin{Project: f.roster.name, ProjectUID: uid, Namespace: f.Namespace.Name}
}

// addNamespace creates the hub namespace of a project with this UID, to which the fixture then refers.
func (f *namespacesFixture) addNamespace(t *testing.T, uid types.UID) {
	t.Helper()
	f.HubNamespace = f.origin(uid).HubNamespace(f.Namespace.UID)
	// With its labels, as hub/propagation does: the API server's policies see a change of a namespace a moment late.
	namespace := f.namespace()
	f.marked(namespace, uid)
	planes.Create(t, f.Planes, namespace)
	if err := f.reconciler.Grants.Ensure(t.Context(), f.HubNamespace, f.origin(uid)); err != nil {
		t.Fatal(err)
	}
}

// marked sets the labels and annotations of the hub namespace of a project with this UID.
func (f *namespacesFixture) marked(n *corev1.Namespace, uid types.UID) {
	n.Labels, n.Annotations = f.origin(uid).Labels(), f.origin(uid).Annotations()
	n.Labels[v1alpha.LabelProjectNamespaceUID] = string(f.Namespace.UID)
}

func (f *namespacesFixture) addCopy(t *testing.T, name string, uid types.UID) *v1alpha.WorkloadDeployment {
	t.Helper()
	copied := f.Deployment(name, f.city)
	copied.Namespace, copied.Labels, copied.Annotations = f.HubNamespace, f.origin(uid).Labels(), f.origin(uid).Annotations()
	copied.Finalizers = []string{"example.com/held"}
	return planes.Create(t, f.Planes, copied)
}

func (f *namespacesFixture) end(t *testing.T, obj client.Object) {
	t.Helper()
	planes.Change(t, f.Planes, obj, func(o client.Object) { o.SetFinalizers(nil) })
}

func (f *namespacesFixture) namespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.HubNamespace}}
}

func (f *namespacesFixture) isDeleted(t *testing.T, obj client.Object) bool {
	t.Helper()
	return !planes.Exists(t, f.Planes, obj) || !planes.Get(t, f.Planes, obj.GetNamespace(), obj.GetName(), obj).GetDeletionTimestamp().IsZero()
}

func (f *namespacesFixture) wantDeleted(t *testing.T, objects map[client.Object]bool) {
	t.Helper()
	for obj, want := range objects {
		if got := f.isDeleted(t, obj); got != want {
			t.Errorf("%T %s is deleted: %t", obj, obj.GetName(), got)
		}
	}
}

func (f *namespacesFixture) reconcile(t *testing.T) time.Duration {
	t.Helper()
	result, err := f.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: f.HubNamespace}})
	if err != nil {
		t.Fatal(err)
	}
	return result.RequeueAfter
}

func (f *namespacesFixture) inDoubt() int {
	doubted, _ := f.reconciler.patience.Counts()
	return doubted
}

func (f *namespacesFixture) heldBack() int { _, held := f.reconciler.patience.Counts(); return held }

// doubt reconciles for as long as Milo must report the project as gone, less the last answer.
func (f *namespacesFixture) doubt(t *testing.T) {
	t.Helper()
	for range ownership.AnswersNeeded - 1 {
		f.clock.SetTime(f.clock.Now().Add(f.reconcile(t)))
	}
}

// TestWithdrawal: after enough answers the copies are deleted, and when they are gone the objects that they needed.
func TestWithdrawal(t *testing.T) {
	t.Parallel()
	f := newNamespacesFixture(t)
	policy := policies.CityPolicy(f.HubNamespace, policies.City{Code: f.city})
	cell := f.Cell(t, f.city)
	work := &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: planes.ExecutionSpace(cell.Name), Name: f.HubNamespace,
		Labels: map[string]string{v1alpha.LabelHubNamespace: f.HubNamespace, v1alpha.LabelProject: "cluster-north"},
	}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: "password", Labels: f.origin(oldUID).Labels()}}
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: "theirs"}}
	for _, obj := range []client.Object{policy, work, secret, theirs} {
		planes.Create(t, f.Planes, obj)
	}
	began := f.clock.Now()
	f.doubt(t)
	if f.isDeleted(t, f.copied) || f.inDoubt() != 1 {
		t.Fatal("it is withdrawn too early, or is not in doubt")
	}
	f.reconcile(t)
	if took := f.clock.Since(began); took < after || f.roster.asked != ownership.AnswersNeeded || !f.isDeleted(t, f.copied) {
		t.Fatalf("after %v and %d answers nothing is withdrawn", took, f.roster.asked)
	}
	if wait := f.reconcile(t); wait == 0 {
		t.Error("the end of the copy is not waited for")
	}
	f.wantDeleted(t, map[client.Object]bool{f.namespace(): false, secret: false, work: false, theirs: false})
	f.end(t, f.copied)
	f.reconcile(t)
	f.wantDeleted(t, map[client.Object]bool{f.namespace(): true, secret: true, work: true, theirs: false})
	f.reconcile(t)
	if n := testutil.ToFloat64(f.reconciler.withdrawn); n != 1 || f.inDoubt() != 0 {
		t.Errorf("%v withdrawals are counted, %d are in doubt", n, f.inDoubt())
	}
}

// TestNoProjectIsWithdrawnOnAGuess: any other event between two answers restarts the questions.
func TestNoProjectIsWithdrawnOnAGuess(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		between func(*testing.T, *namespacesFixture)
		// never: the project is not withdrawn, however long this lasts.
		never bool
	}{
		"an error":           {between: func(_ *testing.T, f *namespacesFixture) { f.roster.err = errAway }},
		"it exists":          {between: func(_ *testing.T, f *namespacesFixture) { f.roster.exists = oldUID }},
		"the watch knows it": {between: func(_ *testing.T, f *namespacesFixture) { f.roster.knows = oldUID }},
		"an administrator": {never: true, between: func(t *testing.T, f *namespacesFixture) {
			t.Helper()
			planes.Change(t, f.Planes, f.namespace(), func(n *corev1.Namespace) { n.Annotations[v1alpha.AnnotationKeep] = "true" })
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newNamespacesFixture(t)
			f.doubt(t)
			test.between(t, f)
			f.reconcile(t)
			f.roster.err, f.roster.exists, f.roster.knows, f.roster.lost = nil, "", "", false
			for range ownership.AnswersNeeded - 1 {
				f.clock.SetTime(f.clock.Now().Add(f.reconcile(t)))
			}
			if f.isDeleted(t, f.copied) {
				t.Error("it was deleted by fewer answers than are needed in a row")
			}
			f.clock.SetTime(f.clock.Now().Add(withdrawAfter))
			f.reconcile(t)
			f.clock.SetTime(f.clock.Now().Add(withdrawAfter))
			f.reconcile(t)
			if got := f.isDeleted(t, f.copied); got == test.never {
				t.Errorf("after that it is deleted: %t", got)
			}
		})
	}
}

// TestEventsAreNoAnswers: more events do not lead to more questions to Milo.
func TestEventsAreNoAnswers(t *testing.T) {
	t.Parallel()
	f := newNamespacesFixture(t)
	for range 50 {
		f.reconcile(t)
		f.clock.SetTime(f.clock.Now().Add(time.Second))
	}
	if f.roster.asked != 1 || f.isDeleted(t, f.copied) {
		t.Errorf("Milo was asked %d times", f.roster.asked)
	}
	f.roster.knows = oldUID
	f.reconcile(t)
	if f.roster.asked != 1 || f.inDoubt() != 0 {
		t.Error("Milo is asked about a project that the watch knows")
	}
}

// TestProjectMadeAgain: the objects of the earlier project of that name are deleted, and the objects of the later one
// remain.
func TestProjectMadeAgain(t *testing.T) {
	t.Parallel()
	f := newNamespacesFixture(t)
	f.roster.exists, f.roster.knows = newUID, newUID
	earlier, gone := f.namespace(), f.copied
	f.addNamespace(t, newUID)
	later := f.addCopy(t, "web", newUID)
	for _, name := range []string{earlier.Name, f.HubNamespace} {
		f.HubNamespace = name
		f.doubt(t)
		f.reconcile(t)
	}
	f.end(t, gone)
	f.wantDeleted(t, map[client.Object]bool{later: false, f.namespace(): false})
	f.HubNamespace = earlier.Name
	f.reconcile(t)
	f.wantDeleted(t, map[client.Object]bool{earlier: true, gone: true})
}

// TestKeptMeanwhile: an operator annotates the namespace just before it is deleted.
func TestKeptMeanwhile(t *testing.T) {
	t.Parallel()
	f := newNamespacesFixture(t)
	f.doubt(t)
	f.reconcile(t)
	f.end(t, f.copied)
	f.Hub.Once("delete", "Namespace", func() error {
		planes.Change(t, f.Planes, f.namespace(), func(n *corev1.Namespace) { n.Annotations[v1alpha.AnnotationKeep] = "true" })
		return nil
	})
	if _, err := f.reconciler.Reconcile(t.Context(),
		reconcile.Request{NamespacedName: types.NamespacedName{Name: f.HubNamespace}}); err == nil {
		t.Error("there is no conflict")
	}
	if f.isDeleted(t, f.namespace()) {
		t.Error("the namespace is deleted")
	}
}

// TestMiloIsInDoubt: nothing is withdrawn without an operator's release.
func TestMiloIsInDoubt(t *testing.T) {
	t.Parallel()
	f := newNamespacesFixture(t)
	f.brake.reason = "it is another one"
	f.doubt(t)
	f.reconcile(t)
	if f.isDeleted(t, f.copied) || f.heldBack() != 1 {
		t.Fatal("it is withdrawn, or not counted as held")
	}
	f.brake = brake{err: errAway}
	if f.reconcile(t); f.isDeleted(t, f.copied) || f.heldBack() != 1 {
		t.Fatal("without an answer it is withdrawn, or not counted as held")
	}
	f.brake = brake{reason: "it is another one"}
	planes.Change(t, f.Planes, f.namespace(), func(n *corev1.Namespace) { n.Annotations[v1alpha.AnnotationKeep] = "false" })
	f.reconcile(t)
	if !f.isDeleted(t, f.copied) || f.heldBack() != 0 {
		t.Error("an operator's word does not count")
	}
}

// TestMiloIsReleased: after the operator's release, the namespace is withdrawn and no longer counted.
func TestMiloIsReleased(t *testing.T) {
	t.Parallel()
	f := newNamespacesFixture(t)
	f.brake.reason = "it is another one"
	f.doubt(t)
	if wait := f.reconcile(t); wait > 2*recheckHeld {
		t.Errorf("the operator's word has an effect after %s", wait)
	}
	f.brake.reason = ""
	f.reconcile(t)
	if !f.isDeleted(t, f.copied) || f.heldBack() != 0 {
		t.Error("it is not withdrawn, or still counted as held")
	}
}

// TestNamespacesOf a project that has changed, or of all that are owned.
func TestNamespacesOf(t *testing.T) {
	t.Parallel()
	f := newNamespacesFixture(t)
	for _, project := range []string{f.roster.name, ""} {
		if names := f.reconciler.namespacesOf(t.Context(), project); len(names) != 1 || names[0] != f.HubNamespace {
			t.Errorf("of %q: %v", project, names)
		}
	}
	f.roster.lost = true
	if names := f.reconciler.namespacesOf(t.Context(), ""); len(names) != 0 {
		t.Errorf("of others: %v", names)
	}
}

// TestAForeignNamespaceStays: a namespace that the add-on has not created remains when the project in its labels is
// gone.
func TestAForeignNamespaceStays(t *testing.T) {
	t.Parallel()
	f := newNamespacesFixture(t)
	f.HubNamespace = "victim-of-" + f.Namespace.Name
	planes.Create(t, f.Planes, f.namespace())
	planes.Change(t, f.Planes, f.namespace(), func(n *corev1.Namespace) { f.marked(n, oldUID) })
	f.copied = f.addCopy(t, "web", oldUID)
	for range ownership.AnswersNeeded + 2 {
		f.clock.SetTime(f.clock.Now().Add(withdrawAfter))
		f.reconcile(t)
	}
	f.wantDeleted(t, map[client.Object]bool{f.namespace(): false, f.copied: false})
}

// TestWithdrawalWithoutTheGrant verifies that a hub namespace without the RoleBinding gets it before its data is
// deleted.
func TestWithdrawalWithoutTheGrant(t *testing.T) {
	t.Parallel()
	f := newNamespacesFixture(t)
	grant := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: projects.GrantName}}
	planes.Delete(t, f.Planes, grant)
	f.doubt(t)
	f.reconcile(t)
	f.end(t, f.copied)
	f.HubAPI.Calls()
	if wait := f.reconcile(t); wait < grantKnown || !planes.Exists(t, f.Planes, grant) {
		t.Errorf("the RoleBinding does not exist, or is not waited for: %s", wait)
	}
	if slices.ContainsFunc(f.HubAPI.Calls(), func(call planes.Call) bool { return call.Kind == "SecretList" }) ||
		f.isDeleted(t, f.namespace()) {
		t.Error("it is withdrawn before the add-on may list its data")
	}
	f.reconcile(t)
	if !f.isDeleted(t, f.namespace()) {
		t.Error("it is not withdrawn")
	}
}
