// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

type applyConfiguration = runtime.ApplyConfiguration

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

// versions are the resource versions of the objects of a kind that the cache selects, by name and UID.
func (f *fixture) versions(ctx context.Context, reader client.Reader, list client.ObjectList) map[string]string {
	f.t.Helper()
	if err := reader.List(ctx, list, client.InNamespace(f.namespace)); err != nil {
		f.t.Fatalf("list %T: %v", list, err)
	}
	versions := map[string]string{}
	err := meta.EachListItem(list, func(item runtime.Object) error {
		object, err := meta.Accessor(item)
		if err != nil {
			return err
		}
		if selected(item, object) {
			versions[object.GetName()+" "+string(object.GetUID())] = object.GetResourceVersion()
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return versions
}

func selected(item runtime.Object, object metav1.Object) bool {
	switch item.(type) {
	case *corev1.Pod:
		return object.GetLabels()[v1alpha.LabelDeploymentName] != ""
	case *networkingv1.NetworkPolicy, *corev1.Service:
		return object.GetLabels()[v1alpha.LabelManagedBy] == v1alpha.ManagedByCell
	case *metav1.PartialObjectMetadata:
		return object.GetLabels()[v1alpha.LabelProject] != ""
	}
	return true
}

// template runs one container, and needs nothing.
func template() v1alpha.InstanceTemplateSpec {
	return v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{
		Runtime: v1alpha.InstanceRuntimeSpec{
			Resources: v1alpha.InstanceRuntimeResources{InstanceType: "datumcloud/d1-standard-2"},
			Sandbox:   &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "app", Image: "example.com/app"}}},
		},
		NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "default"}}},
	}}
}

// deployment creates WorkloadDeployment web.
func (f *fixture) deployment(replicas int32, changes ...func(*v1alpha.WorkloadDeployment)) *v1alpha.WorkloadDeployment {
	f.t.Helper()
	deployment := &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "web", Labels: map[string]string{v1alpha.LabelHub: hubOfCopies}},
		Spec: v1alpha.WorkloadDeploymentSpec{
			WorkloadRef: v1alpha.WorkloadReference{Name: "web", UID: "workload-uid"}, PlacementName: "main", CityCode: "DFW",
			Template:      template(),
			ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: replicas},
		},
	}
	for _, change := range changes {
		change(deployment)
	}
	f.create(deployment)
	return deployment
}

func parallel(d *v1alpha.WorkloadDeployment) {
	d.Spec.ScaleSettings.InstanceManagementPolicy = v1alpha.Parallel
}

// needing lets the template need a ConfigMap.
func needing(name string) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Template.Spec.Volumes = []v1alpha.InstanceVolume{{
			Name: "settings", InstanceVolumeSource: v1alpha.InstanceVolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
			},
		}}
	}
}

// granted lets the quota of the deployment be granted to the Instances at these indices alone.
func granted(indices ...int) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Quota = &v1alpha.WorkloadDeploymentQuota{Granted: naming.Ranges(indices)}
	}
}

// network reports whether the networks of the template are in the city.
func network(ready bool) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Networks = &v1alpha.WorkloadDeploymentNetworks{Ready: ready, Message: "network default is not there"}
	}
}

// instance creates an Instance of deployment.
func (f *fixture) instance(deployment *v1alpha.WorkloadDeployment, index int, changes ...func(*v1alpha.Instance)) *v1alpha.Instance {
	f.t.Helper()
	hash, err := templates.Hash(&deployment.Spec.Template)
	if err != nil {
		f.t.Fatal(err)
	}
	instance := &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.namespace, Name: naming.InstanceName(deployment.Name, index), Labels: naming.InstanceLabels(deployment, index),
			OwnerReferences: []metav1.OwnerReference{deployment.ControllerReference()},
		},
		Spec: *deployment.Spec.Template.Spec.DeepCopy(),
	}
	instance.Spec.Controller = &v1alpha.InstanceController{TemplateHash: hash}
	for _, change := range changes {
		change(instance)
	}
	f.create(instance)
	return instance
}

func gated(names ...string) func(*v1alpha.Instance) {
	return func(i *v1alpha.Instance) {
		for _, name := range names {
			i.Spec.Controller.SchedulingGates = append(i.Spec.Controller.SchedulingGates, v1alpha.SchedulingGate{Name: name})
		}
	}
}

