// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/hub/repairs"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/pace"
)

// verifyAfter is the delay between a repair and the next audit of the deployment.
const verifyAfter = 15 * time.Second

// deploymentScope is the state of one audit of a WorkloadDeployment.
type deploymentScope struct {
	*Deployments
	request mcreconcile.Request
	project projects.Project
	// deployment is the original; nil: none exists.
	deployment *v1alpha.WorkloadDeployment
	// copyName is the name of the copy, if the project has a hub namespace.
	copyName types.NamespacedName
	// copied is the copy on the hub; nil: none exists.
	copied       *v1alpha.WorkloadDeployment
	requeueAfter pace.After
}

// Reconcile audits one WorkloadDeployment, or what is left of one. A request without a name is for the hub namespaces
// of a namespace of the project.
func (r *Deployments) Reconcile(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	if request.Name == "" {
		return r.Withdraw(ctx, request)
	}
	project, err := projects.Find(ctx, r.Projects, request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	s := &deploymentScope{Deployments: r, request: request, project: project}
	found, err := s.load(ctx)
	if err == nil && s.deployment == nil {
		err = s.withdraw(ctx)
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	if !found && s.deployment != nil && s.deployment.Annotations[v1alpha.AnnotationHubNamespace] != "" {
		// hub/propagation has not created the hub namespace yet, or the annotation is not true.
		s.requeueAfter.AtMost(verifyAfter)
	}
	if !found {
		r.Book.Forget(request)
		r.waits.forget(request)
		return s.requeueAfter.Result(), nil
	}
	if err := s.audit(ctx); err != nil {
		return reconcile.Result{}, err
	}
	if s.deployment != nil {
		s.requeueAfter.AtMost(wait.Jitter(r.Interval*4/5, 0.5))
	}
	return s.requeueAfter.Result(), nil
}

// audit judges the path of the deployment, and of its slices when it has no fault.
func (s *deploymentScope) audit(ctx context.Context) error {
	row, err := path.Load(ctx, s.Hub, path.Subject{Name: s.copyName, Original: s.deployment, Copied: s.copied, Karmada: s.Karmada.State()})
	if err != nil {
		return err
	}
	judged := path.Judge(row)
	if err := s.putRight(ctx, path.OwnPath, judged); err != nil {
		return err
	}
	if len(judged) == 0 {
		if err := s.auditSlices(ctx, row); err != nil {
			return err
		}
	}
	return s.retry(ctx, row)
}

// withdraw deletes the copy, unless its original may exist.
func (s *deploymentScope) withdraw(ctx context.Context) error {
	result, err := s.Withdraw(ctx, s.request)
	if result.RequeueAfter > 0 {
		s.requeueAfter.AtMost(result.RequeueAfter)
	}
	return err
}

// load reads the original, or what is known of it without it, and the copy. It is false when there is nothing to audit.
func (s *deploymentScope) load(ctx context.Context) (bool, error) {
	deployment := &v1alpha.WorkloadDeployment{}
	err := s.project.GetClient().Get(ctx, s.request.NamespacedName, deployment)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("get the deployment: %w", err)
	}
	s.copyName = types.NamespacedName{Name: s.request.Name}
	if err == nil {
		s.deployment = deployment
	}
	if s.copyName.Namespace, err = s.hubNamespace(ctx); err != nil {
		return false, err
	}
	if s.copyName.Namespace == "" {
		return false, nil
	}
	copied := &v1alpha.WorkloadDeployment{}
	err = s.Hub.Get(ctx, s.copyName, copied)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("get the hub's copy: %w", err)
	}
	if err == nil {
		s.copied = copied
	}
	return true, nil
}

// hubNamespace returns the hub namespace of the deployment, or "": the one that the deployment notes, if the labels of
// that namespace confirm it. Without an original, it returns the first hub namespace of the project's namespace. The
// hub namespace of an earlier project of that name does not count.
func (s *deploymentScope) hubNamespace(ctx context.Context) (string, error) {
	from := s.project.Origin(s.request.Namespace)
	if s.deployment != nil {
		noted, confirmed, err := from.Noted(ctx, s.Hub, s.deployment)
		if err != nil || !confirmed {
			return "", err
		}
		return noted.Name, nil
	}
	var namespaces corev1.NamespaceList
	if err := s.Hub.List(ctx, &namespaces, client.MatchingLabels(from.Labels())); err != nil {
		return "", fmt.Errorf("list the hub's namespaces: %w", err)
	}
	for i := range namespaces.Items {
		if from.Owns(&namespaces.Items[i], "") {
			return namespaces.Items[i].Name, nil
		}
	}
	return "", nil
}

// putRight repairs the faults of a judgement that have lasted for too long.
func (s *deploymentScope) putRight(ctx context.Context, scope path.Scope, judged []path.Finding) error {
	findings := s.Book.Observe(s.request, scope, judged)
	var lasting []path.Finding
	for i := range findings {
		if remaining := findings[i].Remaining(s.Clock.Now(), s.patience(&findings[i])); remaining > 0 {
			s.requeueAfter.AtMost(remaining)
			continue
		}
		lasting = append(lasting, findings[i])
	}
	s.Book.Replace(s.request, scope, lasting)
	if scope == path.OwnPath && len(lasting) > 0 {
		// It is shown instead of the faults of slices, which it may explain.
		s.Book.Replace(s.request, path.SlicePaths, nil)
	}
	var errs []error
	for i := range lasting {
		if lasting[i].Repair != path.NoRepair {
			// A fault that cannot be repaired, such as a Work that an operator has suspended, does not block the other
			// repairs.
			errs = append(errs, s.repair(ctx, &lasting[i]))
		}
	}
	return errors.Join(errs...)
}

