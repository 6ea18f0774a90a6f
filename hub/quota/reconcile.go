// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/milo/quota"
)

const (
	// engageRetry is the delay before a deployment is requeued whose project is being engaged.
	engageRetry = time.Second
	// pendingRecheck is the delay before claims that Milo has not answered are listed from the API server: after a
	// restart of Milo a watch may take a minute to resume.
	pendingRecheck = 5 * time.Second
	// gather is how long grants are gathered while Milo still answers: each write of the copy is propagated to the
	// cells.
	gather = time.Second
)

// scope is the state of one reconcile of a WorkloadDeployment.
type scope struct {
	*Reconciler
	request     mcreconcile.Request
	projectName string
	projectUID  types.UID
	project     client.Client
	projectAPI  client.Reader
	watched     *projectClaims
	events      record.EventRecorder
	// deployment is the deployment in the project, and copied its copy on the hub, with the status that its cells report.
	deployment, copied *v1alpha.WorkloadDeployment
	// reports are the reports of its cells.
	reports *path.Reports
	// found are the claims of the deployment, by index.
	found        map[int]claimed
	plan         plan
	requeueAfter pace.After
}

// Reconcile claims quota for the Instances of one deployment.
func (r *Reconciler) Reconcile(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	project, err := projects.Find(ctx, r.Projects, request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	s := &scope{
		Reconciler: r, request: request, projectName: project.Name, projectUID: project.UID,
		project: project.GetClient(), projectAPI: project.GetAPIReader(), watched: r.claims.Of(request.ClusterName),
		events:     project.Recorder(string(FieldManager)),
		deployment: &v1alpha.WorkloadDeployment{}, copied: &v1alpha.WorkloadDeployment{},
	}
	if s.watched.Cluster != project.Cluster {
		// The project is being engaged.
		s.requeueAfter.AtMost(engageRetry)
		return s.requeueAfter.Result(), nil
	}
	defer r.forgetDisengaged(request.ClusterName)
	needed, err := s.load(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !needed {
		r.memory.remember(request, nil, false, time.Time{})
		r.waits.wait(request, nil, nil)
		return reconcile.Result{}, nil
	}
	if err := s.writePlan(ctx); err != nil {
		return reconcile.Result{}, err
	}
	return s.requeueAfter.Result(), nil
}

// forgetDisengaged forgets a project that was disengaged while one of its deployments was reconciled: nothing else would drop the
// memories of the reconcile.
func (r *Reconciler) forgetDisengaged(project multicluster.ClusterName) {
	if _, engaged := r.claims.Get(project); !engaged {
		r.memory.forget(project)
		r.waits.forget(project)
	}
}

// writePlan writes the desired claims and grants. A grant is revoked before its claim is deleted.
func (s *scope) writePlan(ctx context.Context) error {
	if err := s.findClaims(ctx); err != nil {
		return s.interrupted(ctx, err)
	}
	if err := s.makePlan(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{s.revoke, s.removeClaims, s.adoptClaims, s.createClaims, s.grant} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// load reads the deployment and its copy. It returns false if there is nothing to claim: claims outlive a deployment
// that is being deleted until its Instances are gone.
func (s *scope) load(ctx context.Context) (bool, error) {
	if err := s.project.Get(ctx, s.request.NamespacedName, s.deployment); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	hubNamespace := s.deployment.Annotations[v1alpha.AnnotationHubNamespace]
	if hubNamespace == "" || !s.deployment.DeletionTimestamp.IsZero() {
		return false, nil
	}
	copied, err := path.LoadCopy(ctx, s.Hub, s.deployment)
	if err != nil || copied.Reports == nil || copied.Object.Spec.Quota == nil {
		return false, err
	}
	s.copied, s.reports = copied.Object, copied.Reports
	return true, nil
}

// findClaims reads the claims, from the cache unless the cache may be behind.
func (s *scope) findClaims(ctx context.Context) error {
	if err := s.watched.watch(); err != nil {
		return err
	}
	if reader := s.watched.reader(); reader != nil {
		if err := s.listClaims(ctx, reader); err != nil {
			return err
		}
		if !s.anyOverdue() {
			return nil
		}
	}
	return s.listClaims(ctx, s.projectAPI)
}

func (s *scope) listClaims(ctx context.Context, reader client.Reader) error {
	var list quota.ResourceClaimList
	if err := reader.List(ctx, &list, client.InNamespace(s.deployment.Namespace),
		client.MatchingLabels{v1alpha.LabelDeploymentName: s.deployment.Name}); err != nil {
		return fmt.Errorf("list the project's ResourceClaims: %w", err)
	}
	s.found = map[int]claimed{}
	for i := range list.Items {
		if index, ok := claimIndex(s.deployment.Name, list.Items[i].Name); ok {
			s.found[index] = classify(&list.Items[i], s.desiredClaim(index))
		}
	}
	return nil
}

// anyOverdue reports whether a claim has waited for an answer longer than expected.
func (s *scope) anyOverdue() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(s.found)), func(c claimed) bool {
		return c.state == pending && s.Clock.Since(c.claim.CreationTimestamp.Time) >= pendingRecheck
	})
}

// interrupted handles claims that cannot be read: granted Instances remain granted, and no other Instance starts.
func (s *scope) interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	log.FromContext(ctx).Info("Claims cannot be read; nothing is granted until they can", "error", err.Error())
	why := s.refusal(ctx, err)
	granted := naming.OfRanges(s.copied.Spec.Quota.Granted)
	s.plan = plan{granted: granted, denials: map[int]denial{}, fresh: true}
	for _, index := range s.wanted() {
		if !slices.Contains(granted, index) {
			s.plan.denials[index] = why
		}
	}
	if len(s.plan.denials) == 0 {
		s.requeueAfter.AtMost(lastRetry)
	}
	return s.write(ctx, s.copied.Spec.Quota.InstanceSize)
}

