// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util/names"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func (f *fixture) lease(holder string, renewed time.Time) {
	f.Helper()
	seconds, at := int32(15), metav1.NewMicroTime(renewed)
	f.create(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: v1alpha.LeaseReplicaPrefix + holder},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &at},
	})
}

// bind binds a role in the namespace of the test, which becomes a project without Milo. A Role is created.
func (f *fixture) bind(kind, role string, rules []rbacv1.PolicyRule) {
	f.Helper()
	project := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+v1alpha.LabelNamespaceProject+`":"true"}}}`))
	if err := f.Client.Patch(f.Context(), f.Namespace.DeepCopy(), project); err != nil {
		f.Fatal(err)
	}
	if kind == "Role" {
		f.create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: role}, Rules: rules})
	}
	f.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
	})
}

func TestStatus(t *testing.T) {
	f := newFixture(t)
	f.lease("a", now)
	f.lease("b", now.Add(-time.Minute))
	ours := naming.ProjectKey(string(planes.ProjectName)).Shard(2)
	f.create(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: f.Namespace.Name, Name: v1alpha.LeaseShards,
		Annotations: map[string]string{v1alpha.AnnotationShards: fmt.Sprintf(`{"a":[%d],"b":[%d]}`, ours, 1-ours)},
	}})

	_, d := f.scene()
	onHub := f.copied(d)
	cell := "cell-of-" + f.Namespace.Name
	cluster := &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: cell, Labels: map[string]string{v1alpha.LabelTopologyCity: "dfw"}}}
	f.create(cluster)
	cluster.Status.Conditions = []metav1.Condition{
		is(clusterv1alpha1.ClusterConditionReady, metav1.ConditionTrue, "ClusterReady", ""),
		is(v1alpha.ConditionComputeAgentReady, metav1.ConditionFalse, v1alpha.ReasonAgentNotReady, "no replica is available"),
	}
	f.update(cluster)
	binding := &workv1alpha2.ResourceBinding{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.HubNamespace, Name: names.GenerateBindingName(v1alpha.KindWorkloadDeployment, d.Name),
			Annotations: map[string]string{v1alpha.AnnotationRepairedAt: now.Add(-time.Hour).Format(time.RFC3339)},
		},
		Spec: workv1alpha2.ResourceBindingSpec{
			Clusters: []workv1alpha2.TargetCluster{{Name: cell}},
			Resource: workv1alpha2.ObjectReference{
				APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindWorkloadDeployment, Namespace: f.HubNamespace, Name: onHub.Name,
			},
		},
	}
	f.create(binding)

	status := func(code int, parts ...string) {
		t.Helper()
		f.want(f.karmadactl("status", "--system-namespace", f.Namespace.Name), code, parts...)
	}
	status(exitNotReady, "a True 0s 1 1", "b False 60s 1 0", cell+" DFW True AgentNotReady 1 1",
		cell+": AgentNotReady: no replica is available", "-> See Deployment karmada-compute-cell",
		"ResourceBinding "+f.HubNamespace+" "+binding.Name+" 60m")

	binding.Status.AggregatedStatus = []workv1alpha2.AggregatedStatusItem{{
		ClusterName: cell, Status: &runtime.RawExtension{Raw: []byte(`{"resourceTemplateGeneration":1}`)},
	}}
	f.update(binding)
	cluster.Status.Conditions[1] = is(v1alpha.ConditionComputeAgentReady, metav1.ConditionTrue, v1alpha.ReasonAgentReady, "")
	f.update(cluster)
	status(exitNotReady, cell+" DFW True AgentReady 1 0", "b: ReplicaNotRunning: the replica has not renewed its Lease for 60s",
		"-> Check the Pods")
	late := &coordinationv1.Lease{}
	planes.Get(t, f.Planes, f.Namespace.Name, v1alpha.LeaseReplicaPrefix+"b", late)
	late.Spec.RenewTime = &metav1.MicroTime{Time: now}
	if err := f.Client.Update(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	status(0, cell+" DFW True AgentReady 1 0")
	f.want(f.karmadactl("status", "--system-namespace", f.Namespace.Name, "-o", "jsonpath={.replicas[0].projects}"), 0,
		string(planes.ProjectName))

	f.bind("ClusterRole", "edit", nil)
	f.bind("ClusterRole", "karmada-compute-consumer", nil)
	f.bind("Role", "reader", []rbacv1.PolicyRule{{APIGroups: []string{"work.karmada.io"}, Resources: []string{"works"}, Verbs: read}})
	f.bind("Role", "writer", []rbacv1.PolicyRule{
		{APIGroups: []string{"policy.karmada.io"}, Resources: []string{"*"}, Verbs: []string{"get", "create"}},
	})
	status(0, "warning: RoleBindings in projects give rights to Karmada's kinds: ", "; bind ClusterRole karmada-compute-consumer instead")
	f.want(f.karmadactl("status", "--system-namespace", f.Namespace.Name, "-o", "jsonpath={.broadBindings}"), 0,
		fmt.Sprintf(`["%[1]s/edit (edit)","%[1]s/writer (writer)"]`, f.Namespace.Name))

	// Here the hub has the originals, too, as without Milo.
	hub, _, err := view.ReadHub(t.Context(), f.Client, f.Namespace.Name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range hub.Deployments {
		if counted := &hub.Deployments[i]; counted.Namespace == d.Namespace {
			t.Errorf("original %s is counted beside its copy", counted.Name)
		}
	}

	f.want(f.call(call{config: f.user(), operator: true}, "status"), 1, "forbidden")
	some := f.user(may(read, "workloaddeployments"))
	f.want(f.call(call{config: some, operator: true}, "status"), 1, "forbidden") // its rights are in one namespace
}

// TestStatusOfCellsThatKarmadaEmpties: a NoExecute taint, and deployments that leave a cell because of one, are named
// with the action. A label that is no city is a fault.
func TestStatusOfCellsThatKarmadaEmpties(t *testing.T) {
	f := newFixture(t)
	f.lease("a", now)
	_, d := f.scene()
	onHub := f.copied(d)
	cell, unnamed := "cell-of-"+f.Namespace.Name, "unnamed-of-"+f.Namespace.Name
	for name, city := range map[string]string{cell: "dfw", unnamed: ""} {
		cluster := &clusterv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1alpha.LabelTopologyCity: city}},
			Spec: clusterv1alpha1.ClusterSpec{Taints: []corev1.Taint{
				{Key: "maintenance", Value: "disk", Effect: corev1.TaintEffectNoExecute}, {Key: "cordoned", Effect: corev1.TaintEffectNoSchedule},
			}},
		}
		f.create(cluster)
		cluster.Status.Conditions = []metav1.Condition{is(clusterv1alpha1.ClusterConditionReady, metav1.ConditionTrue, "ClusterReady", "")}
		if city == "" {
			cluster.Status.Conditions = append(cluster.Status.Conditions,
				is(v1alpha.ConditionComputeCityConfirmed, metav1.ConditionFalse, v1alpha.ReasonCityInvalid, `label "" is no city`))
		}
		f.update(cluster)
	}
	began := metav1.NewTime(now.Add(-3 * time.Minute))
	f.create(&workv1alpha2.ResourceBinding{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.HubNamespace, Name: names.GenerateBindingName(v1alpha.KindWorkloadDeployment, d.Name),
		},
		Spec: workv1alpha2.ResourceBindingSpec{
			GracefulEvictionTasks: []workv1alpha2.GracefulEvictionTask{{
				FromCluster: cell, Producer: "TaintManager", Reason: "TaintUntolerated", CreationTimestamp: &began,
			}},
			Resource: workv1alpha2.ObjectReference{
				APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindWorkloadDeployment, Namespace: f.HubNamespace, Name: onHub.Name,
			},
		},
	})
	f.want(f.karmadactl("status", "--system-namespace", f.Namespace.Name), exitNotReady,
		"warning: cell "+cell+" has the NoExecute taint maintenance=disk", "Karmada removes its deployments without a disruption budget",
		"-> remove it, or use NoSchedule",
		"warning: 1 deployment leaves cell "+cell+" since 3m", "changes have no effect there until Karmada has ended the eviction",
		unnamed+": CityInvalid: ", "-> Give the Cluster a label")
	f.want(f.karmadactl("status", "--system-namespace", f.Namespace.Name, "-o", "jsonpath={.evictions[0]}"), exitNotReady,
		`"noExecute":["maintenance=disk"]`, `"leaving":1`)
}

