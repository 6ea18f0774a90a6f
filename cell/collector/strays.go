// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"cmp"
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Kinds of objects, as the metrics name them.
const (
	kindPod      = "Pod"
	kindInstance = v1alpha.KindInstance
	kindSlice    = v1alpha.KindInstanceSlice
)

// Actions, as labels of the metric.
const (
	deleted = "deleted"
	adopted = "adopted"
)

// fieldOwner is the field manager of adoptions.
const fieldOwner client.FieldOwner = "karmada-compute-cell-strays"

// Keeper deletes and adopts strays, counts them and records Events. Create it with New. It is safe for concurrent use.
type Keeper struct {
	client   client.Client
	live     client.Reader
	recorder record.EventRecorder
	count    *prometheus.CounterVec
}

// KeeperOptions configure a Keeper.
type KeeperOptions struct {
	// Client writes to the cell.
	Client client.Client
	// APIReader reads from the API server, bypassing the cache.
	APIReader client.Reader
	// Recorder records an Event about each stray.
	Recorder record.EventRecorder
	// Registerer gets the metric.
	Registerer prometheus.Registerer
}

// NewKeeper returns a Keeper and registers its metric.
func NewKeeper(o KeeperOptions) *Keeper {
	count := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "karmada_compute_cell_strays_total",
		Help: "Leftover objects in the cell whose owner no longer exists, by kind and by action: deleted or adopted.",
	}, []string{"kind", "action"})
	o.Registerer.MustRegister(count)
	// A counter that begins with its first event hides it from rates.
	for _, known := range [][2]string{{kindPod, deleted}, {kindInstance, deleted}, {kindInstance, adopted}, {kindSlice, deleted}} {
		count.WithLabelValues(known[0], known[1])
	}
	return &Keeper{client: o.Client, live: o.APIReader, recorder: o.Recorder, count: count}
}

// ControllerName is the name and the UID of the object of one of our kinds that controls obj; ok is false without such
// a controller.
func ControllerName(obj client.Object, kind string) (controller metav1.OwnerReference, ok bool) {
	found := metav1.GetControllerOfNoCopy(obj)
	if found == nil || found.Kind != kind || found.APIVersion != v1alpha.GroupVersion.String() {
		return metav1.OwnerReference{}, false
	}
	return *found, true
}

// IsOrphan reports whether an object that only the agent creates has no controller: its controller was deleted with
// --cascade=orphan, or another client created the object.
func IsOrphan(obj client.Object) bool {
	_, isPod := obj.(*corev1.Pod)
	return metav1.GetControllerOfNoCopy(obj) == nil && (!isPod || obj.GetLabels()[v1alpha.LabelDeploymentName] != "")
}

// Pod deletes a Pod, as read from the API server, if the Instance that controls it no longer exists, and reports
// whether it did. An Instance that has the name now is a different one. An orphan is deleted, too: no Instance counts
// it.
func (k *Keeper) Pod(ctx context.Context, pod *corev1.Pod) (bool, error) {
	controller, ok := ControllerName(pod, v1alpha.KindInstance)
	if !pod.DeletionTimestamp.IsZero() {
		return false, nil
	}
	if IsOrphan(pod) {
		return true, k.remove(ctx, pod, kindPod, metav1.OwnerReference{Kind: v1alpha.KindInstance, Name: pod.Name})
	}
	if !ok {
		return false, nil
	}
	instance := &v1alpha.Instance{}
	missing, err := k.lacksController(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: controller.Name}, instance, controller)
	if err != nil || !missing {
		return false, err
	}
	return true, k.remove(ctx, pod, kindPod, controller)
}

// Instance deletes an Instance, as read from the API server, if the WorkloadDeployment that controls it no longer
// exists, and reports whether it did anything. A WorkloadDeployment of the same name and the same Workload adopts the
// Instance instead: a running Instance keeps running. The WorkloadDeployment of an orphan is the one that its label
// names.
func (k *Keeper) Instance(ctx context.Context, instance *v1alpha.Instance) (bool, error) {
	controller, ok := ControllerName(instance, v1alpha.KindWorkloadDeployment)
	if IsOrphan(instance) {
		controller, ok = metav1.OwnerReference{Kind: v1alpha.KindWorkloadDeployment, Name: instance.Labels[v1alpha.LabelDeploymentName]}, true
	}
	if !ok || !instance.DeletionTimestamp.IsZero() {
		return false, nil
	}
	deployment := &v1alpha.WorkloadDeployment{}
	missing, err := k.lacksController(ctx, client.ObjectKey{Namespace: instance.Namespace, Name: controller.Name}, deployment, controller)
	if err != nil || !missing {
		return false, err
	}
	if deployment.UID != "" && deployment.DeletionTimestamp.IsZero() &&
		instance.Labels[v1alpha.LabelWorkloadUID] == string(deployment.Spec.WorkloadRef.UID) {
		return true, k.adopt(ctx, instance, deployment)
	}
	return true, k.remove(ctx, instance, kindInstance, controller)
}

