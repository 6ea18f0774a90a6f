// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-base/featuregate"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// Workloads validates Workloads. It is safe for concurrent use.
type Workloads struct {
	// Projects reads the project of a request.
	Projects Projects
	// Scope determines the project of a request. Nil: Milo.
	Scope Scope
	// Types are the instance types; nil: they are not checked.
	Types InstanceTypes
	// Features enable the reviews of access.
	Features featuregate.FeatureGate
	// Proved reports whether the caller is known to be an API server, so that the user of a request is more than a claim.
	// Nil: it is not.
	Proved func(context.Context) bool
	// Users returns the users of the add-on's controllers at Milo, which patch the metadata of Workloads and never their
	// spec. Its errors have the same classes as the errors of Projects. Nil: there are no such users.
	Users func(context.Context) ([]string, error)
	// Marks informs the controllers of projects that are about to have Workloads. Nil: they are not informed.
	Marks Marks
	// Bounds are the maximum sizes of a Workload.
	Bounds validation.Bounds
	// Names are the operator's settings for DNS names.
	Names validation.Names
	// Lacking returns the cities in which no cell has what an exposure needs, by the operator's settings. Nil: it is not known.
	Lacking func(ctx context.Context, cities []string, exposure v1alpha.ServiceExposure) ([]string, error)
	// ProjectLimit is the maximum of what a project's Workloads may ask for. 0: any number.
	ProjectLimit templates.Demand
	// AdmitsRefused reports that Workloads are stored although they are refused here.
	AdmitsRefused bool
}

// Handle answers one admission request.
func (v *Workloads) Handle(ctx context.Context, request admission.Request) admission.Response {
	workload, before, err := workloads(request)
	if err != nil {
		return malformed(err)
	}
	if before != nil && !workload.DeletionTimestamp.IsZero() {
		// It runs nothing new, and its project may be gone; but the controllers keep it in memory until its last finalizer is
		// removed.
		return answer(workload, validation.Size(workload, before, v.Bounds))
	}
	// A change that leaves the spec unchanged, or of an object that is being deleted, needs no project: finalizers must be
	// added and removed whether Milo answers or not.
	if before != nil && reflect.DeepEqual(before.Spec, workload.Spec) {
		return answer(workload, validation.Annotations(workload, before))
	}
	response, known := v.answer(ctx, request, workload, before)
	if known && (response.Allowed || v.AdmitsRefused) {
		v.mark(ctx, request)
	}
	return response
}

// answer answers a request that changes the spec. known is false if the request is known not to come from an API
// server: nothing may be written because of such a request.
func (v *Workloads) answer(
	ctx context.Context, request admission.Request, workload, before *v1alpha.Workload,
) (response admission.Response, known bool) {
	project, refusal := v.projectOf(ctx, request)
	if refusal != nil {
		return *refusal, refusal.Result.Code != http.StatusForbidden
	}
	// Both requests run at the same time.
	permission := v.mayWrite(ctx, project, request)
	c := change{now: workload, before: before}
	warnings, refusal := v.inspect(ctx, project, request, &c)
	if stranger := permission(); stranger != nil {
		return *stranger, stranger.Result.Code != http.StatusForbidden
	}
	if refusal != nil {
		return *refusal, true
	}
	// Last, since admitted Instances count at once.
	problems, err := v.validateDemand(ctx, project, request, c)
	if err != nil {
		return projectUnavailable(fmt.Errorf("the Workloads of project %q could not be counted, try again: %w", project.Name, err)), true
	}
	if len(problems) > 0 {
		return refused(workload, problems), true
	}
	return admission.Allowed("").WithWarnings(warnings...), true
}

