// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments"
	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// retryInterval is the interval in which a name that another Workload has, or a kind that the hub does not serve, is
// tried again.
const retryInterval = 30 * time.Second

// startInterval is the interval in which a Workload waits for the first answer of the hub about its DNSEndpoints.
const startInterval = time.Second

// lateInterval is when a reconcile with a late cache is repeated.
const lateInterval = time.Second

// Reconcile brings the DNSEndpoints of a Workload up to date, and reports its names.
func (r *Reconciler) Reconcile(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	project, err := projects.Find(ctx, r.Projects, request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !r.Records.known() {
		return reconcile.Result{RequeueAfter: startInterval}, nil
	}
	s := &scope{Reconciler: r, request: request, project: project, client: project.GetClient(), workload: &v1alpha.Workload{}}
	for _, step := range []func(context.Context) error{s.load, s.release, s.ask, s.keepAll, s.report} {
		if err := step(ctx); err != nil {
			return s.requeueAfter.Result(), err
		}
	}
	return s.requeueAfter.Result(), errors.Join(s.failed...)
}

// fail reports a name that the hub has not stored or deleted, and repeats the reconcile. It returns a conflict: the next
// reconcile reads the newest version.
func (s *scope) fail(err error, reported *state) error {
	if apierrors.IsConflict(err) {
		return err
	}
	if wire.IsUnserved(err) {
		not := s.notServed()
		not.name, not.holds = reported.name, reported.holds
		s.found = append(s.found, not)
		return nil
	}
	s.failed = append(s.failed, err)
	// Other errors have texts that differ each time.
	answer := "not stored; the log of the add-on has the cause"
	if status := apierrors.APIStatus(nil); errors.As(err, &status) && status.Status().Message != "" {
		answer = status.Status().Message
	}
	reported.reason, reported.message = v1alpha.ReasonNamesNotWritten, reported.name+": "+answer
	s.found = append(s.found, *reported)
	return nil
}

// load reads the Workload, the endpoints of its cities and its DNSEndpoints.
func (s *scope) load(ctx context.Context) error {
	if err := s.client.Get(ctx, s.request.NamespacedName, s.workload); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get the Workload: %w", err)
	}
	s.wishes = s.Settings.wishes(s.workload, s.project.Name)
	if len(s.wishes) > 0 {
		var list v1alpha.WorkloadDeploymentList
		err := s.client.List(ctx, &list, client.InNamespace(s.request.Namespace), byWorkload.Value(string(s.workload.UID)))
		if err != nil {
			return fmt.Errorf("list the Workload's deployments: %w", err)
		}
		if s.switching, err = s.switches(ctx, s.workload, list.Items); err != nil {
			return err
		}
		s.endpoints, s.wishes = withSilent(plan.Endpoints(list.Items), list.Items), s.Settings.wishes(s.workload, s.project.Name)
	}
	var err error
	origin := s.project.Origin(s.request.Namespace)
	s.existing, s.served, err = s.Records.Of(ctx, &origin, s.request.Name)
	return err
}

// switches reports whether the exposure of a Workload changes. A Workload that keeps the one that its cells have gets it in
// memory, and its names stay.
func (s *scope) switches(ctx context.Context, workload *v1alpha.Workload, list []v1alpha.WorkloadDeployment) (bool, error) {
	byName := plan.ByName(list)
	_, err := deployments.KeepExposure(ctx, s.Lacking, workload, byName)
	return plan.FormerExposure(workload, byName) != "", err
}

