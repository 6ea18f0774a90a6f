// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells_test

import (
	"os"
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

const (
	current  = `{"replicas":2,"updatedReplicas":2,"availableReplicas":2,"generation":1,"observedGeneration":1,"resourceTemplateGeneration":2}`
	outdated = `{"replicas":2,"updatedReplicas":2,"availableReplicas":2,"generation":1,"observedGeneration":1,"resourceTemplateGeneration":1}`
	rolling  = `{"replicas":2,"updatedReplicas":1,"availableReplicas":2,"generation":1,"observedGeneration":1,"resourceTemplateGeneration":2}`
	invented = `{"replicas":2,"updatedReplicas":2,"availableReplicas":2,"generation":1,"observedGeneration":1,"resourceTemplateGeneration":4611686018427387904}`
	dead     = `{"replicas":2,"updatedReplicas":2,"generation":1,"observedGeneration":1,"resourceTemplateGeneration":2}`
)

// fixture is a hub with cells and the binding of their agents.
type fixture struct {
	*planes.Planes
	t *testing.T
	r *cells.Agents
}

// reporting holds the report of each cell, and the expected reason of its condition.
var reporting = map[string]struct{ report, reason string }{
	"current": {current, v1alpha.ReasonAgentReady}, "old": {outdated, v1alpha.ReasonAgentOutdated},
	"rolling": {rolling, v1alpha.ReasonAgentOutdated},
	"dead":    {dead, v1alpha.ReasonAgentNotReady}, "missing": {"", v1alpha.ReasonAgentMissing},
	"invented": {invented, v1alpha.ReasonAgentOutdated}, "garbled": {`{"availableReplicas":"two"}`, v1alpha.ReasonAgentNotReady},
	// A report that no Deployment can have counts as empty.
	"negative":       {report(`"availableReplicas":-1`), v1alpha.ReasonAgentNotReady},
	"all-negative":   {report(`"replicas":-9,"updatedReplicas":-9`), v1alpha.ReasonAgentNotReady},
	"negative-age":   {report(`"generation":-9223372036854775808,"observedGeneration":-9`), v1alpha.ReasonAgentNotReady},
	"too-many":       {report(`"availableReplicas":2147483648`), v1alpha.ReasonAgentNotReady},
	"beyond-numbers": {report(`"resourceTemplateGeneration":9223372036854775808`), v1alpha.ReasonAgentNotReady},
	"fraction":       {report(`"availableReplicas":0.5`), v1alpha.ReasonAgentNotReady},
	"exponent":       {report(`"availableReplicas":1e300`), v1alpha.ReasonAgentNotReady},
	"object":         {report(`"availableReplicas":{"a":[2]}`), v1alpha.ReasonAgentNotReady},
	"null":           {report(`"availableReplicas":null`), v1alpha.ReasonAgentNotReady},
	"boolean":        {report(`"generation":true`), v1alpha.ReasonAgentNotReady},
	"empty":          {`{}`, v1alpha.ReasonAgentNotReady},
	"later":          {report(`"resourceTemplateGeneration":9223372036854775807`), v1alpha.ReasonAgentOutdated},
	"unobserved":     {report(`"generation":9223372036854775807`), v1alpha.ReasonAgentOutdated},
}

// report is the report of a current agent with other fields, which come last, so that they count.
func report(fields string) string { return strings.TrimSuffix(current, "}") + "," + fields + "}" }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	p := planes.New(t)
	metric := cells.NewAgentsMetric(prometheus.NewRegistry())
	for name := range reporting {
		planes.Create(t, p, cluster(name, "DFW"))
	}
	return &fixture{p, t, &cells.Agents{Hub: p.Hub, Reader: p.Hub, Clock: testingclock.NewFakePassiveClock(time.Now()), Ready: metric}}
}