// patience returns how long a finding must last. New objects may take Karmada longer: repairs must not add to the load
// of a busy Karmada.
func (s *deploymentScope) patience(found *path.Finding) time.Duration {
	const busy = 3
	onTheWay := []path.Fault{
		path.BindingMissing, path.NotScheduled, path.WorkMissing, path.WorkOutdated, path.WorkNotApplied, path.ReportMissing,
	}
	if slices.Contains(onTheWay, found.Fault) && s.copied != nil && s.Clock.Since(s.copied.CreationTimestamp.Time) < busy*s.After {
		return busy * s.After
	}
	return s.After
}

// repair performs the repair of a finding when it is due, and requeues the deployment to verify it.
func (s *deploymentScope) repair(ctx context.Context, found *path.Finding) error {
	fault := repairs.Repair{Reason: string(found.Fault), Object: found.Object, Cell: found.Cell, Message: found.Message}
	ofCopy := fault
	ofCopy.Object = s.copied
	atObject, atCopy := s.Repairer.Attempts(fault), 0
	if found.Repair == path.TouchCopy || s.escalates(found.Repair) {
		atCopy = s.Repairer.Attempts(ofCopy)
	}
	if atObject+atCopy >= hopeless {
		s.tell(found)
	}
	var delay time.Duration
	var err error
	switch {
	case found.Repair == path.TouchCopy, s.escalates(found.Repair) && atCopy < atObject-1:
		// From the copy, Karmada propagates along the whole path. After two repairs of the object both take turns: a Karmada
		// that has just started ignores a repair of the object, which would help later.
		delay, err = s.Repairer.Touch(ctx, ofCopy)
	default:
		delay, err = s.Repairer.Do(ctx, fault, func(ctx context.Context) error { return s.do(ctx, found) })
	}
	if apierrors.IsConflict(err) || apierrors.IsInvalid(err) {
		// The object was changed between the read and the write.
		err, delay = nil, time.Second
	}
	if delay == 0 {
		delay = verifyAfter
	}
	s.requeueAfter.AtMost(delay)
	return err
}

// escalates reports whether an ineffective repair is followed by one that begins at the copy.
func (s *deploymentScope) escalates(r path.Repair) bool {
	return s.copied != nil && s.copied.DeletionTimestamp.IsZero() && (r == path.RefreshBinding || r == path.ToggleWork)
}

// tell reports in an event that repairs do not help.
func (s *deploymentScope) tell(found *path.Finding) {
	if s.deployment == nil || !s.Book.Tell(s.request, found.Key()) {
		return
	}
	s.project.Recorder("karmada-compute-audit").Eventf(s.deployment, corev1.EventTypeWarning, string(found.Fault),
		"The add-on has tried %d times to put this right; see its runbook audit.md: %s", hopeless, found.Message)
}

// auditSlices audits the paths of the slices, if that is due. It is not called while the deployment's own path has a
// fault, which may explain theirs: they then keep their ages.
func (s *deploymentScope) auditSlices(ctx context.Context, row *path.Row) error {
	now := s.Clock.Now()
	if now.Sub(s.Book.SlicesJudged(s.request)) < s.Interval*3/4 {
		return nil
	}
	loaded, err := row.LoadSlices(ctx, s.Hub, s.copyName)
	if err != nil {
		return err
	}
	var findings []path.Finding
	for _, slice := range loaded {
		findings = append(findings, path.Judge(slice)...)
	}
	if len(findings) == 0 {
		s.Book.SetSlicesJudged(s.request, now)
	}
	return s.putRight(ctx, path.SlicePaths, findings)
}

// sliceWants reports whether the ResourceBinding of a slice that was judged to be left over belongs to an existing
// slice after all.
func (s *deploymentScope) sliceWants(ctx context.Context, found *path.Finding) (bool, error) {
	slice := &v1alpha.InstanceSlice{}
	err := s.APIReader.Get(ctx, types.NamespacedName{Namespace: found.Object.GetNamespace(), Name: found.Slice}, slice)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return true, fmt.Errorf("read the InstanceSlice of a ResourceBinding: %w", err)
	}
	owner := metav1.GetControllerOf(found.Object)
	return owner == nil || owner.UID == slice.UID, nil
}

// ofLeftoverSlice requests the deployment of a ResourceBinding whose slice does not exist.
func (r *Deployments) ofLeftoverSlice(ctx context.Context, binding *workv1alpha2.ResourceBinding) []mcreconcile.Request {
	var requests []mcreconcile.Request
	for _, request := range path.OfSliceBinding(r.Hub)(ctx, binding) {
		name := types.NamespacedName{Namespace: binding.Namespace, Name: request.Name}
		deployment, _, ok := naming.ParseSliceName(request.Name)
		if !ok || !apierrors.IsNotFound(r.Hub.Get(ctx, name, &v1alpha.InstanceSlice{})) {
			continue
		}
		request.Name = deployment
		r.Book.SetSlicesJudged(request, time.Time{})
		requests = append(requests, request)
	}
	return requests
}