// inspect returns the warnings about a change or, if the change is not allowed, the response. It fills in the locations
// of the project.
func (v *Workloads) inspect(ctx context.Context, project Project, request admission.Request, c *change) ([]string, *admission.Response) {
	if refusal := project.refusal(); refusal != "" {
		return nil, new(admission.Denied(refusal))
	}
	problems := append(validation.Annotations(c.now, c.before), v.specProblems(project, c.now, c.before)...)
	if foreign := scopeOf(v.Scope).Problems(project.Name, c.now); len(foreign) > 0 {
		// Locations are not looked up for a Workload that the project cannot have.
		return nil, new(refused(c.now, append(problems, foreign...)))
	}
	places, unknown, err := v.validateLocations(ctx, project, c.now, c.before)
	if errors.Is(err, cities.ErrLocationsNotServed) {
		return nil, new(uninstalled(fmt.Errorf("locations of project %q cannot be looked up: %w", project.Name, err)))
	}
	if err != nil {
		return nil, new(projectUnavailable(fmt.Errorf("locations of project %q could not be looked up, try again: %w", project.Name, err)))
	}
	mistyped, aboutType, err := v.validateTypes(ctx, c.now, c.before)
	if err != nil {
		return nil, new(unavailable(err))
	}
	forbidden, err := v.validateAccess(ctx, project, request, c.now, c.before)
	if err != nil {
		return nil, new(projectUnavailable(fmt.Errorf("permissions in project %q could not be looked up, try again: %w", project.Name, err)))
	}
	if problems = slices.Concat(problems, unknown, mistyped, forbidden); len(problems) > 0 {
		return nil, new(refused(c.now, problems))
	}
	c.places = &places
	warnings := slices.Concat(aboutType, validation.Warnings(c.now), v.Names.Warnings(c.now), places.warnings(project, c.now, c.before),
		v.exposureWarnings(ctx, project, c))
	if places.age == 0 {
		// While Milo does not answer there is no use in asking for the quota.
		warnings = append(warnings, v.quotaWarnings(ctx, project, c.now, places)...)
	}
	return warnings, nil
}

// answer refuses a Workload with problems, and admits one without.
func answer(workload *v1alpha.Workload, problems field.ErrorList) admission.Response {
	if len(problems) > 0 {
		return refused(workload, problems)
	}
	return admission.Allowed("")
}

// specProblems are the problems of a Workload's spec that need no request.
func (v *Workloads) specProblems(project Project, workload, before *v1alpha.Workload) field.ErrorList {
	problems := slices.Concat(validation.Workload(workload, before), validation.Size(workload, before, v.Bounds))
	problems = append(problems, v.Names.Hostnames(project.Name, workload, before)...)
	if project.Metered {
		problems = append(problems, validation.Metered(workload, before)...)
	}
	return problems
}

// projectOf is the project of a request, or the response if the request has none.
func (v *Workloads) projectOf(ctx context.Context, request admission.Request) (Project, *admission.Response) {
	name, err := scopeOf(v.Scope).Of(request)
	if err != nil {
		return Project{}, new(admission.Denied(err.Error()))
	}
	project, err := v.Projects.Project(ctx, name)
	if errors.Is(err, ErrProjectNotFound) || err == nil && project.refusal() != "" {
		// The project may have been created, resumed or recreated a moment ago.
		project, err = v.Projects.FreshProject(ctx, name)
	}
	switch {
	case errors.Is(err, ErrProjectNotFound):
		return project, v.stranger(name, request)
	case err != nil:
		return project, new(unavailable(fmt.Errorf("project %q could not be looked up, try again: %w", name, err)))
	}
	return project, nil
}

// warningTimeout bounds how long a request waits for an answer that only a warning needs.
const warningTimeout = time.Second

// quotaWarnings returns a warning if the project's quota does not suffice. A quota that cannot be read gives no
// warning.
func (v *Workloads) quotaWarnings(ctx context.Context, project Project, workload *v1alpha.Workload, places places) []string {
	ctx, cancel := context.WithTimeout(ctx, warningTimeout)
	defer cancel()
	limit, known, err := v.Projects.InstanceAllowance(ctx, project)
	if err != nil || !known {
		return nil
	}
	var asked int64
	for i := range workload.Spec.Placements {
		placement := &workload.Spec.Placements[i]
		asked += int64(places.count(placement)) * int64(placement.ScaleSettings.MinReplicas)
	}
	if asked <= limit {
		return nil
	}
	return []string{
		fmt.Sprintf("%d Instances are asked for and the project's quota is %d: what exceeds it waits until the quota is raised", asked, limit),
	}
}

