// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/webhook"
)

// projects implements webhook.Projects for the given projects.
type projects struct {
	known map[string]webhook.Project
	// fresh are the projects that have changed since they were known.
	fresh map[string]webhook.Project
	// age of the cities.
	age time.Duration
	// refuse are the names of objects that no user may use.
	refuse map[string]bool
	// asked receives every review, unless it is nil.
	asked chan authorizationv1.SubjectAccessReviewSpec
	// written receives every review of a write, unless it is nil.
	written chan authorizationv1.SubjectAccessReviewSpec
	// allowance of Instances, if not zero.
	allowance int64
	// instances is the number of Instances that the project has.
	instances int64
	// bytes is the size of its Workloads.
	bytes int64
	// reserved is the last reservation.
	reserved templates.Reservation
}

func newProjects() *projects {
	p := &projects{refuse: map[string]bool{}, known: map[string]webhook.Project{
		"north": {Ready: true}, "dark": {Ready: true}, "mute": {Ready: true}, "stale": {Ready: true},
		"going": {Ready: true, Deleting: true, Suspended: true}, "asleep": {Suspended: true}, "new": {}, "away": {Suspended: true},
		"unlimited": {Ready: true}, "bare": {Ready: true},
	}}
	for name, project := range p.known {
		project.Name, project.UID = name, "uid"
		p.known[name] = project
	}
	return p
}

var (
	errUnreachable = errors.New("Milo cannot be reached")
	// errOwnFault is a fault of this replica alone.
	errOwnFault = apierrors.NewInternalError(errors.New("Milo does not accept the credentials of this replica"))
)

func (p *projects) Project(ctx context.Context, name string) (webhook.Project, error) {
	switch name {
	case "unreachable":
		return webhook.Project{}, errUnreachable
	case "refused":
		return webhook.Project{}, errOwnFault
	case "slow":
		<-ctx.Done()
		return webhook.Project{}, fmt.Errorf("%w: %w", errUnreachable, ctx.Err())
	}
	project, ok := p.known[name]
	if !ok {
		return webhook.Project{}, webhook.ErrProjectNotFound
	}
	return project, nil
}

func (p *projects) FreshProject(ctx context.Context, name string) (webhook.Project, error) {
	if project, ok := p.fresh[name]; ok {
		return project, nil
	}
	if name == "away" {
		return webhook.Project{}, errUnreachable
	}
	return p.Project(ctx, name)
}

func (p *projects) Locations(_ context.Context, project webhook.Project) ([]cities.Location, time.Duration, error) {
	switch project.Name {
	case "dark":
		return nil, 0, errUnreachable
	case "stale":
		return nil, 0, errOwnFault
	case "bare":
		return nil, 0, fmt.Errorf("look them up: %w", cities.ErrLocationsNotServed)
	}
	return []cities.Location{location("dfw-1", "DFW", "us"), location("ord-1", "ORD", "us")}, p.age, nil
}

// FreshLocations has more locations than Locations.
func (p *projects) FreshLocations(ctx context.Context, project webhook.Project) ([]cities.Location, error) {
	if p.age > 0 {
		return nil, errUnreachable
	}
	locations, _, err := p.Locations(ctx, project)
	unavailable := location("syd-1", "SYD", "ap")
	unavailable.Available = false
	return append(locations, location("new-1", "NEW", "new"), location("two-1", "TWO", "two"),
		location("two-2", "TWO", "two"), unavailable), err
}

func location(name, city, region string) cities.Location {
	return cities.Location{Name: name, City: city, Available: true, Topology: map[string]string{"topology.datum.net/region": region}}
}

func (p *projects) Review(
	_ context.Context, project webhook.Project, review authorizationv1.SubjectAccessReviewSpec,
) (bool, string, error) {
	if p.asked != nil {
		p.asked <- review
	}
	if project.Name == "mute" {
		return false, "", errUnreachable
	}
	if p.refuse[review.ResourceAttributes.Name] {
		return false, "not yours", nil
	}
	return true, "", nil
}