// report plays Karmada: it reports the agents of all cells.
func (f *fixture) report() {
	f.t.Helper()
	planes.Create(f.t, f.Planes, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cells.Binding.Namespace}})
	labels := map[string]string{"app": "agent"}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: cells.Binding.Namespace, Name: cells.AgentDeployment}}
	deployment.Spec.Selector, deployment.Spec.Template.Labels = &metav1.LabelSelector{MatchLabels: labels}, labels
	deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "agent", Image: "example.com/agent"}}
	planes.Create(f.t, f.Planes, deployment)
	// The generation that current agents report.
	planes.Change(f.t, f.Planes, deployment, func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(2)) })
	binding := &workv1alpha2.ResourceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: cells.Binding.Namespace, Name: cells.Binding.Name}}
	binding.Spec.Resource = workv1alpha2.ObjectReference{
		APIVersion: "apps/v1", Kind: "Deployment", Namespace: cells.Binding.Namespace, Name: "karmada-compute-cell",
	}
	planes.Create(f.t, f.Planes, binding)
	for name, cell := range reporting {
		if cell.report != "" {
			planes.Create(f.t, f.Planes, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: planes.ExecutionSpace(name)}})
			planes.Create(f.t, f.Planes, agentWork(name))
		}
	}
	planes.ChangeStatus(f.t, f.Planes, binding, func(b *workv1alpha2.ResourceBinding) {
		for name, cell := range reporting {
			if cell.report != "" {
				item := workv1alpha2.AggregatedStatusItem{ClusterName: name, Status: &runtime.RawExtension{Raw: []byte(cell.report)}}
				b.Status.AggregatedStatus = append(b.Status.AggregatedStatus, item)
			}
		}
	})
}

// reconcile reconciles a cell and returns its condition, nil if it has none.
func (f *fixture) reconcile(name string) *metav1.Condition {
	f.t.Helper()
	if _, err := f.r.Reconcile(f.t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: name}}); err != nil {
		f.t.Fatal(err)
	}
	found := &clusterv1alpha1.Cluster{}
	if err := f.Client.Get(f.t.Context(), client.ObjectKey{Name: name}, found); client.IgnoreNotFound(err) != nil {
		f.t.Fatal(err)
	}
	return meta.FindStatusCondition(found.Status.Conditions, v1alpha.ConditionComputeAgentReady)
}

// rebuild checks that a cell that was rebuilt under its name is not Ready by the report of the cell before, although
// nothing else changes. Only a complete list of its APIs proves that.
func (f *fixture) rebuild() {
	t := f.t
	t.Helper()
	serves := func(complete metav1.ConditionStatus, groups ...string) {
		planes.ChangeStatus(t, f.Planes, cluster("current", "DFW"), func(c *clusterv1alpha1.Cluster) {
			c.Status.APIEnablements = nil
			for _, group := range groups {
				c.Status.APIEnablements = append(c.Status.APIEnablements, clusterv1alpha1.APIEnablement{GroupVersion: group})
			}
			meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
				Type: clusterv1alpha1.ClusterConditionCompleteAPIEnablements, Status: complete, Reason: "Test",
			})
		})
	}
	for _, step := range []struct {
		complete metav1.ConditionStatus
		groups   []string
		reason   string
	}{
		{metav1.ConditionTrue, []string{"v1", v1alpha.GroupVersion.String()}, v1alpha.ReasonAgentReady},
		{metav1.ConditionFalse, []string{"v1"}, v1alpha.ReasonAgentReady},
		{metav1.ConditionTrue, nil, v1alpha.ReasonAgentReady},
		{metav1.ConditionTrue, []string{"v1"}, v1alpha.ReasonAgentAPIMissing},
		{metav1.ConditionTrue, []string{"v1", v1alpha.GroupVersion.String()}, v1alpha.ReasonAgentReady},
	} {
		serves(step.complete, step.groups...)
		if c := f.reconcile("current"); c == nil || c.Reason != step.reason {
			t.Errorf("with APIs %v, complete: %s, it is %+v, want %s", step.groups, step.complete, c, step.reason)
		}
		found := planes.Get(t, f.Planes, "", "current", &clusterv1alpha1.Cluster{})
		if cell := cells.NewCell(found); cell.Agent.Down != (step.reason != v1alpha.ReasonAgentReady) {
			t.Errorf("with APIs %v the state of its Instances is known: %t", step.groups, !cell.Agent.Down)
		}
	}
}

// agentWork is the Work that Karmada makes for the agent of a cell.
func agentWork(cell string) *workv1alpha1.Work {
	return &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: planes.ExecutionSpace(cell), Name: karmadanames.GenerateWorkName("Deployment", cells.AgentDeployment, cells.Binding.Namespace),
		Annotations: map[string]string{
			workv1alpha2.ResourceBindingNamespaceAnnotationKey: cells.Binding.Namespace,
			workv1alpha2.ResourceBindingNameAnnotationKey:      cells.Binding.Name,
		},
	}}
}

