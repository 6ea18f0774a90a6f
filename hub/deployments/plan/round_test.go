// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
	"github.com/karmada-compute/karmada-compute/hub/instancetypes"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

// round is one reconcile: as hub/deployments it reads the facts, makes a plan, makes its writes and sums up what they leave.
type round struct {
	*fixture
	facts *plan.Facts
	// deployments are the Workload's as they are stored.
	deployments map[string]*v1alpha.WorkloadDeployment
	// first: the template is the Workload's first one, and is not recorded yet.
	first bool
	// ended: the event of a write is the next fact.
	ended bool
}

// once is one round. It returns after what time another one is due without an event.
func (f *fixture) once(t *testing.T) (time.Duration, error) {
	t.Helper()
	workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	if !f.read(t, workload) {
		return 0, nil
	}
	r := &round{fixture: f, deployments: map[string]*v1alpha.WorkloadDeployment{}}
	for _, name := range f.namesOf(v1alpha.KindWorkloadDeployment) {
		if d := f.readDeployment(t, name); d.Labels[v1alpha.LabelWorkloadUID] == string(workload.UID) {
			r.deployments[name] = d
		}
	}
	if err := r.readFacts(t, workload); err != nil {
		return 0, err
	}
	next, err := r.plan(t)
	if err != nil {
		return 0, err
	}
	for i := range next.Writes {
		if r.write(t, &next.Writes[i]); r.ended {
			return 0, nil
		}
	}
	summary, err := next.Status(r.deployments)
	if err != nil {
		return 0, err
	}
	r.writeStatus(t, &summary)
	if !workload.DeletionTimestamp.IsZero() && len(r.deployments) == 0 {
		change(t, f, workload, func(w *v1alpha.Workload) {
			w.Finalizers = slices.DeleteFunc(w.Finalizers, func(finalizer string) bool { return finalizer == v1alpha.FinalizerWorkload })
		})
	}
	return summary.Again.Result().RequeueAfter, nil
}

// plan makes a plan, which changes none of its facts.
func (r *round) plan(t *testing.T) (*plan.Plan, error) {
	t.Helper()
	before := *r.facts
	before.Workload, before.Deployments = before.Workload.DeepCopy(), map[string]*v1alpha.WorkloadDeployment{}
	for name, d := range r.facts.Deployments {
		before.Deployments[name] = d.DeepCopy()
	}
	next, err := plan.Make(r.facts)
	r.planned = next
	if !equality.Semantic.DeepEqual(before.Workload, r.facts.Workload) ||
		!equality.Semantic.DeepEqual(before.Deployments, r.facts.Deployments) {
		t.Error("the plan has changed its facts")
	}
	return next, err
}

// readFacts reads the input of a plan.
func (r *round) readFacts(t *testing.T, workload *v1alpha.Workload) error {
	t.Helper()
	f := &plan.Facts{
		Settings: plan.Settings{Drain: r.drain, Hostnames: r.hostnames}, Now: r.clock.Now(), Project: "north",
		Workload: workload, Deployments: r.deployments, Cities: r.health, Held: r.held, Room: r.room,
		Instance: func(name string) (*v1alpha.Instance, error) {
			instance := &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if !r.read(t, instance) {
				return nil, nil
			}
			return instance, nil
		},
	}
	r.facts = f
	if r.addresses != nil {
		f.Answers = sync.OnceValues(r.addresses.answer)
	}
	if !workload.DeletionTimestamp.IsZero() {
		return nil
	}
	if of := plan.CitiesOf(r.deployments); plan.KeepExposure(workload, r.deployments, r.lacking) {
		f.KeepsExposure = of
	}
	if err := f.ChooseTemplate(r.history.withHash); err != nil {
		return err
	}
	var err error
	if f.Locations, err = r.locations.list(); errors.Is(err, cities.ErrLocationsNotServed) {
		f.Unlocated = err
	} else if err != nil {
		return err
	}
	r.readNames(t)
	r.readType()
	r.readNetworks()
	r.readRevision(t)
	return nil
}