// MayWrite applies the permissions of the user's groups: a member of "team" may write in every project.
func (p *projects) MayWrite(ctx context.Context, project webhook.Project, review authorizationv1.SubjectAccessReviewSpec) (bool, error) {
	if project.Name == "mute" {
		return false, errUnreachable
	}
	if p.written != nil {
		p.written <- review
	}
	return slices.Contains(review.Groups, "team") || slices.Contains(review.Groups, review.ResourceAttributes.Verb+"ers"), nil
}

func (p *projects) InstanceAllowance(ctx context.Context, project webhook.Project) (int64, bool, error) {
	switch project.Name {
	case "dark":
		return 0, false, errUnreachable
	case "unlimited":
		<-ctx.Done()
		return 0, false, ctx.Err()
	}
	return p.allowance, p.allowance > 0, nil
}

func (p *projects) Reserve(_ context.Context, project webhook.Project, reservation templates.Reservation) (templates.Demand, error) {
	if project.Name == "dark" {
		return templates.Demand{}, errUnreachable
	}
	p.reserved = reservation
	return reservation.More.Plus(templates.Demand{Instances: p.instances, Bytes: p.bytes}), nil
}

func workloads(p *projects) *webhook.Workloads {
	return &webhook.Workloads{Projects: p, Features: webhook.NewFeatureGate()}
}

func inProject(name string) map[string]authenticationv1.ExtraValue {
	return map[string]authenticationv1.ExtraValue{
		"iam.miloapis.com/parent-api-group": {"resourcemanager.miloapis.com"},
		"iam.miloapis.com/parent-type":      {"Project"},
		"iam.miloapis.com/parent-name":      {name},
	}
}

func with(extra map[string]authenticationv1.ExtraValue, key string, values ...string) map[string]authenticationv1.ExtraValue {
	extra["iam.miloapis.com/"+key] = values
	return extra
}

// workload is valid if its cities are.
func workload(cities ...string) *v1alpha.Workload {
	return &v1alpha.Workload{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec: v1alpha.WorkloadSpec{
			Template: v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{
				Runtime: v1alpha.InstanceRuntimeSpec{
					Resources: v1alpha.InstanceRuntimeResources{InstanceType: "datumcloud/d1-standard-2"},
					Sandbox: &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{
						Name: "app", Image: "docker.io/library/nginx:1.27",
					}}},
				},
				NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "default"}}},
			}},
			Placements: []v1alpha.WorkloadPlacement{{
				Name: "main", CityCodes: cities, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1},
			}},
		},
	}
}

func changed(w *v1alpha.Workload, change func(*v1alpha.Workload)) *v1alpha.Workload {
	change(w)
	return w
}

func deleting(w *v1alpha.Workload) {
	now := metav1.Now()
	w.DeletionTimestamp = &now
}

// creation is a request to create a Workload in project north.
func creation(t *testing.T, workload *v1alpha.Workload) admission.Request {
	t.Helper()
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "uid", Operation: admissionv1.Create, Namespace: "default", Object: raw(t, workload),
		Kind:     metav1.GroupVersionKind{Group: "compute.datumapis.com", Version: "v1alpha", Kind: "Workload"},
		UserInfo: authenticationv1.UserInfo{Username: "consumer", UID: "7", Groups: []string{"team"}, Extra: inProject("north")},
	}}
}

// update is a request to update a Workload in project north.
func update(t *testing.T, before, now *v1alpha.Workload) admission.Request {
	t.Helper()
	request := creation(t, now)
	request.Operation, request.OldObject = admissionv1.Update, raw(t, before)
	return request
}

// send sends bytes to a handler as an API server does.
func send(handler admission.Handler, body []byte) (*admissionv1.AdmissionResponse, error) {
	request := httptest.NewRequestWithContext(context.Background(), http.MethodPost, webhook.ValidatePath, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	(&admission.Webhook{Handler: handler}).ServeHTTP(recorder, request)
	var answer admissionv1.AdmissionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Response == nil {
		return nil, fmt.Errorf("the answer is no AdmissionReview: %q: %w", recorder.Body, err)
	}
	return answer.Response, nil
}

func raw(t *testing.T, obj any) runtime.RawExtension {
	t.Helper()
	encoded, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: encoded}
}