// Slice deletes an InstanceSlice, as read from the API server, if its WorkloadDeployment does not exist, and reports
// whether it did. A slice has no owner in a cell: Karmada propagates and removes it, unless it has lost its Work.
func (k *Keeper) Slice(ctx context.Context, slice *v1alpha.InstanceSlice) (bool, error) {
	if !slice.DeletionTimestamp.IsZero() {
		return false, nil
	}
	deployment := metav1.OwnerReference{Kind: v1alpha.KindWorkloadDeployment, Name: slice.Spec.Deployment}
	key := client.ObjectKey{Namespace: slice.Namespace, Name: deployment.Name}
	if err := k.live.Get(ctx, key, &v1alpha.WorkloadDeployment{}); !apierrors.IsNotFound(err) {
		if err != nil {
			return false, fmt.Errorf("get WorkloadDeployment %s: %w", key, err)
		}
		return false, nil
	}
	return true, k.remove(ctx, slice, kindSlice, deployment)
}

// lacksController reports whether the object that controller names no longer exists, and reads into found what has its name now.
func (k *Keeper) lacksController(
	ctx context.Context, key client.ObjectKey, found client.Object, controller metav1.OwnerReference,
) (bool, error) {
	if key.Name == "" {
		return true, nil
	}
	if err := k.live.Get(ctx, key, found); err != nil {
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, fmt.Errorf("get %s %s: %w", controller.Kind, key, err)
	}
	return found.GetUID() != controller.UID, nil
}

func (k *Keeper) remove(ctx context.Context, obj client.Object, kind string, controller metav1.OwnerReference) error {
	uid, version := obj.GetUID(), obj.GetResourceVersion()
	options := []client.DeleteOption{client.Preconditions{UID: &uid, ResourceVersion: &version}}
	if kind == kindInstance {
		// Foreground deletion deletes its Pod first, so that the name is free only when no container of it runs any more.
		options = append(options, client.PropagationPolicy(metav1.DeletePropagationForeground))
	}
	if err := k.client.Delete(ctx, obj, options...); err != nil {
		return fmt.Errorf("delete %s %s, whose controller is gone: %w", kind, client.ObjectKeyFromObject(obj), err)
	}
	k.count.WithLabelValues(kind, deleted).Inc()
	log.FromContext(ctx).Info("Deleted an object whose controller is gone", "kind", kind, "namespace", obj.GetNamespace(),
		"name", obj.GetName(), "uid", uid, "controller", controller.Name, "controllerUID", controller.UID)
	k.recorder.Eventf(obj, corev1.EventTypeWarning, "ControllerGone",
		"deleted: its controller, %s %s with UID %s, does not exist any more", controller.Kind, controller.Name,
		cmp.Or(string(controller.UID), "unknown"))
	return nil
}

// adopt sets deployment as the controller of instance. The write is refused if the instance has changed since it was
// read: the garbage collector may have come first.
func (k *Keeper) adopt(ctx context.Context, instance *v1alpha.Instance, deployment *v1alpha.WorkloadDeployment) error {
	before, reference := instance.DeepCopy(), deployment.ControllerReference()
	owners := []metav1.OwnerReference{reference}
	for _, owner := range instance.OwnerReferences {
		if owner.Controller == nil || !*owner.Controller {
			owners = append(owners, owner)
		}
	}
	instance.OwnerReferences = owners
	if uid := deployment.Labels[v1alpha.LabelDeploymentUID]; uid != "" && instance.Labels != nil {
		instance.Labels[v1alpha.LabelDeploymentUID] = uid
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := k.client.Patch(ctx, instance, patch, fieldOwner); err != nil {
		return fmt.Errorf("adopt Instance %s: %w", client.ObjectKeyFromObject(instance), err)
	}
	k.count.WithLabelValues(kindInstance, adopted).Inc()
	log.FromContext(ctx).Info("Adopted an Instance of an earlier WorkloadDeployment of this name", "namespace", instance.Namespace,
		"name", instance.Name, "uid", instance.UID, "deploymentUID", deployment.UID)
	k.recorder.Eventf(instance, corev1.EventTypeNormal, "Adopted",
		"adopted from an earlier WorkloadDeployment %s of the same Workload", deployment.Name)
	return nil
}