// readNames finds the deployments of others that have names of wanted ones.
func (r *round) readNames(t *testing.T) {
	t.Helper()
	r.facts.Taken = map[string]*v1alpha.WorkloadDeployment{}
	for _, name := range plan.Names(r.facts) {
		other := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Name: name}}
		switch {
		case r.deployments[name] != nil || !r.read(t, other):
		case other.Spec.WorkloadRef.UID == r.facts.Workload.UID:
			r.deployments[name] = other
		default:
			r.facts.Taken[name] = other
		}
	}
}

// readType looks up the instance type of the Workload.
func (r *round) readType() {
	spelled, known := r.facts.Workload.Spec.Template.Spec.Runtime.Resources.InstanceType, r.types
	of := &r.facts.Type
	of.OfDefault, of.Unchecked = spelled == "", known == nil
	of.Name = v1alpha.InstanceTypeName(cmp.Or(spelled, r.defaultType))
	if of.Unchecked {
		return
	}
	of.Grace = typeGrace
	answer := known.known
	if known.err == nil && v1alpha.FindInstanceType(answer, of.Name) == nil {
		answer = known.now
	}
	notServed := errors.Is(known.err, instancetypes.ErrNotServed)
	of.Answered(answer, known.err, notServed)
	if !of.Unchecked && of.Err == nil && of.Found != nil && plan.TakesSize(r.facts) {
		of.Answered(known.now, known.err, notServed)
	}
}

// readNetworks finds the networks that the template names and that the project lacks.
func (r *round) readNetworks() {
	interfaces := r.facts.Workload.Spec.Template.Spec.NetworkInterfaces
	for i := range interfaces {
		of := &interfaces[i].Network
		if slices.Contains(r.networks.missing, of.Name) {
			r.facts.MissingNetworks = append(r.facts.MissingNetworks, types.NamespacedName{
				Namespace: cmp.Or(of.Namespace, namespace), Name: of.Name,
			})
		}
	}
}

// readRevision records the template of the Workload, if it has its own one in memory, and reads its number.
func (r *round) readRevision(t *testing.T) {
	t.Helper()
	f := r.facts
	if before := f.Workload.Status.Rollout; before != nil && before.TemplateHash == f.Template.Written {
		f.Revision = before.Revision
		return
	}
	if f.Template.Target != f.Template.Written || len(f.Unread) > 0 {
		return
	}
	if f.Workload.Status.Rollout == nil && f.Workload.Generation == 1 {
		f.Revision, r.first = 1, true
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.deployments)) {
		template := &r.deployments[name].Spec.Template
		if hash := simulated.Hash(t, template); hash != f.Template.Written && r.history[hash] == nil {
			r.record(t, template, r.history.newest()+1)
		}
	}
	if recorded := r.history[f.Template.Written]; recorded == nil || recorded.Revision != r.history.newest() {
		r.record(t, &f.Workload.Spec.Template, r.history.newest()+1)
	}
	f.Revision = r.history.newest()
}

func (r *round) record(t *testing.T, template *v1alpha.InstanceTemplateSpec, number int64) {
	t.Helper()
	written, data := templates.WithoutSnapshots(template.DeepCopy())
	r.history[simulated.Hash(t, template)] = &v1alpha.WorkloadRevisionSpec{
		Revision: number, Template: *written.DeepCopy(), Data: slices.Clone(data),
	}
	r.writes = append(r.writes, "apply WorkloadRevision")
}

