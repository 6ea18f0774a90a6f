// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// Workloads validates Workloads. It is safe for concurrent use.
type Workloads struct {
	// Projects reads the project of a request.
	Projects Projects
	// Features enable the reviews of access.
	Features featuregate.FeatureGate
}

// Handle answers one admission request.
func (v *Workloads) Handle(ctx context.Context, request admission.Request) admission.Response {
	workload, before, err := decode(request)
	if err != nil {
		return malformed(err)
	}
	// A change that leaves the spec alone, or of an object that is being deleted, needs no review: finalizers must come
	// and go whether Milo answers or not.
	if before != nil && (!workload.DeletionTimestamp.IsZero() || reflect.DeepEqual(before.Spec, workload.Spec)) {
		return admission.Allowed("")
	}
	project, refusal := v.projectOf(ctx, request)
	if refusal != nil {
		return *refusal
	}
	problems := validation.Workload(workload, before)
	unknown, err := v.validateLocations(ctx, project, addedCities(workload, before))
	if err != nil {
		return projectUnavailable(fmt.Errorf("locations of project %q could not be looked up, try again: %w", project.Name, err))
	}
	problems = append(problems, unknown...)
	forbidden, err := v.validateAccess(ctx, project, request, workload, before)
	if err != nil {
		return projectUnavailable(fmt.Errorf("permissions in project %q could not be looked up, try again: %w", project.Name, err))
	}
	if problems = append(problems, forbidden...); len(problems) > 0 {
		return refused(workload, problems)
	}
	return admission.Allowed("").WithWarnings(v.warnings(ctx, project, workload)...)
}

// projectOf is the project of a request, or the response when there is none that accepts Workloads.
func (v *Workloads) projectOf(ctx context.Context, request admission.Request) (Project, *admission.Response) {
	name, err := projectOf(request.UserInfo)
	if err != nil {
		return Project{}, new(admission.Denied(err.Error()))
	}
	project, err := v.Projects.Project(ctx, name)
	switch {
	case errors.Is(err, ErrProjectNotFound):
		return project, new(admission.Denied(fmt.Sprintf("project %q does not exist", name)))
	case err != nil:
		return project, new(unavailable(fmt.Errorf("project %q could not be looked up, try again: %w", name, err)))
	}
	if refusal := project.refusal(); refusal != "" {
		return project, new(admission.Denied(refusal))
	}
	return project, nil
}

// warnings name what is accepted but will not work well. A quota that cannot be read gives no warning.
func (v *Workloads) warnings(ctx context.Context, project Project, workload *v1alpha.Workload) []string {
	warnings := validation.Warnings(workload)
	limit, known, err := v.Projects.InstanceAllowance(ctx, project)
	if err != nil || !known {
		return warnings
	}
	var asked int64
	for i := range workload.Spec.Placements {
		placement := &workload.Spec.Placements[i]
		asked += int64(len(placement.CityCodes)) * int64(placement.ScaleSettings.MinReplicas)
	}
	if asked > limit {
		warnings = append(warnings, fmt.Sprintf("%d Instances are asked for and the project's quota is %d: what exceeds it waits until the quota is raised", asked, limit))
	}
	return warnings
}

// decode reads the Workload of a request and, on an update, the one that it replaces.
func decode(request admission.Request) (workload, before *v1alpha.Workload, err error) {
	if request.Kind.Group != v1alpha.GroupVersion.Group || request.Kind.Kind != "Workload" {
		return nil, nil, fmt.Errorf("kind %s of group %q is not validated here; correct the rules of the "+
			"ValidatingWebhookConfiguration", request.Kind.Kind, request.Kind.Group)
	}
	if workload, err = v1alpha.DecodeWorkload(request.Object.Raw); err != nil {
		return nil, nil, fmt.Errorf("decode the Workload: %w", err)
	}
	switch request.Operation {
	case admissionv1.Create:
		return workload, nil, nil
	case admissionv1.Update:
		if before, err = v1alpha.DecodeWorkload(request.OldObject.Raw); err != nil {
			return nil, nil, fmt.Errorf("decode the Workload as it was: %w", err)
		}
		return workload, before, nil
	default:
		return nil, nil, fmt.Errorf("operation %q is not validated here; correct the rules of the "+
			"ValidatingWebhookConfiguration", request.Operation)
	}
}

// addedCity is a city that a placement did not have before.
type addedCity struct {
	path *field.Path
	code string
}

// addedCities are the cities to validate. Those that were there before are not: a withdrawn location must not block other
// changes.
func addedCities(workload, before *v1alpha.Workload) []addedCity {
	var added []addedCity
	for i := range workload.Spec.Placements {
		placement := &workload.Spec.Placements[i]
		path := field.NewPath("spec", "placements").Index(i).Child("cityCodes")
		for j, code := range placement.CityCodes {
			if !had(before, placement.Name, code) {
				added = append(added, addedCity{path: path.Index(j), code: code})
			}
		}
	}
	return added
}

// validateLocations returns a problem for every city that the project may not use. A city is refused only by a fresh
// answer: the project may have got it a moment ago.
func (v *Workloads) validateLocations(ctx context.Context, project Project, added []addedCity) (field.ErrorList, error) {
	if len(added) == 0 {
		return nil, nil
	}
	cities, err := v.Projects.CityCodes(ctx, project)
	if err != nil {
		return nil, err
	}
	if len(validateCities(added, cities)) == 0 {
		return nil, nil
	}
	if cities, err = v.Projects.FreshCityCodes(ctx, project); err != nil {
		return nil, err
	}
	return validateCities(added, cities), nil
}

// validateCities returns a problem for every added city that is not among cities.
func validateCities(added []addedCity, cities []string) field.ErrorList {
	var problems field.ErrorList
	for _, city := range added {
		if !slices.Contains(cities, strings.ToUpper(city.code)) {
			problems = append(problems, field.NotSupported(city.path, city.code, cities))
		}
	}
	return problems
}

func had(before *v1alpha.Workload, placement, city string) bool {
	if before == nil {
		return false
	}
	for i := range before.Spec.Placements {
		if before.Spec.Placements[i].Name == placement {
			return slices.ContainsFunc(before.Spec.Placements[i].CityCodes, func(c string) bool { return strings.EqualFold(c, city) })
		}
	}
	return false
}