// workloads reads the Workload of a request and, on an update, the one that it replaces.
func workloads(request admission.Request) (workload, before *v1alpha.Workload, err error) {
	if request.Kind.Group != v1alpha.GroupVersion.Group || request.Kind.Kind != "Workload" {
		return nil, nil, fmt.Errorf("kind %s of group %q is not validated here; correct the rules of the "+
			"ValidatingWebhookConfiguration", request.Kind.Kind, request.Kind.Group)
	}
	if workload, err = wire.Workload(request.Object.Raw); err != nil {
		return nil, nil, fmt.Errorf("decode the Workload: %w", err)
	}
	switch request.Operation {
	case admissionv1.Create:
		return workload, nil, nil
	case admissionv1.Update:
		if before, err = wire.Workload(request.OldObject.Raw); err != nil {
			return nil, nil, fmt.Errorf("decode the Workload as it was: %w", err)
		}
		return workload, before, nil
	default:
		return nil, nil, fmt.Errorf("operation %q is not validated here; correct the rules of the "+
			"ValidatingWebhookConfiguration", request.Operation)
	}
}

// Marks informs the controllers of projects that are about to have Workloads: no controller watches a project without
// Workloads.
type Marks interface {
	// Mark reports a project. It may wait a short time for the write, whether it succeeds or not.
	Mark(ctx context.Context, project string)
}

// mark informs the project's controllers of a request that may be stored. A change of the spec informs them too, in
// case they missed the creation.
func (v *Workloads) mark(ctx context.Context, request admission.Request) {
	if v.Marks == nil || request.DryRun != nil && *request.DryRun {
		return
	}
	// A request outside of any project is stored only if the add-on admits everything, and no controller reads the object.
	if project, err := scopeOf(v.Scope).Of(request); err == nil {
		v.Marks.Mark(ctx, project)
	}
}

// change is the Workload of a request, the Workload that it replaces or nil, and the locations of the project.
type change struct {
	now, before *v1alpha.Workload
	places      *places
}

// validateDemand returns problems for a change that asks for more than the project may have. A change that asks for no
// more than before is not counted: a project that exceeds a lower bound can be changed, and reduced.
func (v *Workloads) validateDemand(ctx context.Context, project Project, request admission.Request, c change) (field.ErrorList, error) {
	if v.ProjectLimit == (templates.Demand{}) {
		return nil, nil
	}
	locations, err := v.locationsToCount(ctx, project, c)
	if err != nil {
		return nil, err
	}
	more := validation.Demand(c.now, locations)
	if c.before != nil {
		more = more.Growth(validation.Demand(c.before, locations))
	}
	if more == (templates.Demand{}) {
		return nil, nil
	}
	reservation := templates.Reservation{More: more, Limit: v.ProjectLimit, DryRun: ptr.Deref(request.DryRun, false)}
	total, err := v.Projects.Reserve(ctx, project, reservation)
	if err != nil || !reservation.IsFull(total) {
		return nil, err
	}
	return v.full(project, more, total), nil
}

// full are the problems of a change with which a project would have more than it may have.
func (v *Workloads) full(project Project, more, total templates.Demand) (problems field.ErrorList) {
	if v.ProjectLimit.Instances > 0 && more.Instances > 0 && total.Instances > v.ProjectLimit.Instances {
		problems = append(problems, field.Invalid(field.NewPath("spec", "placements"), field.OmitValueType{}, fmt.Sprintf(
			"asks for %d Instances more; the Workloads of project %q would have %d, and may have %d; reduce replicas or cities",
			more.Instances, project.Name, total.Instances, v.ProjectLimit.Instances)))
	}
	if v.ProjectLimit.Bytes > 0 && more.Bytes > 0 && total.Bytes > v.ProjectLimit.Bytes {
		problems = append(problems, field.Invalid(field.NewPath("spec", "template"), field.OmitValueType{}, fmt.Sprintf(
			"adds %d bytes, with a copy of the template for each Instance; the Workloads of project %q would have %d bytes, and may have %d; "+
				"move large values into a ConfigMap or Secret, or reduce replicas or cities",
			more.Bytes, project.Name, total.Bytes, v.ProjectLimit.Bytes)))
	}
	return problems
}

// locationsToCount are the locations of the project, where a placement selects them.
func (v *Workloads) locationsToCount(ctx context.Context, project Project, c change) ([]cities.Location, error) {
	selects := func(placement v1alpha.WorkloadPlacement) bool { return placement.LocationSelector != nil }
	if c.places.known || !slices.ContainsFunc(c.now.Spec.Placements, selects) {
		return c.places.locations, nil
	}
	locations, _, err := v.Projects.Locations(ctx, project)
	return locations, err
}