// withoutWork checks that no agent is ready whose Work is missing, or carries the object of another party whose name has
// the same hash.
func (f *fixture) withoutWork() {
	f.t.Helper()
	work := agentWork("current")
	planes.Change(f.t, f.Planes, work, func(w *workv1alpha1.Work) {
		w.Annotations[workv1alpha2.ResourceBindingNamespaceAnnotationKey] = "m"
	})
	if c := f.reconcile("current"); c == nil || c.Reason != v1alpha.ReasonAgentMissing {
		f.t.Errorf("with the Work of somebody else: %+v", c)
	}
	planes.Delete(f.t, f.Planes, work)
	if c := f.reconcile("current"); c == nil || c.Status != metav1.ConditionFalse || c.Reason != v1alpha.ReasonAgentMissing {
		f.t.Errorf("without its Work: %+v", c)
	}
	planes.Create(f.t, f.Planes, agentWork("current"))
	if c := f.reconcile("current"); c == nil || c.Status != metav1.ConditionTrue {
		f.t.Errorf("with its Work again: %+v", c)
	}
}

// withoutRights checks that no agent is ready without the Work of its ClusterRole, if Karmada sends that to its cell.
func (f *fixture) withoutRights() {
	f.t.Helper()
	role := &workv1alpha2.ClusterResourceBinding{ObjectMeta: metav1.ObjectMeta{
		Name: karmadanames.GenerateBindingName("ClusterRole", cells.AgentDeployment),
	}}
	role.Spec.Resource = workv1alpha2.ObjectReference{
		APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: cells.AgentDeployment,
	}
	role.Spec.Clusters = []workv1alpha2.TargetCluster{{Name: "other"}}
	planes.Create(f.t, f.Planes, role)
	if c := f.reconcile("current"); c == nil || c.Status != metav1.ConditionTrue {
		f.t.Errorf("with a ClusterRole for another cell: %+v", c)
	}
	planes.Change(f.t, f.Planes, role, func(b *workv1alpha2.ClusterResourceBinding) { b.Spec.Clusters[0].Name = "current" })
	if c := f.reconcile("current"); c == nil || c.Reason != v1alpha.ReasonAgentMissing || !strings.Contains(c.Message, "ClusterRole") {
		f.t.Errorf("without the Work of its ClusterRole: %+v", c)
	}
	planes.Create(f.t, f.Planes, &workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: planes.ExecutionSpace("current"), Name: karmadanames.GenerateWorkName("ClusterRole", cells.AgentDeployment, ""),
		Annotations: map[string]string{workv1alpha2.ClusterResourceBindingAnnotationKey: role.Name},
	}})
	if c := f.reconcile("current"); c == nil || c.Status != metav1.ConditionTrue {
		f.t.Errorf("with the Work of its ClusterRole: %+v", c)
	}
}

func TestReconcile(t *testing.T) {
	f := newFixture(t)
	if c := f.reconcile("current"); c != nil {
		t.Errorf("nothing is known of the agents, and the condition is %+v", c)
	}
	f.report()
	for name, cell := range reporting {
		c := f.reconcile(name)
		if c == nil || c.Reason != cell.reason || (c.Status == metav1.ConditionTrue) != (cell.reason == v1alpha.ReasonAgentReady) ||
			c.Message == "" {
			t.Errorf("%s: %+v, want %s", name, c, cell.reason)
		}
		want := 0.0
		if cell.reason == v1alpha.ReasonAgentReady {
			want = 1
		}
		if got := testutil.ToFloat64(f.r.Ready.WithLabelValues(name, cell.reason)); got != want {
			t.Errorf("%s: the metric is %v", name, got)
		}
	}
	f.rebuild()
	f.withoutWork()
	f.withoutRights()
	f.Hub.Writes()
	f.reconcile("current")
	if writes := f.Hub.Writes(); len(writes) > 0 {
		t.Errorf("a condition that is right was written: %+v", writes)
	}
	// A cluster that leaves its city, or Karmada, has no agent and no time series.
	planes.Change(t, f.Planes, cluster("current", "DFW"), func(c *clusterv1alpha1.Cluster) { c.Labels = nil })
	if c := f.reconcile("current"); c != nil {
		t.Errorf("a cluster without a city has %+v", c)
	}
	planes.Delete(t, f.Planes, cluster("dead", "DFW"))
	f.reconcile("dead")
	if got := testutil.CollectAndCount(f.r.Ready); got != len(reporting)-2 {
		t.Errorf("the metric has %d series", got)
	}
}

func cluster(name, city string) *clusterv1alpha1.Cluster {
	return &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"topology.datum.net/city-code": city}}}
}