// write makes one write of a plan.
func (r *round) write(t *testing.T, w *plan.Write) {
	t.Helper()
	switch stored := r.deployments[w.Name]; w.Kind {
	case plan.Record:
		r.annotate(t, stored, func(d *v1alpha.WorkloadDeployment) {
			d.Annotations = maps.Clone(d.Annotations)
			maps.Copy(d.Annotations, w.Annotations)
		})
	case plan.Offer:
		r.annotate(t, stored, func(d *v1alpha.WorkloadDeployment) { d.Annotations = w.Annotations })
	case plan.Choose:
		r.ended = true
		changeStatus(t, r.fixture, r.readWorkload(t), func(workload *v1alpha.Workload) { w.Into(&workload.Status) })
		r.wrote("choose", r.facts.Workload)
	case plan.Divide:
		r.ended = true
		changeStatus(t, r.fixture, r.readWorkload(t), func(workload *v1alpha.Workload) { workload.Status.Disruption = w.Division })
		r.wrote("apply status", r.facts.Workload)
	case plan.Apply:
		r.apply(t, stored, w)
	case plan.AddFinalizer:
		if workload := r.facts.Workload; !slices.Contains(workload.Finalizers, v1alpha.FinalizerWorkload) {
			r.ended = true
			change(t, r.fixture, r.readWorkload(t), func(workload *v1alpha.Workload) {
				workload.Finalizers = append(workload.Finalizers, v1alpha.FinalizerWorkload)
			})
			r.wrote("patch", workload)
		}
	case plan.Delete:
		r.delete(t, stored.DeepCopy())
		r.wrote("delete", stored)
	}
}

func (r *round) annotate(t *testing.T, stored *v1alpha.WorkloadDeployment, mutate func(*v1alpha.WorkloadDeployment)) {
	t.Helper()
	r.deployments[stored.Name] = change(t, r.fixture, stored.DeepCopy(), mutate)
	r.wrote("patch", stored)
}

// apply creates a deployment, or gives a stored one its metadata and spec if they differ.
func (r *round) apply(t *testing.T, stored *v1alpha.WorkloadDeployment, w *plan.Write) {
	t.Helper()
	if stored == nil {
		desired := w.Desired.DeepCopy()
		desired.Annotations = map[string]string{v1alpha.AnnotationHubNamespace: "ns-of-" + namespace}
		desired.Finalizers = []string{v1alpha.FinalizerPropagation}
		r.deployments[w.Name] = create(t, r.fixture, desired)
		r.wrote("apply", desired)
		return
	}
	if !apply.MetadataDiffers(stored, w.Desired) && templates.Equalities.DeepEqual(stored.Spec, w.Desired.Spec) {
		return
	}
	applied := change(t, r.fixture, stored.DeepCopy(), func(d *v1alpha.WorkloadDeployment) {
		maps.Copy(d.Labels, w.Desired.Labels)
		d.OwnerReferences, d.Spec = w.Desired.OwnerReferences, w.Desired.Spec
	})
	r.wrote("apply", applied)
	if w.Note != "" && applied.Generation != stored.Generation {
		r.events = append(r.events, plan.Event{Type: corev1.EventTypeNormal, Reason: "RolloutStep", Message: w.Note})
	}
	r.deployments[w.Name] = applied
}

// writeStatus writes the status of the Workload if it differs, and the Events about it.
func (r *round) writeStatus(t *testing.T, next *plan.Summary) {
	t.Helper()
	if equality.Semantic.DeepEqual(r.facts.Workload.Status, next.Status) {
		return
	}
	if r.first {
		r.record(t, &r.facts.Workload.Spec.Template, next.Status.Rollout.Revision)
	}
	changeStatus(t, r.fixture, r.readWorkload(t), func(w *v1alpha.Workload) { w.Status = next.Status })
	r.wrote("apply status", r.facts.Workload)
	r.events = append(r.events, next.Events...)
}

// history are the templates that the Workload has had, by their hashes.
type history map[string]*v1alpha.WorkloadRevisionSpec

func (h history) newest() int64 {
	newest := int64(0)
	for _, revision := range h {
		newest = max(newest, revision.Revision)
	}
	return newest
}

// withHash returns a recorded template; nil without one.
func (h history) withHash(hash string) (*v1alpha.InstanceTemplateSpec, error) {
	revision := h[hash]
	if revision == nil {
		return nil, nil
	}
	return templates.WithSnapshots(&revision.Template, revision.Data), nil
}