func (s *scope) makePlan(ctx context.Context) error {
	version, err := templates.VersionOf(&s.copied.Spec.Template)
	if err != nil {
		return err
	}
	earlier, facts := s.memory.recall(s.request), wire.FactsOf(s.copied)
	situation := &situation{
		wanted: s.wanted(), current: naming.OfRanges(s.copied.Spec.Quota.Granted),
		requests: requestsFor(templates.SizeOfDeployment(s.copied)), claims: s.found,
		ordered: s.copied.Spec.ScaleSettings.InstanceManagementPolicy != v1alpha.Parallel,
		denials: earlier.denials, due: earlier.due(s.Clock.Now()),
		busy:    func(index int) bool { return mayRun(s.copied, facts, index) },
		started: map[int]bool{}, rolled: map[int]bool{},
		cell: func(index int) string {
			if s.copied.Spec.Assignment == nil {
				return ""
			}
			return s.copied.Spec.Assignment.Owner(index)
		},
	}
	for index, fact := range facts {
		situation.started[index] = !fact.Held
		situation.rolled[index] = version.Is(fact.TemplateHash)
	}
	for _, index := range situation.wanted {
		// As long as its cell is silent, an Instance is taken for one that runs the template that its claim is for.
		situation.started[index] = situation.started[index] || s.isSilent(index)
	}
	situation.budget = sync.OnceValue(func() *budget { return s.readBudget(ctx) })
	s.plan = makePlan(situation)
	return nil
}

// revoke withdraws the grants that are not in the plan, before their claims are deleted.
func (s *scope) revoke(ctx context.Context) error {
	current := naming.OfRanges(s.copied.Spec.Quota.Granted)
	kept := slices.DeleteFunc(slices.Clone(current), func(index int) bool { return !slices.Contains(s.plan.granted, index) })
	if len(kept) == len(current) {
		return nil
	}
	desired := s.copied.Spec.Quota.DeepCopy()
	desired.Granted, desired.Withheld = naming.Ranges(kept), withheld(s.plan.denials)
	return s.replace(ctx, desired)
}

func (s *scope) removeClaims(ctx context.Context) error {
	for _, claim := range s.plan.remove {
		err := s.project.Delete(ctx, claim, client.Preconditions{UID: &claim.UID, ResourceVersion: &claim.ResourceVersion})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete ResourceClaim %s: %w", client.ObjectKeyFromObject(claim), err)
		}
		log.FromContext(ctx).Info("Deleted a ResourceClaim", "claim", claim.Name)
	}
	return nil
}

