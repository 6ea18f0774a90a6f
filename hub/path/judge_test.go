// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package path

import (
	"slices"
	"strings"
	"testing"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/util"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const report7 = `{"generation":2,"observedGeneration":2,"resourceTemplateGeneration":7,"replicas":2,"readyReplicas":1,"indices":[{"existing":"0-1","ready":"0"}]}`

func raw(report string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(report)} }

// lackingFields is report7 of a cell that lacks fields of the deployment.
func lackingFields() *runtime.RawExtension {
	const condition = `"conditions":[{"type":"SpecReceived","status":"False","reason":"Test","lastTransitionTime":"2026-01-01T00:00:00Z"}]`
	return raw(strings.Replace(report7, "{", "{"+condition+",", 1))
}

// editWork replaces minReplicas in the cell's Work with a field.
func editWork(t *testing.T, w *Row, field string) {
	t.Helper()
	full := planes.WorkOf(t, w.Copied, "a")
	raw := string(full.Spec.Workload.Manifests[0].Raw)
	edited := strings.Replace(raw, `"minReplicas":0`, field, 1)
	if edited == raw {
		t.Fatalf("the manifest is %s", raw)
	}
	full.Spec.Workload.Manifests[0].Raw = []byte(edited)
	w.Works["a"].Spec = trimmed(t, full).Spec
}

// workAnew updates the Works to the present copy.
func workAnew(t *testing.T, w *Row) {
	t.Helper()
	for cell, work := range w.Works {
		work.Spec = trimmed(t, planes.WorkOf(t, w.Copied, cell)).Spec
	}
}

// schedule sets the condition in which Karmada's scheduler reports whether it has found cells.
func (w *Row) schedule(status metav1.ConditionStatus) {
	w.Binding.Status.Conditions = []metav1.Condition{{Type: workv1alpha2.Scheduled, Status: status, Message: "full"}}
}

// autoscale adds autoscalers to the cells, with the given minimum of Instances each.
func autoscale(t *testing.T, w *Row, least ...int32) {
	t.Helper()
	scale := &w.Copied.Spec.ScaleSettings
	scale.MaxReplicas = new(int32(8))
	scale.Metrics = []v1alpha.MetricSpec{
		{Resource: &v1alpha.ResourceMetricSource{Name: "cpu", Target: v1alpha.MetricTarget{AverageUtilization: new(int32(50))}}},
	}
	for i := range least {
		w.Copied.Spec.Assignment.Cells[i].MinReplicas = &least[i]
	}
	workAnew(t, w)
}

// surge asks for an additional Instance, and assigns so many more to the first cell.
func surge(t *testing.T, w *Row, more int) {
	t.Helper()
	w.Copied.Spec.ScaleSettings.MinReplicas = *w.Copied.Spec.Replicas + 1
	first := &w.Copied.Spec.Assignment.Cells[0]
	indices := naming.OfRanges(first.Indices)
	for range more {
		indices = append(indices, 9)
	}
	first.Indices, first.MinReplicas = naming.Ranges(indices), new(int32(len(indices)))
	workAnew(t, w)
}

