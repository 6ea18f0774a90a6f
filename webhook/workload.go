// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
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
		return failed(http.StatusBadRequest, metav1.StatusReasonBadRequest, err)
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
		return unavailable(fmt.Errorf("project %q could not be looked up, try again: %w", name, err))
	case project.Deleting:
		return admission.Denied(fmt.Sprintf("project %q is being deleted", name))
	case project.Suspended:
		return admission.Denied(fmt.Sprintf("project %q is suspended", name))
	}
	problems := validateMetrics(workload)
	if added := addedCities(workload, before); len(added) > 0 {
		cities, err := v.Projects.CityCodes(ctx, name)
		if err != nil {
			return unavailable(fmt.Errorf("locations of project %q could not be looked up, try again: %w", name, err))
		}
		problems = append(validateCities(added, cities), problems...)
	}
	if len(problems) > 0 {
		return refused(workload, problems)
	}
	return admission.Allowed("")
}

// decode reads the Workload that is to be written and, on an update, what it is to replace. Field names are matched
// as the API server matches them, case and all.
func decode(request admission.Request) (workload, before *v1alpha.Workload, err error) {
	if request.Kind.Group != v1alpha.GroupVersion.Group || request.Kind.Kind != "Workload" {
		return nil, nil, fmt.Errorf("kind %s of group %q is not validated here; correct the rules of the "+
			"ValidatingWebhookConfiguration", request.Kind.Kind, request.Kind.Group)
	}
	workload = &v1alpha.Workload{}
	if err := json.Unmarshal(request.Object.Raw, workload); err != nil {
		return nil, nil, fmt.Errorf("decode the Workload: %w", err)
	}
	switch request.Operation {
	case admissionv1.Create:
		return workload, nil, nil
	case admissionv1.Update:
		before = &v1alpha.Workload{}
		if err := json.Unmarshal(request.OldObject.Raw, before); err != nil {
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

// addedCities are the only ones to look at: a location that was withdrawn must not keep anybody from changing
// something else.
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

// validateCities refuses cities that the project may not use.
func validateCities(added []addedCity, cities []string) field.ErrorList {
	var problems field.ErrorList
	for _, city := range added {
		if !slices.Contains(cities, strings.ToUpper(city.code)) {
			problems = append(problems, field.NotSupported(city.path, city.code, cities))
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

// unavailable is no denial: the user did nothing wrong and may try again.
func unavailable(err error) admission.Response {
	return failed(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err)
}

func failed(code int32, reason metav1.StatusReason, err error) admission.Response {
	response := admission.Errored(code, err)
	response.Result.Reason = reason
	return response
}