// adoptClaims restores the labels and the owner of claims: of claims of an earlier deployment of the name, and of
// edited claims.
func (s *scope) adoptClaims(ctx context.Context) error {
	for index, c := range s.found {
		desired := s.desiredClaim(index)
		if c.state != pending && c.state != granted || slices.Contains(s.plan.remove, c.claim) || !apply.MetadataDiffers(c.claim, desired) {
			continue
		}
		desired.UID = c.claim.UID
		if _, err := apply.Object(ctx, s.project, FieldManager, desired); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// createClaims creates the claims in the plan. If Milo refuses one Instance, it refuses the others as well.
func (s *scope) createClaims(ctx context.Context) error {
	for i, index := range s.plan.create {
		holder, refused, err := apply.Claim(ctx, s.project, s.projectAPI, FieldManager, s.desiredClaim(index))
		switch {
		case holder != nil, errors.Is(err, apply.ErrGone):
			s.identifyHolder(holder, index)
			continue
		case err != nil:
			return err
		case refused == nil:
			s.plan.pending = append(s.plan.pending, index)
			if before := s.memory.recall(s.request).denials[index]; before != (denial{}) {
				s.plan.denials[index] = before
			}
			continue
		case ctx.Err() != nil:
			return fmt.Errorf("create ResourceClaim %s: %w", claimName(s.deployment.Name, index), refused)
		}
		why := s.refusal(ctx, refused)
		log.FromContext(ctx).Info("Quota cannot be claimed", "reason", why.reason, "error", refused.Error())
		for _, refused := range s.plan.create[i:] {
			s.plan.deny(refused, why)
		}
		return nil
	}
	return nil
}

// identifyHolder handles an Instance whose claim's name is taken: by its own claim, which the cache has not received yet, by a claim that
// is gone now, or by a foreign claim, which it does not touch.
func (s *scope) identifyHolder(holder *quota.ResourceClaim, index int) {
	if holder == nil || holder.Labels[v1alpha.LabelDeploymentName] == s.deployment.Name {
		s.requeueAfter.AtMost(engageRetry)
		return
	}
	s.plan.deny(index, denial{v1alpha.ReasonQuotaValidationFailed, shorten(fmt.Sprintf(
		"ResourceClaim %s has the name of the claim for this Instance, and is not the add-on's; delete it", holder.Name))})
}

// grant writes the granted and withheld Instances into the copy.
func (s *scope) grant(ctx context.Context) error {
	if len(s.plan.pending) > 0 {
		s.requeueAfter.AtMost(pendingRecheck)
	}
	size := templates.SizeOfDeployment(s.copied)
	return s.write(ctx, &size)
}

func (s *scope) write(ctx context.Context, size *v1alpha.QuotaSize) error {
	before := s.copied.Spec.Quota
	s.noteWaiting(naming.OfRanges(before.Granted))
	known := s.memory.remember(s.request, s.plan.denials, s.plan.fresh, s.Clock.Now())
	if remaining := known.next.Sub(s.Clock.Now()); remaining > 0 {
		s.requeueAfter.AtMost(remaining)
	}
	desired := &v1alpha.WorkloadDeploymentQuota{
		InstanceSize: size, Granted: naming.Ranges(s.plan.granted), Withheld: withheld(s.plan.denials),
	}
	if equality.Semantic.DeepEqual(s.copied.Spec.Quota, desired) {
		return nil
	}
	if remaining := s.gathering(); remaining > 0 && s.copied.Spec.Quota.InstanceSize != nil && *s.copied.Spec.Quota.InstanceSize == *size {
		s.requeueAfter.AtMost(remaining)
		return nil
	}
	if err := s.replace(ctx, desired); err != nil {
		return err
	}
	s.waits.granted(s.request, s.plan.granted, s.Clock.Now())
	s.tell(before, desired)
	return nil
}

// gathering returns how long to wait for more grants: as long as Milo has not answered claims that were just created.
func (s *scope) gathering() time.Duration {
	var remaining time.Duration
	for _, index := range s.plan.pending {
		age := time.Duration(0)
		if c := s.found[index]; c.claim != nil {
			age = s.Clock.Since(c.claim.CreationTimestamp.Time)
		}
		if age >= 0 && age < gather {
			remaining = max(remaining, gather-age)
		}
	}
	return remaining
}

func (s *scope) replace(ctx context.Context, desired *v1alpha.WorkloadDeploymentQuota) error {
	intended, err := templates.IntendedQuota(desired)
	if err != nil {
		return err
	}
	err = apply.Replace(ctx, s.Hub, FieldManager, s.copied, map[string]any{
		"/spec/quota": desired, "/metadata/annotations/" + strings.ReplaceAll(v1alpha.AnnotationIntendedQuota, "/", "~1"): intended,
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil && s.copied.Spec.Quota == nil {
		return errors.New("the hub dropped the quota of the copy: its CRD is of an earlier version")
	}
	return err
}