// newWay is a way to two cells that is in order, trimmed as the cache has it.
func newRow(t *testing.T) *Row {
	t.Helper()
	copied := &v1alpha.WorkloadDeployment{}
	copied.Namespace, copied.Name, copied.UID, copied.Generation = hubNamespace, "web", "copy", 7
	copied.Labels = map[string]string{v1alpha.LabelWorkloadUID: "workload", v1alpha.LabelProjectNamespace: "default"}
	copied.Annotations = map[string]string{v1alpha.AnnotationProjectName: "north"}
	copied.Spec.Assignment = &v1alpha.WorkloadDeploymentAssignment{Cells: []v1alpha.CellAssignment{
		{Name: "a", Indices: naming.Ranges([]int{0, 1})}, {Name: "b", Indices: naming.Ranges([]int{2, 3})},
	}}
	copied.Spec.Replicas = new(int32(4))
	w := &Row{Subject: Subject{Copied: copied}, Works: map[string]*workv1alpha1.Work{}}
	binding := planes.BindingOf(copied)
	binding.Spec.Placement = &policyv1alpha1.Placement{ReplicaScheduling: &policyv1alpha1.ReplicaSchedulingStrategy{
		ReplicaSchedulingType: policyv1alpha1.ReplicaSchedulingTypeDivided,
	}}
	for _, cell := range []string{"a", "b"} {
		binding.Spec.Clusters = append(binding.Spec.Clusters, workv1alpha2.TargetCluster{Name: cell, Replicas: 2})
		work := planes.WorkOf(t, copied, cell)
		work.Status.Conditions = []metav1.Condition{{Type: workv1alpha1.WorkApplied, Status: metav1.ConditionTrue}}
		work.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{Status: raw(report7)}}
		w.Works[cell] = trimmed(t, work)
		w.Cells = append(w.Cells, cells.Cell{Name: cell, City: "dfw", Ready: true, Since: began})
	}
	w.Cells = append(w.Cells, cells.Cell{Name: "c", City: "dfw", Ready: true, Since: began})
	kept, err := TrimBinding(binding)
	if err != nil {
		t.Fatal(err)
	}
	w.Binding, _ = kept.(*workv1alpha2.ResourceBinding)
	return w
}

func trimmed(t testing.TB, work *workv1alpha1.Work) *workv1alpha1.Work {
	t.Helper()
	kept, err := TrimWork(work)
	if err != nil {
		t.Fatal(err)
	}
	result, ok := kept.(*workv1alpha1.Work)
	if !ok {
		t.Fatalf("got %T", kept)
	}
	return result
}