// TestStatusOfNames: DNSEndpoints that external-dns does not read are a fault with its action, once some DNSEndpoint was read.
func TestStatusOfNames(t *testing.T) {
	f := newFixture(t)
	later := time.Now().Add(time.Hour).Truncate(time.Second)
	f.lease("a", later)
	written := func(name string, read int64) {
		t.Helper()
		record := &unstructured.Unstructured{Object: map[string]any{}}
		record.SetGroupVersionKind(reasons.RecordKind)
		record.SetNamespace(f.Namespace.Name)
		record.SetName(name)
		record.SetLabels(map[string]string{v1alpha.LabelWorkloadUID: "1"})
		err := f.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(record), client.FieldOwner(reasons.RecordsManager))
		if err == nil && read > 0 {
			record.Object["status"] = map[string]any{"observedGeneration": read}
			err = f.Client.Status().Update(t.Context(), record)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	status := func(isWell bool, parts ...string) {
		t.Helper()
		if got := f.call(call{config: f.Config(), operator: true, now: later}, "status", "--system-namespace", f.Namespace.Name); !isWell {
			f.want(got, exitNotReady, parts...)
		}
		// Clusters of other tests have faults of their own.
		hub, _, err := view.ReadHub(t.Context(), f.Client, f.Namespace.Name)
		if err != nil {
			t.Fatal(err)
		}
		hub.Clusters, hub.Deployments = nil, nil
		if got := view.Summarize(hub, later).Well(); got != isWell {
			t.Errorf("well: %t, want %t", got, isWell)
		}
	}
	written("web.example.com", 0)
	status(true)
	written("read.example.com", 1)
	status(false, "names: RecordMissing: external-dns has not read 1 of 2 DNSEndpoints, the first since", "web.example.com",
		"-> Start external-dns")
}