// release deletes the DNSEndpoints of names that the Workload does not have any more, or that an earlier Workload of its
// name had.
func (s *scope) release(ctx context.Context) error {
	for i := range s.existing {
		record := &s.existing[i]
		if !s.switching && isWished(s.wishes, record) && s.owns(record) || !record.GetDeletionTimestamp().IsZero() {
			continue
		}
		if keeps, err := s.mayKeep(ctx, record); keeps || err != nil {
			return err
		}
		uid := record.GetUID()
		if err := s.Hub.Delete(ctx, record, client.Preconditions{UID: &uid}); err != nil && !wire.IsMissing(err, record.GetName()) {
			err = fmt.Errorf("delete DNSEndpoint %s of a name that the Workload does not have: %w", record.GetName(), err)
			if err := s.fail(err, &state{name: record.GetName()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// isWished reports whether wishes have the name of a DNSEndpoint.
func isWished(wishes []wish, record *unstructured.Unstructured) bool {
	return slices.ContainsFunc(wishes, func(w wish) bool { return w.name == record.GetName() && w.refusal == "" })
}

// mayKeep reports whether the Workload may have the name of a DNSEndpoint: by the API server of the project it has the name, and
// the cache is stale, or Milo does not have the project, so that the project's answer proves nothing. The names of a project
// that is gone are deleted with its hub namespace.
func (s *scope) mayKeep(ctx context.Context, record *unstructured.Unstructured) (bool, error) {
	stored, reader := &v1alpha.Workload{}, s.project.GetAPIReader()
	err := reader.Get(ctx, s.request.NamespacedName, stored)
	if wire.IsMissing(err, s.request.Name) {
		s.requeueAfter.AtMost(retryInterval)
		answer, err := s.Owners.Verdict(ctx, ownership.Key{Project: s.project.Name, ProjectUID: s.project.UID})
		return answer.Verdict != ownership.Wanted, err
	}
	if err != nil {
		return false, fmt.Errorf("get the Workload, before its name %s is deleted: %w", record.GetName(), err)
	}
	s.requeueAfter.AtMost(lateInterval)
	wanted := record.GetLabels()[v1alpha.LabelWorkloadUID] == string(stored.UID) &&
		isWished(s.Settings.wishes(stored, s.project.Name), record)
	if !wanted || !s.switching {
		return wanted, nil
	}
	var list v1alpha.WorkloadDeploymentList
	if err := reader.List(ctx, &list, client.InNamespace(s.request.Namespace),
		client.MatchingLabels{v1alpha.LabelWorkloadUID: string(stored.UID)}); err != nil {
		return false, fmt.Errorf("list the Workload's deployments, before its name %s is deleted: %w", record.GetName(), err)
	}
	switching, err := s.switches(ctx, stored, list.Items)
	return !switching, err
}

// keepAll brings the DNSEndpoint of each name up to date.
func (s *scope) keepAll(ctx context.Context) error {
	for _, wanted := range s.wishes {
		found, err := s.keep(ctx, wanted)
		if err != nil {
			if err := s.fail(err, &state{name: wanted.name, holds: s.ownRecord(wanted.name) != nil}); err != nil {
				return err
			}
			continue
		}
		found.name = wanted.name
		s.found = append(s.found, s.withRecord(found))
	}
	return nil
}

// keep brings the DNSEndpoint of a name up to date, and returns the state of the name.
func (s *scope) keep(ctx context.Context, wanted wish) (state, error) {
	if wanted.refusal != "" {
		return state{reason: v1alpha.ReasonNameNotAllowed, message: wanted.name + ": " + wanted.refusal}, nil
	}
	if !s.served {
		return s.notServed(), nil
	}
	if s.switching {
		return state{
			reason:  v1alpha.ReasonNamesPending,
			message: "the exposure changes; the names return when traffic has left the former addresses",
		}, nil
	}
	existing, endpoints := s.ownRecord(wanted.name), routing(s.endpoints, wanted.name)
	facts := make([]fact, len(endpoints))
	for i := range endpoints {
		facts[i] = s.asked(&endpoints[i], wanted.name)
	}
	decided := s.decide(facts, answered(existing), s.Clock.Now())
	if decided.wait > 0 {
		s.requeueAfter.AtMost(decided.wait)
	}
	var stored spec
	if existing != nil {
		stored = specOf(existing)
	}
	cities := decided.answer(endpoints, stored)
	result := state{holds: true, missingSince: s.missing(existing)}
	result.reason, result.message = decided.describe()
	switch {
	case len(cities) == 0 && existing == nil:
		return state{reason: v1alpha.ReasonNamesPending, message: "no city has served yet"}, nil
	case len(cities) == 0 || !decided.serves && slices.Equal(decided.cities(), slices.Sorted(slices.Values(answered(existing)))):
		return result, s.mark(ctx, existing, result.missingSince)
	}
	problem, err := s.write(ctx, answerOf{wanted.name, cities, decided.unreachable(), result.missingSince}, existing)
	if problem.reason == "" || problem.holds && !decided.serves {
		return result, err
	}
	return problem, err
}

// notServed is the state of a name while the hub does not serve the kind.
func (s *scope) notServed() state {
	s.requeueAfter.AtMost(retryInterval)
	return state{reason: v1alpha.ReasonNamesNotServed, message: "the hub does not serve DNSEndpoint of externaldns.k8s.io; " +
		"status.endpoints has the addresses of the cities that serve"}
}

// answerOf is the answer of a name.
type answerOf struct {
	name   string
	cities []v1alpha.CityEndpoint
	// unreachable are the cities that are left out because their addresses do not answer.
	unreachable []string
	// missingSince is since when the zone has none of the addresses.
	missingSince string
}

// write writes the DNSEndpoint of a name with the addresses of cities, if it differs. It returns the state of a name that does not have
// all of them.
func (s *scope) write(ctx context.Context, answer answerOf, existing *unstructured.Unstructured) (state, error) {
	name := answer.name
	records, leftOut := s.records(name, answer.cities)
	codes := slices.DeleteFunc(citiesOf(answer.cities), func(city string) bool { return slices.Contains(leftOut, city) })
	if len(records) == 0 && existing == nil {
		return s.leftOut(name, nil, leftOut), nil
	}
	desired, err := s.desired(ctx, name, records, map[string]string{
		v1alpha.AnnotationNameCities: strings.Join(codes, ","), v1alpha.AnnotationNameUnreachable: strings.Join(answer.unreachable, ","),
		v1alpha.AnnotationNameMissing: answer.missingSince,
	})
	if err != nil {
		return state{}, err
	}
	if existing == nil {
		holder, refused, err := apply.Claim(ctx, s.Hub, s.APIReader, FieldManager, desired)
		switch {
		case errors.Join(refused, err) != nil:
			return state{}, fmt.Errorf("create DNSEndpoint %s: %w", name, cmp.Or(refused, err))
		case holder != nil && s.owns(holder):
			// The cache has not seen it yet.
			s.existing = append(s.existing, *holder)
			return s.keep(ctx, wish{name: name})
		case holder != nil:
			s.requeueAfter.AtMost(retryInterval)
			return state{reason: v1alpha.ReasonNameTaken, message: name + ": " + s.holder(holder)}, nil
		}
	} else if err := s.update(ctx, existing, desired); err != nil {
		return state{}, err
	}
	if len(leftOut) > 0 {
		return s.leftOut(name, codes, leftOut), nil
	}
	return state{}, nil
}

// leftOut is the state of a name that lacks the addresses of cities; codes are the others.
func (s *scope) leftOut(name string, codes, leftOut []string) state {
	has := fmt.Sprintf("%s has the addresses of %s alone", name, strings.Join(codes, ", "))
	if len(codes) == 0 {
		has = name + " is the apex of a zone, which can be no alias, and has no address"
	}
	return state{holds: s.ownRecord(name) != nil || len(codes) > 0, reason: v1alpha.ReasonCityLeftOut, message: fmt.Sprintf(
		"%s: the load balancers of %s have host names as addresses", has, strings.Join(leftOut, ", "))}
}

// ownRecord is the DNSEndpoint of a name that the Workload has, or nil.
func (s *scope) ownRecord(name string) *unstructured.Unstructured {
	for i := range s.existing {
		if record := &s.existing[i]; record.GetName() == name && s.owns(record) {
			return record
		}
	}
	return nil
}

// labels are the labels of the DNSEndpoints of the Workload.
func (s *scope) labels() map[string]string {
	result := s.project.Origin(s.workload.Namespace).Labels()
	result[v1alpha.LabelWorkloadUID], result[v1alpha.LabelWorkloadName] = string(s.workload.UID), s.workload.Name
	return result
}

// owns reports whether a DNSEndpoint has the labels of the Workload. Only the add-on can write them.
func (s *scope) owns(record *unstructured.Unstructured) bool {
	present := record.GetLabels()
	for key, value := range s.labels() {
		if present[key] != value {
			return false
		}
	}
	return true
}

// desired builds a DNSEndpoint. Its owner is the hub namespace of the Workload, so that the hub deletes it with the last
// of what the project's namespace has there, also while no replica has the project.
func (s *scope) desired(
	ctx context.Context, name string, records []endpoint, annotations map[string]string,
) (*unstructured.Unstructured, error) {
	owner, err := s.hubNamespace(ctx)
	if err != nil {
		return nil, err
	}
	record := newRecord()
	record.SetNamespace(s.Records.Namespace)
	// The API server has one object of this name: no two Workloads can have it.
	record.SetName(name)
	record.SetLabels(s.labels())
	maps.Copy(annotations, s.project.Origin(s.workload.Namespace).Annotations())
	record.SetAnnotations(annotations)
	record.SetOwnerReferences([]metav1.OwnerReference{
		{APIVersion: "v1", Kind: "Namespace", Name: owner.Name, UID: owner.UID},
	})
	return record, setSpec(record, &spec{Endpoints: records})
}

// hubNamespace is the hub namespace of the Workload. A Workload with a city that serves has one.
func (s *scope) hubNamespace(ctx context.Context) (*corev1.Namespace, error) {
	origin := s.project.Origin(s.workload.Namespace)
	uid, err := s.Namespaces.Guess(ctx, origin, s.project.GetAPIReader())
	if err != nil {
		return nil, err
	}
	namespace := &corev1.Namespace{}
	if err := s.Hub.Get(ctx, client.ObjectKey{Name: origin.HubNamespace(uid)}, namespace); err != nil {
		return nil, fmt.Errorf("get the hub namespace of the Workload: %w", err)
	}
	if !origin.Owns(namespace, uid) {
		return nil, fmt.Errorf("namespace %s of the hub lacks the labels of the Workload's project; its names are not written", namespace.Name)
	}
	return namespace, nil
}

// holder describes who has a name. It names no object of another project.
func (s *scope) holder(record *unstructured.Unstructured) string {
	present := record.GetLabels()
	switch {
	case present[v1alpha.LabelWorkloadUID] == "":
		return "the hub has a DNSEndpoint of this name that the add-on did not create"
	case present[v1alpha.LabelProjectUID] != string(s.project.UID):
		return "a Workload of another project has the name"
	}
	return fmt.Sprintf("Workload %s/%s has the name", present[v1alpha.LabelProjectNamespace], present[v1alpha.LabelWorkloadName])
}

// update applies what differs. It fails with a conflict if the DNSEndpoint is not the one that was read.
func (s *scope) update(ctx context.Context, existing, desired *unstructured.Unstructured) error {
	have, want := specOf(existing), specOf(desired)
	if equality.Semantic.DeepEqual(have, want) && equality.Semantic.DeepEqual(existing.GetOwnerReferences(), desired.GetOwnerReferences()) &&
		slices.Equal(answered(existing), answered(desired)) && slices.Equal(unreachableOf(existing), unreachableOf(desired)) &&
		missingOf(existing) == missingOf(desired) {
		return nil
	}
	desired.SetUID(existing.GetUID())
	desired.SetResourceVersion(existing.GetResourceVersion())
	err := s.Hub.Apply(ctx, client.ApplyConfigurationFromUnstructured(desired), client.FieldOwner(FieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("apply DNSEndpoint %s: %w", desired.GetName(), err)
	}
	return nil
}
