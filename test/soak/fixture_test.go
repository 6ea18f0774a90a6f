// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"encoding/json"
	"fmt"
	"testing"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

const hubNamespace = "ns-1"

// settledView returns a view without disagreements: Workload "web" with two Instances in DFW, which has one cell, and
// two in ORD, which has two.
type settledView struct {
	*View
	t      *testing.T
	wanted map[string]*Wanted
	hash   string
}

func settled(t *testing.T) *settledView {
	t.Helper()
	wanted := &Wanted{Image: "image:1", Placements: []Placement{{Name: "p0", Cities: []string{"DFW", "ORD"}, Replicas: 2}}}
	v := &settledView{t: t, wanted: map[string]*Wanted{"web": wanted, "deleted": nil}, View: &View{
		Project: "east", Cities: map[string][]string{"DFW": {"dfw"}, "ORD": {"ord-1", "ord-2"}},
		Namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: hubNamespace}},
		Works:     map[string][]Work{}, Cells: map[string]*CellView{},
	}}
	w := wanted.Workload("default", "web")
	w.UID, w.Generation = "w", 3
	w.Status = v1alpha.WorkloadStatus{
		ObservedGeneration: 3, Deployments: 2, ReplicaCounts: counts(4), Conditions: []metav1.Condition{isTrue(v1alpha.ConditionAvailable)},
	}
	v.Workloads = []v1alpha.Workload{*w}
	var err error
	if v.hash, err = templates.Hash(&w.Spec.Template); err != nil {
		t.Fatal(err)
	}
	for _, cell := range []string{"dfw", "ord-1", "ord-2"} {
		v.Cells[cell] = &CellView{Namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: hubNamespace}}}
		v.addWork(cell, &corev1.Namespace{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: hubNamespace},
		})
	}
	v.addDeployment("web-p0-dfw", "DFW", map[string][]int{"dfw": {0, 1}})
	v.addDeployment("web-p0-ord", "ORD", map[string][]int{"ord-1": {1}, "ord-2": {0}})
	return v
}

func isTrue(condition string) metav1.Condition {
	return metav1.Condition{Type: condition, Status: metav1.ConditionTrue, Reason: "Test"}
}

// addWork adds an applied Work.
func (v *settledView) addWork(cell string, object any) {
	raw, err := json.Marshal(object)
	if err != nil {
		v.t.Fatal(err)
	}
	work := workv1alpha1.Work{ObjectMeta: metav1.ObjectMeta{Namespace: "karmada-es-" + cell, Name: fmt.Sprintf("work-%d", len(v.Works[cell]))}}
	work.Spec.Workload.Manifests = []workv1alpha1.Manifest{{RawExtension: runtime.RawExtension{Raw: raw}}}
	work.Status.Conditions = []metav1.Condition{isTrue(workv1alpha1.WorkApplied)}
	read, err := readWork(&work, hubNamespace)
	if err != nil || read == nil {
		v.t.Fatalf("%v, %v", read, err)
	}
	v.Works[cell] = append(v.Works[cell], *read)
}

// addDeployment adds a deployment to all planes, with the indices of its Instances by cell.
func (v *settledView) addDeployment(name, city string, indices map[string][]int) {
	d := v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("project-" + name), Generation: 5}}
	d.Spec = v1alpha.WorkloadDeploymentSpec{
		WorkloadRef: v1alpha.WorkloadReference{Name: "web", UID: "w"}, CityCode: city,
		Template: v.Workloads[0].Spec.Template, ScaleSettings: v.Workloads[0].Spec.Placements[0].ScaleSettings,
	}
	d.Status = v1alpha.WorkloadDeploymentStatus{
		ObservedGeneration: 5, ReplicaCounts: counts(2), Conditions: []metav1.Condition{isTrue(v1alpha.ConditionStatusCurrent)},
	}
	v.Deployments = append(v.Deployments, d)

	onHub := d.DeepCopy()
	onHub.UID, onHub.Status = types.UID("hub-"+name), v1alpha.WorkloadDeploymentStatus{}
	onHub.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindWorkloadDeployment}
	onHub.Namespace, onHub.Labels = hubNamespace, map[string]string{v1alpha.LabelDeploymentUID: string(d.UID)}
	onHub.Annotations = map[string]string{v1alpha.AnnotationProjectGeneration: "5"}
	v.Copies = append(v.Copies, *onHub)
	label := naming.CityLabel(city)
	v.Policies = append(v.Policies, policyv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{
		Name: "city-" + label, Labels: map[string]string{v1alpha.LabelTopologyCity: label},
	}})
	binding := workv1alpha2.ResourceBinding{ObjectMeta: metav1.ObjectMeta{
		Name: karmadanames.GenerateBindingName(v1alpha.KindWorkloadDeployment, name), OwnerReferences: owner(onHub.UID),
	}}
	binding.Spec.Resource = workv1alpha2.ObjectReference{Kind: v1alpha.KindWorkloadDeployment, UID: onHub.UID}
	for cell, used := range indices {
		binding.Spec.Clusters = append(binding.Spec.Clusters, workv1alpha2.TargetCluster{Name: cell, Replicas: int32(len(used))})
		v.addWork(cell, onHub)
		v.addToCell(cell, onHub, used)
	}
	v.Bindings = append(v.Bindings, binding)
}

func owner(uid types.UID) []metav1.OwnerReference { return []metav1.OwnerReference{{UID: uid}} }

// addToCell adds a deployment, its Instances and their Pods to a cell, and the Instances to the project.
func (v *settledView) addToCell(cell string, onHub *v1alpha.WorkloadDeployment, indices []int) {
	d, c := onHub.DeepCopy(), v.Cells[cell]
	d.UID, d.Generation, d.Status.ObservedGeneration = types.UID(cell+"-"+d.Name), 2, 2
	c.Deployments = append(c.Deployments, *d)
	for _, index := range indices {
		i := v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Name: naming.InstanceName(d.Name, index), OwnerReferences: owner(d.UID)}}
		i.UID = types.UID(cell + "-" + i.Name)
		i.Spec.Controller = &v1alpha.InstanceController{TemplateHash: v.hash}
		i.Status.Controller = &v1alpha.InstanceControllerStatus{ObservedTemplateHash: v.hash}
		i.Status.Conditions = []metav1.Condition{isTrue(v1alpha.ConditionReady)}
		c.Instances = append(c.Instances, i)
		c.Pods = append(c.Pods, corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: i.Name, OwnerReferences: owner(i.UID)},
			Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		})
		projected := i.DeepCopy()
		projected.UID, projected.OwnerReferences = types.UID("project-"+i.Name), owner(types.UID("project-"+d.Name))
		v.Instances = append(v.Instances, *projected)
	}
}

// work returns the Work of a cell that carries an object.
func (v *settledView) work(cell, carries string) *Work {
	for i := range v.Works[cell] {
		if v.Works[cell][i].Carries == carries {
			return &v.Works[cell][i]
		}
	}
	v.t.Fatalf("no Work of cell %s carries %s", cell, carries)
	return nil
}
