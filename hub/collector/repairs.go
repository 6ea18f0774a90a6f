// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"
	"slices"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/repairs"
)

// repairFieldManager is the field manager of repairs.
const repairFieldManager = client.FieldOwner("karmada-compute-audit")

// do performs the repair of a finding. It reads the object at the API server and does nothing if that is not the object
// that was judged.
func (s *deploymentScope) do(ctx context.Context, found *path.Finding) error {
	switch found.Repair {
	case path.RefreshBinding:
		return s.refreshBinding(ctx, found.Object)
	case path.AdoptBinding:
		return s.adoptBinding(ctx, found.Object)
	case path.ToggleWork:
		return s.toggleWork(ctx, found.Object)
	case path.DeleteBinding, path.DeleteWork:
		return s.delete(ctx, found)
	case path.NoRepair, path.TouchCopy:
	}
	return nil
}

// live reads an object past the cache. It returns false if the object is gone, or was replaced by another of its name.
func (s *deploymentScope) live(ctx context.Context, judged, live client.Object) (bool, error) {
	err := s.APIReader.Get(ctx, client.ObjectKeyFromObject(judged), live)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the object to repair: %w", err)
	}
	return live.GetUID() == judged.GetUID(), nil
}

// refreshBinding records another version of the copy in the binding. Karmada's controllers of bindings and of their
// status react to this change and to no annotation; no controller reads the value itself.
func (s *deploymentScope) refreshBinding(ctx context.Context, judged client.Object) error {
	binding := &workv1alpha2.ResourceBinding{}
	if same, err := s.live(ctx, judged, binding); err != nil || !same {
		return err
	}
	return s.patch(ctx, binding, map[string]any{"resource": map[string]any{"resourceVersion": s.anotherVersion(binding)}})
}

// anotherVersion returns the version of the copy, or another value if that version is recorded already.
func (s *deploymentScope) anotherVersion(binding *workv1alpha2.ResourceBinding) string {
	versions := []string{"0", "1"}
	if s.copied != nil {
		versions = []string{s.copied.ResourceVersion, "0"}
	}
	if binding.Spec.Resource.ResourceVersion == versions[0] {
		return versions[1]
	}
	return versions[0]
}

// toggleWork triggers a Karmada reconcile of a Work.
func (s *deploymentScope) toggleWork(ctx context.Context, judged client.Object) error {
	work := &workv1alpha1.Work{}
	if same, err := s.live(ctx, judged, work); err != nil || !same {
		return err
	}
	if repairs.IsSuspended(work) {
		return errors.New("the Work is suspended: spec.suspendDispatching is true, which only a person sets; set it to false")
	}
	return s.patch(ctx, work, repairs.Toggled(work))
}

func (s *deploymentScope) patch(ctx context.Context, live client.Object, spec map[string]any) error {
	patch, err := repairs.Patch(live, spec, s.Clock.Now())
	if err != nil {
		return err
	}
	return s.Hub.Patch(ctx, live, patch, repairFieldManager)
}

// adoptBinding makes the present copy the controller of a binding. Running Instances are not affected.
func (s *deploymentScope) adoptBinding(ctx context.Context, judged client.Object) error {
	binding, copied := &workv1alpha2.ResourceBinding{}, &v1alpha.WorkloadDeployment{}
	if same, err := s.live(ctx, judged, binding); err != nil || !same {
		return err
	}
	if same, err := s.live(ctx, s.copied, copied); err != nil || !same {
		return err
	}
	adopted := binding.DeepCopy()
	owner := *metav1.NewControllerRef(copied, v1alpha.GroupVersion.WithKind(v1alpha.KindWorkloadDeployment))
	adopted.OwnerReferences = append([]metav1.OwnerReference{owner},
		slices.DeleteFunc(adopted.OwnerReferences, func(o metav1.OwnerReference) bool {
			return o.Controller != nil && *o.Controller
		})...)
	adopted.Spec.Resource.UID = copied.UID
	adopted.Spec.Resource.ResourceVersion = s.anotherVersion(binding)
	patch := client.MergeFromWithOptions(binding, client.MergeFromWithOptimisticLock{})
	return s.Hub.Patch(ctx, adopted, patch, repairFieldManager)
}

// delete deletes a leftover object of a deployment, if neither the project nor the hub has the deployment now; or a
// binding of an earlier Workload, if the copy that was judged still is the copy.
func (s *deploymentScope) delete(ctx context.Context, found *path.Finding) error {
	wanted, err := s.wanted(ctx, found)
	if err != nil || wanted {
		return err
	}
	uid := found.Object.GetUID()
	if err := s.Hub.Delete(ctx, found.Object, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete leftover %T %s: %w", found.Object, client.ObjectKeyFromObject(found.Object), err)
	}
	return nil
}

// wanted reports whether an object that was judged to be left over belongs to an existing owner.
func (s *deploymentScope) wanted(ctx context.Context, found *path.Finding) (bool, error) {
	if found.Slice != "" {
		return s.sliceWants(ctx, found)
	}
	copied := &v1alpha.WorkloadDeployment{}
	err := s.APIReader.Get(ctx, s.copyName, copied)
	if client.IgnoreNotFound(err) != nil {
		return true, fmt.Errorf("read the hub's copy: %w", err)
	}
	copyExists := err == nil
	if found.Fault == path.BindingOwnerGone {
		return !copyExists || copied.UID != s.copied.UID, nil
	}
	if copyExists {
		return true, nil
	}
	return s.original(ctx)
}

// original reports whether the project may have the deployment.
func (s *deploymentScope) original(ctx context.Context) (bool, error) {
	answer, err := s.Owners.Verdict(ctx, ownership.Key{
		Project: s.project.Name, ProjectUID: s.project.UID, Deployment: s.request.NamespacedName, HubNamespace: s.copyName.Namespace,
	})
	return answer.Verdict != ownership.Gone, err
}
