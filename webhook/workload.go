// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// WorkloadPath is where Workloads are validated; configuration.yaml names it too.
const WorkloadPath = "/validate-workload"

// ErrProjectNotFound says that Milo does not know a project.
var ErrProjectNotFound = errors.New("project not found")

// Project is what admission wants to know of a project.
type Project struct {
	// Deleting says that the project is being deleted.
	Deleting bool
	// Suspended says that the project is suspended.
	Suspended bool
}

// Projects answers for any project, on every replica.
type Projects interface {
	// Project returns a project, or ErrProjectNotFound. Any other error says that Milo could not be asked.
	Project(ctx context.Context, name string) (Project, error)
	// CityCodes are the cities that the project may use now: upper case, sorted, each once.
	CityCodes(ctx context.Context, project string) ([]string, error)
}

// Workloads validates Workloads. It is safe for concurrent use.
type Workloads struct {
	// Projects are looked up.
	Projects Projects
}

// Handle answers one admission request.
func (v *Workloads) Handle(ctx context.Context, request admission.Request) admission.Response {
	workload, before, err := decode(request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	// What does not change the spec needs no permission of anybody: finalizers come and go whatever Milo says, and so
	// does what is being deleted.
	if before != nil && (!workload.DeletionTimestamp.IsZero() || equality.Semantic.DeepEqual(before.Spec, workload.Spec)) {
		return admission.Allowed("")
	}
	name, err := projectOf(request.UserInfo)
	if err != nil {
		return admission.Denied(err.Error())
	}
	project, err := v.Projects.Project(ctx, name)
	switch {
	case errors.Is(err, ErrProjectNotFound):
		return admission.Denied(fmt.Sprintf("project %q does not exist", name))
	case err != nil:
		return admission.Errored(http.StatusServiceUnavailable, fmt.Errorf("project %q could not be looked up, try again: %w", name, err))
	case project.Deleting:
		return admission.Denied(fmt.Sprintf("project %q is being deleted", name))
	case project.Suspended:
		return admission.Denied(fmt.Sprintf("project %q is suspended", name))
	}
	cities, err := v.Projects.CityCodes(ctx, name)
	if err != nil {
		return admission.Errored(http.StatusServiceUnavailable, fmt.Errorf("locations of project %q could not be looked up, try again: %w", name, err))
	}
	problems := append(validateCities(workload, before, cities), validateMetrics(workload)...)
	if len(problems) > 0 {
		return refused(workload, problems)
	}
	return admission.Allowed("")
}

func decode(request admission.Request) (workload, before *v1alpha.Workload, err error) {
	workload = &v1alpha.Workload{}
	if err := json.Unmarshal(request.Object.Raw, workload); err != nil {
		return nil, nil, fmt.Errorf("decode the Workload: %w", err)
	}
	if request.Operation == admissionv1.Update {
		before = &v1alpha.Workload{}
		if err := json.Unmarshal(request.OldObject.Raw, before); err != nil {
			return nil, nil, fmt.Errorf("decode the Workload as it was: %w", err)
		}
	}
	return workload, before, nil
}

// validateCities refuses cities that the project may not use. A city that the placement had before passes: a location
// that was withdrawn must not keep anybody from changing something else.
func validateCities(workload, before *v1alpha.Workload, cities []string) field.ErrorList {
	var problems field.ErrorList
	for i := range workload.Spec.Placements {
		placement := &workload.Spec.Placements[i]
		path := field.NewPath("spec", "placements").Index(i).Child("cityCodes")
		for j, city := range placement.CityCodes {
			if !slices.Contains(cities, strings.ToUpper(city)) && !had(before, placement.Name, city) {
				problems = append(problems, field.NotSupported(path.Index(j), city, cities))
			}
		}
	}
	return problems
}

// validateMetrics refuses targets that are not positive: the schema cannot compare quantities.
func validateMetrics(workload *v1alpha.Workload) field.ErrorList {
	var problems field.ErrorList
	for i := range workload.Spec.Placements {
		path := field.NewPath("spec", "placements").Index(i).Child("scaleSettings", "metrics")
		for j, metric := range workload.Spec.Placements[i].ScaleSettings.Metrics {
			if metric.Resource == nil {
				continue
			}
			target := path.Index(j).Child("resource", "target")
			if value := metric.Resource.Target.Value; value != nil && value.Sign() <= 0 {
				problems = append(problems, field.Invalid(target.Child("value"), value.String(), "must be positive"))
			}
			if value := metric.Resource.Target.AverageValue; value != nil && value.Sign() <= 0 {
				problems = append(problems, field.Invalid(target.Child("averageValue"), value.String(), "must be positive"))
			}
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

func refused(workload *v1alpha.Workload, problems field.ErrorList) admission.Response {
	status := apierrors.NewInvalid(v1alpha.GroupVersion.WithKind("Workload").GroupKind(), workload.Name, problems).Status()
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Allowed: false, Result: &status}}
}