// fromTemplate gives an Instance another template than its deployment's.
func fromTemplate(hash string) func(*v1alpha.Instance) {
	return func(i *v1alpha.Instance) { i.Spec.Controller.TemplateHash = hash }
}

// setReady writes condition Ready.
func (f *fixture) setReady(instance *v1alpha.Instance, status metav1.ConditionStatus) {
	f.t.Helper()
	instance.Status.Conditions = apply.MergedConditions(instance.Status.Conditions, apply.Stamp{Generation: instance.Generation, Now: now},
		metav1.Condition{Type: v1alpha.ConditionReady, Status: status, Reason: v1alpha.ReasonProvisioning})
	if err := f.direct.Status().Update(f.t.Context(), instance); err != nil {
		f.t.Fatal(err)
	}
}

// sent creates a ConfigMap that the hub has sent.
func (f *fixture) sent(name string) *corev1.ConfigMap {
	f.t.Helper()
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: f.namespace, Name: name, Labels: map[string]string{v1alpha.LabelProject: "cluster-p"},
	}}
	f.create(configMap)
	return configMap
}

func (f *fixture) create(object client.Object) {
	f.t.Helper()
	if err := f.direct.Create(f.t.Context(), object); err != nil {
		f.t.Fatalf("create %T %s: %v", object, object.GetName(), err)
	}
}

func (f *fixture) update(object client.Object) {
	f.t.Helper()
	if err := f.direct.Update(f.t.Context(), object); err != nil {
		f.t.Fatalf("update %T %s: %v", object, object.GetName(), err)
	}
}

// remove deletes an object at once, its dependents left behind: there is no garbage collector.
func (f *fixture) remove(object client.Object) {
	f.t.Helper()
	if err := f.direct.Delete(f.t.Context(), object, client.PropagationPolicy(metav1.DeletePropagationBackground),
		client.GracePeriodSeconds(0)); err != nil {
		f.t.Fatalf("delete %T %s: %v", object, object.GetName(), err)
	}
}

// beginDeletion deletes an object that a finalizer holds.
func (f *fixture) beginDeletion(object client.Object) {
	f.t.Helper()
	if len(object.GetFinalizers()) == 0 {
		f.t.Fatalf("%T %s has no finalizer", object, object.GetName())
	}
	f.remove(object)
}

// get reads an object from the kube-apiserver.
func (f *fixture) get(object client.Object, name string) {
	f.t.Helper()
	if err := f.direct.Get(f.t.Context(), client.ObjectKey{Namespace: f.namespace, Name: name}, object); err != nil {
		f.t.Fatalf("get %T %s: %v", object, name, err)
	}
}

// storedInstance reads an Instance from the kube-apiserver.
func (f *fixture) storedInstance(name string) *v1alpha.Instance {
	f.t.Helper()
	instance := &v1alpha.Instance{}
	f.get(instance, name)
	return instance
}

// storedDeployment reads WorkloadDeployment web from the kube-apiserver.
func (f *fixture) storedDeployment() *v1alpha.WorkloadDeployment {
	f.t.Helper()
	deployment := &v1alpha.WorkloadDeployment{}
	f.get(deployment, "web")
	return deployment
}

// instances are the names of the Instances: present are not being deleted, leaving are.
func (f *fixture) instances() (present, leaving []string) {
	f.t.Helper()
	var list v1alpha.InstanceList
	if err := f.direct.List(f.t.Context(), &list, client.InNamespace(f.namespace)); err != nil {
		f.t.Fatal(err)
	}
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp.IsZero() {
			present = append(present, list.Items[i].Name)
		} else {
			leaving = append(leaving, list.Items[i].Name)
		}
	}
	slices.Sort(present)
	slices.Sort(leaving)
	return present, leaving
}

func (f *fixture) wantInstances(present, leaving []string) {
	f.t.Helper()
	gotPresent, gotLeaving := f.instances()
	if !slices.Equal(gotPresent, present) || !slices.Equal(gotLeaving, leaving) {
		f.t.Errorf("Instances %v, being deleted %v; want %v and %v", gotPresent, gotLeaving, present, leaving)
	}
}