func TestJudge(t *testing.T) {
	at := metav1.NewTime(began.Add(time.Minute))
	later := metav1.NewTime(began.Add(-time.Minute))
	tests := map[string]struct {
		change func(*testing.T, *Row)
		// want are the faults with their cells and repairs; wantSince and wantSays are of the first fault.
		want      []string
		wantSince time.Time
		wantSays  string
	}{
		"all is well": {change: func(*testing.T, *Row) {}},
		"nobody is at work": {
			change: func(_ *testing.T, w *Row) {
				w.Binding = nil
				w.Karmada = Karmada{Down: true, Since: began, Message: "no Lease"}
			},
			want: []string{"KarmadaNotRunning//0"}, wantSince: began, wantSays: "no Lease",
		},
		"no binding": {
			change: func(_ *testing.T, w *Row) { w.Binding = nil }, want: []string{"BindingMissing//1"},
		},
		"no binding, and a lost cell": {
			change: func(_ *testing.T, w *Row) { w.Binding, w.Cells[1].Ready = nil, false }, want: []string{"BindingMissing//1", "CellNotReady/b/0"},
		},
		"a binding of an earlier copy": {
			change: func(_ *testing.T, w *Row) { w.Binding.OwnerReferences[0].UID = "earlier" }, want: []string{"BindingOwnerGone//3"},
		},
		"a binding for an earlier copy": {
			change: func(_ *testing.T, w *Row) { w.Binding.Spec.Resource.UID = "earlier" }, want: []string{"BindingOwnerGone//3"},
		},
		"a binding of an earlier Workload": {
			change: func(_ *testing.T, w *Row) {
				w.Binding.OwnerReferences[0].UID = "earlier"
				w.Copied.Labels[v1alpha.LabelWorkloadUID] = "another"
			}, want: []string{"BindingOwnerGone//4"}, wantSays: "the add-on deletes",
		},
		"a binding that is being deleted": {
			change: func(_ *testing.T, w *Row) { w.Binding.DeletionTimestamp = &at }, want: []string{"BindingDeleting//2"}, wantSince: at.Time,
		},
		"a binding that was not scheduled": {
			change: func(_ *testing.T, w *Row) { w.Binding.Spec.Clusters, w.Works = nil, nil }, want: []string{"NotScheduled//2"},
		},
		"a binding that was scheduled to no cell": {
			change: func(_ *testing.T, w *Row) {
				w.Binding.Spec.Clusters, w.Works = nil, nil
				w.schedule(metav1.ConditionTrue)
			}, want: []string{"NotScheduled//2"},
		},
		"a binding that nothing is to run for": {
			change: func(_ *testing.T, w *Row) {
				w.Copied.Spec.Replicas = new(int32(0))
				w.Binding.Spec.Clusters, w.Works = nil, nil
				w.schedule(metav1.ConditionTrue)
			},
		},
		"a binding that Karmada finds no cell for": {
			change: func(_ *testing.T, w *Row) {
				w.Binding.Spec.Clusters, w.Works = nil, nil
				w.schedule(metav1.ConditionFalse)
			},
		},
		"a lost cell hides what follows": {
			change: func(_ *testing.T, w *Row) { w.Cells[0].Ready, w.Works["a"].DeletionTimestamp = false, &at },
			want:   []string{"CellNotReady/a/0"}, wantSince: began,
		},
		"a lost cell that was forgotten": {
			change: func(_ *testing.T, w *Row) { w.Cells[0].Ready, w.Cells[0].Gone = false, true },
		},
		"a Cluster that is gone": {
			change: func(_ *testing.T, w *Row) { w.Cells = w.Cells[1:] }, want: []string{"CellNotReady/a/0"}, wantSays: "no longer has Cluster a",
		},
		"an agent that is down": {
			change: func(_ *testing.T, w *Row) {
				w.Cells[0].Agent = cells.Agent{Down: true, Message: "no replica"}
			},
			want: []string{"AgentNotReady/a/0"}, wantSays: "no replica",
		},
		"no Work": {
			change: func(_ *testing.T, w *Row) { delete(w.Works, "b") }, want: []string{"WorkMissing/b/2"},
		},
		"a Work that is being deleted": {
			change: func(_ *testing.T, w *Row) { w.Works["b"].DeletionTimestamp = &at }, want: []string{"WorkDeleting/b/5"}, wantSince: at.Time,
		},
		"a Work that was deleted before its cell came back": {
			change: func(_ *testing.T, w *Row) { w.Works["b"].DeletionTimestamp = &later }, want: []string{"WorkDeleting/b/5"}, wantSince: began,
		},
		"Works of an earlier generation": {
			change: func(_ *testing.T, w *Row) { w.Copied.Generation = 8 },
			want:   []string{"WorkOutdated/a/2", "WorkOutdated/b/2"}, wantSays: "generation 8",
		},
		"a Work that was edited": {
			change: func(t *testing.T, w *Row) { editWork(t, w, `"minReplicas":3`) }, want: []string{"WorkEdited/a/2"}, wantSays: "edited",
		},
		"a Work with the replicas of its cell": {
			change: func(t *testing.T, w *Row) { editWork(t, w, `"minReplicas":0},"replicas":9,"unused":{`) },
		},
		"a Work that an operator's policy overrides": {
			change: func(t *testing.T, w *Row) {
				editWork(t, w, `"minReplicas":3`)
				w.Works["a"].Annotations = map[string]string{util.AppliedOverrides: `[{"policyName":"theirs","overriders":{}}]`}
			},
		},
		"a Work that an operator's policy for all namespaces overrides": {
			change: func(t *testing.T, w *Row) {
				editWork(t, w, `"minReplicas":3`)
				w.Works["a"].Annotations = map[string]string{util.AppliedClusterOverrides: `[{"policyName":"theirs","overriders":{}}]`}
			},
		},
		"a Work that no policy overrides any more": {
			change: func(t *testing.T, w *Row) {
				editWork(t, w, `"minReplicas":3`)
				w.Works["a"].Annotations = map[string]string{util.AppliedClusterOverrides: "null", util.AppliedOverrides: "[]"}
			}, want: []string{"WorkEdited/a/2"},
		},
		"a cell that refuses what a policy overrides": {
			change: func(_ *testing.T, w *Row) {
				w.Works["a"].Annotations = map[string]string{util.AppliedClusterOverrides: `[{"policyName":"theirs"}]`}
				w.Works["a"].Status.ManifestStatuses[0].Status = lackingFields()
			}, want: []string{"WorkNotApplied/a/0"}, wantSays: "override policy theirs",
		},
		"Works of an earlier copy": {
			change: func(_ *testing.T, w *Row) {
				w.Copied.UID, w.Binding.OwnerReferences[0].UID, w.Binding.Spec.Resource.UID = "new", "new", "new"
			},
			want: []string{"WorkOutdated/a/2", "WorkOutdated/b/2"},
		},
		"a Work that was not tried": {
			change: func(_ *testing.T, w *Row) { w.Works["a"].Status.Conditions = nil }, want: []string{"WorkNotApplied/a/5"},
		},
		"a Work that the cell refuses": {
			change: func(_ *testing.T, w *Row) {
				w.Works["a"].Status.Conditions[0] = metav1.Condition{
					Type: workv1alpha1.WorkApplied, Status: metav1.ConditionFalse, Message: "denied", LastTransitionTime: at,
				}
			}, want: []string{"WorkNotApplied/a/5"}, wantSince: at.Time, wantSays: "denied",
		},
		"no report": {
			change: func(_ *testing.T, w *Row) { w.Works["a"].Status.ManifestStatuses = nil }, want: []string{"ReportMissing/a/1"},
		},
		"a report on an earlier generation": {
			change: func(_ *testing.T, w *Row) {
				w.Works["a"].Status.ManifestStatuses[0].Status = raw(strings.Replace(report7, `Generation":7`, `Generation":6`, 1))
			}, want: []string{"ReportOutdated/a/5"}, wantSays: "generation 6",
		},
		"an agent that has not acted": {
			change: func(_ *testing.T, w *Row) {
				w.Works["a"].Status.ManifestStatuses[0].Status = raw(strings.Replace(report7, `"generation":2`, `"generation":3`, 1))
			}, want: []string{"ReportOutdated/a/0"},
		},
		"a report of a cell that lacks fields": {
			change: func(_ *testing.T, w *Row) {
				w.Works["a"].Status.ManifestStatuses[0].Status = lackingFields()
			}, want: []string{"WorkNotApplied/a/5"}, wantSays: "lacks fields",
		},
		"a division of another number": {
			change: func(_ *testing.T, w *Row) { w.Binding.Spec.Clusters[1].Replicas = 1 },
			want:   []string{"DivisionOutdated//1"}, wantSays: "3 of 4 Instances",
		},
		"another division that Karmada refuses": {
			change: func(_ *testing.T, w *Row) {
				w.Binding.Spec.Clusters[1].Replicas = 1
				w.schedule(metav1.ConditionFalse)
			},
		},
		"a division that is not assigned": {
			change: func(t *testing.T, w *Row) {
				w.Copied.Spec.Assignment.Cells = w.Copied.Spec.Assignment.Cells[:1]
				workAnew(t, w)
			}, want: []string{"AssignmentOutdated//1"},
		},
		"indices that a cell has yet to give up": {
			change: func(t *testing.T, w *Row) {
				w.Copied.Spec.Assignment.Cells[0].Releasing = naming.Ranges([]int{7})
				workAnew(t, w)
			},
		},
		"an additional Instance of a rollout": {
			change: func(t *testing.T, w *Row) { surge(t, w, 1) },
		},
		"an additional Instance of a rollout that is not assigned": {
			change: func(t *testing.T, w *Row) { surge(t, w, 0) }, want: []string{"AssignmentOutdated//1"},
		},
		"a lost cell that has Instances to release": {
			change: func(t *testing.T, w *Row) {
				w.Copied.Spec.Assignment.Cells = append(w.Copied.Spec.Assignment.Cells,
					v1alpha.CellAssignment{Name: "c", Releasing: naming.Ranges([]int{7}), LeavingSince: &metav1.MicroTime{Time: at.Time}})
				w.Cells[2].Ready = false
				workAnew(t, w)
			}, want: []string{"CellNotReady/c/0"}, wantSince: began,
		},
		"a division among autoscalers": {
			change: func(t *testing.T, w *Row) { autoscale(t, w, 2, 2) },
		},
		"a division among autoscalers that is not assigned": {
			change: func(t *testing.T, w *Row) { autoscale(t, w, 2, 1) }, want: []string{"AssignmentOutdated//1"},
		},
		"a Work too many": {
			change: func(t *testing.T, w *Row) { t.Helper(); w.Works["c"] = trimmed(t, planes.WorkOf(t, w.Copied, "c")) },
			want:   []string{"WorkOrphaned/c/2"},
		},
		"a Work too many in a lost cell": {
			change: func(t *testing.T, w *Row) {
				t.Helper()
				w.Works["c"], w.Cells[2].Ready = trimmed(t, planes.WorkOf(t, w.Copied, "c")), false
			},
		},
		"a Work that is evicted with grace": {
			change: func(t *testing.T, w *Row) {
				t.Helper()
				w.Works["c"] = trimmed(t, planes.WorkOf(t, w.Copied, "c"))
				w.Binding.Spec.GracefulEvictionTasks = []workv1alpha2.GracefulEvictionTask{{FromCluster: "c"}}
			},
		},
		"a Work too many whose deletion was forgotten": {
			change: func(t *testing.T, w *Row) {
				t.Helper()
				w.Works["c"] = trimmed(t, planes.WorkOf(t, w.Copied, "c"))
				w.Works["c"].DeletionTimestamp = &at
			}, want: []string{"WorkDeleting/c/5"}, wantSince: at.Time,
		},
		"nothing but a binding and Works": {
			change: func(_ *testing.T, w *Row) { w.Copied = nil }, want: []string{"CopyGone//4"},
		},
		"nothing but Works": {
			change: func(_ *testing.T, w *Row) { w.Copied, w.Binding = nil, nil }, want: []string{"CopyGone/a/6", "CopyGone/b/6"},
		},
		"nothing but Works, nobody at work": {
			change: func(_ *testing.T, w *Row) { w.Copied, w.Binding, w.Karmada.Down = nil, nil, true },
		},
		"deletions that were forgotten": {
			change: func(_ *testing.T, w *Row) {
				w.Copied, w.Binding.DeletionTimestamp, w.Works["a"].DeletionTimestamp, w.Works["b"].DeletionTimestamp = nil, &at, &at, &at
				w.Cells[1].Ready = false
			}, want: []string{"BindingDeleting//2", "WorkDeleting/a/5"}, wantSince: at.Time,
		},
		"a copy that is being deleted": {
			change: func(_ *testing.T, w *Row) { w.Copied.DeletionTimestamp, w.Binding = &at, nil },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newRow(t)
			test.change(t, w)
			findings := Judge(w)
			var got []string
			for i := range findings {
				got = append(got, strings.Join([]string{string(findings[i].Fault), findings[i].Cell, string(rune('0' + findings[i].Repair))}, "/"))
				if findings[i].Message == "" || (findings[i].Repair == NoRepair) != (findings[i].Object == nil) {
					t.Errorf("%+v has no message or no object", findings[i])
				}
			}
			if !slices.Equal(got, test.want) {
				t.Fatalf("got %v, want %v", got, test.want)
			}
			if len(got) > 0 && (!findings[0].Since.Equal(test.wantSince) || !strings.Contains(findings[0].Message, test.wantSays)) {
				t.Errorf("got %+v", findings[0])
			}
		})
	}
}

func TestReasons(t *testing.T) {
	for fault, want := range map[Fault]string{
		CellNotReady: v1alpha.ReasonCellNotReady, BindingOwnerGone: v1alpha.ReasonNotBound, WorkDeleting: v1alpha.ReasonNotApplied,
		WorkOrphaned: "", CopyGone: "",
	} {
		if got := fault.Reason(); got != want {
			t.Errorf("%s is shown as %q, want %q", fault, got, want)
		}
	}
}

// hubNamespace is the namespace of the copies.
const hubNamespace = "ns-83b43b77-d31f-4063-834c-d75e010dfdf2"
