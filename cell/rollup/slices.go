// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

const (
	// startLimit is how long a slice waits for all of its Instances that start.
	startLimit = 2 * time.Second
	// startsWithin is how long an Instance may take to start. Slices do not wait for one that takes longer.
	startsWithin = 5 * time.Minute
)

// Slices is how many InstanceSlices the deployment has.
func (r *Reports) Slices() int { return r.slices }

// Slice is the report in a slice.
func (r *Reports) Slice(number int) v1alpha.InstanceReport {
	return r.summary.report(r.deployment, naming.SliceRange(number))
}

// Version differs when the report in a slice may differ: it consists of the templates that the
// hub has sent and the resource versions of its Instances. It
// costs much less than the report.
func (r *Reports) Version(number int) string {
	within, versions := naming.SliceRange(number), r.summary.templates
	var version strings.Builder
	// The same Instances have another template if the hub calls theirs so.
	version.WriteString(versions.Sent + " " + versions.SentEarlier + " ")
	for _, entry := range r.summary.within(within.First, within.Last) {
		version.WriteString(strconv.Itoa(entry.index))
		version.WriteByte('@')
		version.WriteString(entry.ResourceVersion)
		version.WriteByte(' ')
	}
	return version.String()
}

// countUnlisted counts the Instances whose slices have not arrived.
func (s *summary) countUnlisted(slices int, arrived func(slice int) bool) {
	s.unlisted = 0
	for _, entry := range s.ordered {
		if number, sliced := naming.SliceOf(entry.index); sliced && (number >= slices || !arrived(number)) {
			s.unlisted++
		}
	}
}

// report has the Instances of a range of indices.
func (s *summary) report(deployment string, within v1alpha.IndexRange) v1alpha.InstanceReport {
	instances := s.within(within.First, within.Last)
	reported := make([]wire.Instance, 0, len(instances))
	for _, entry := range instances {
		reported = append(reported, s.reported(entry.Instance))
	}
	return wire.New(deployment, reported)
}

func (s *summary) reported(instance *v1alpha.Instance) wire.Instance {
	reported := wire.Instance{
		Name:            instance.Name,
		TemplateHash:    s.templates.Reported(instance.TemplateHash()),
		SchedulingGates: instance.SchedulingGates(),
		// Without conditions of the present template nothing is reported as Ready. A Pod that still ends its requests keeps
		// its address.
		Conditions:        shortened(owned.Conditions(instance)),
		NetworkInterfaces: instance.Status.NetworkInterfaces,
		StartTime:         instance.Status.StartTime,
		Restarts:          instance.Status.Restarts,
		Containers:        instance.Status.Containers,
	}
	if instance.Status.Controller != nil {
		reported.ObservedTemplateHash = s.templates.Reported(instance.Status.Controller.ObservedTemplateHash)
		reported.DataHash = instance.Status.Controller.DataHash
	}
	return reported
}

// shortened are conditions with messages of a bounded size, so that reports have one.
func shortened(conditions []metav1.Condition) []metav1.Condition {
	result := slices.Clone(conditions)
	for i := range result {
		result[i].Message = reasons.Shorten(result[i].Message, v1alpha.MaxMessage)
	}
	return result
}

// listSlices reads the slices of the deployment that have reached the cell. They are shared with the cache.
func (s *scope) listSlices(ctx context.Context) error {
	if s.deployment.Spec.Slices == 0 {
		return nil
	}
	var list v1alpha.InstanceSliceList
	if err := s.client.List(ctx, &list, client.InNamespace(s.deployment.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the InstanceSlices of WorkloadDeployment %s: %w", client.ObjectKeyFromObject(s.deployment), err)
	}
	s.slices = map[int]*v1alpha.InstanceSlice{}
	for i := range list.Items {
		slice := &list.Items[i]
		deployment, number, ok := naming.ParseSliceName(slice.Name)
		if ok && deployment == s.deployment.Name && slice.Spec.IndexRange == naming.SliceRange(number) && slice.DeletionTimestamp.IsZero() {
			s.slices[number] = slice
		}
	}
	return nil
}

// arrived reports whether a slice of the deployment is in the cell.
func (s *scope) arrived(number int) bool { return s.slices[number] != nil }

// outdatedSlice is a slice with its wanted status.
type outdatedSlice struct {
	*v1alpha.InstanceSlice
	// starting reports that this status contains starting Instances, and that not all Instances of the slice have started.
	// wait is the time that the slice waits for them.
	starting bool
	wait     time.Duration
	// first reports that the slice has not reported anything yet.
	first bool
}

// outdatedSlices are the slices whose status differs from the wanted one, with the wanted status, slices without
// starting Instances first. An up-to-date slice is not compared again until it or one of its Instances has changed.
func (s *scope) outdatedSlices() []outdatedSlice {
	var outdated []outdatedSlice
	key := client.ObjectKeyFromObject(s.deployment)
	before, after := s.upToDate.slices(key), map[int]compared{}
	defer func() { s.upToDate.set(key, after) }()
	for number := range s.reports.Slices() {
		slice := s.slices[number]
		if slice == nil {
			continue
		}
		now := compared{slice: slice.ResourceVersion, instances: s.reports.Version(number)}
		if before[number] == now {
			after[number] = now
			continue
		}
		wanted := v1alpha.InstanceSliceStatus{
			ObservedGeneration: slice.Generation, Sequence: slice.Status.Sequence, InstanceReport: s.reports.Slice(number),
		}
		if equality.Semantic.DeepEqual(slice.Status, wanted) {
			after[number] = now
			s.pace.starting.Done(client.ObjectKeyFromObject(slice))
			continue
		}
		wanted.Sequence = next(wanted.Sequence, s.clock.Now())
		late := outdatedSlice{InstanceSlice: &v1alpha.InstanceSlice{
			ObjectMeta: metav1.ObjectMeta{Namespace: slice.Namespace, Name: slice.Name, ResourceVersion: slice.ResourceVersion},
			Status:     wanted,
		}}
		late.first = slice.Status.ObservedGeneration == 0
		// A new slice will have Instances soon.
		if late.first && len(wanted.Instances) == 0 || s.reports.starting(number, s.clock.Now()) &&
			!lost(&slice.Status.InstanceReport, &wanted.InstanceReport) {
			late.starting, late.wait = true, s.pace.starting.WaitAtMost(client.ObjectKeyFromObject(slice), startLimit)
		}
		outdated = append(outdated, late)
	}
	slices.SortStableFunc(outdated, func(a, b outdatedSlice) int { return cmp.Compare(rank(a.starting), rank(b.starting)) })
	return outdated
}

func rank(later bool) int {
	if later {
		return 1
	}
	return 0
}

// starting reports whether an Instance of a slice was created or replaced a short while ago and is about to become
// Ready.
func (r *Reports) starting(number int, now time.Time) bool {
	within := naming.SliceRange(number)
	return slices.ContainsFunc(r.summary.within(within.First, within.Last), func(entry indexed) bool {
		if owned.Superseded(entry.Instance) {
			return true
		}
		ready, since := meta.FindStatusCondition(entry.Status.Conditions, v1alpha.ConditionReady), entry.CreationTimestamp.Time
		if ready != nil && ready.LastTransitionTime.After(since) {
			since = ready.LastTransitionTime.Time
		}
		if owned.Ready(entry.Instance) || !entry.DeletionTimestamp.IsZero() || now.Sub(since) > startsWithin {
			return false
		}
		return ready == nil || ready.Reason == v1alpha.ReasonProvisioning || ready.Reason == v1alpha.ReasonUnschedulable
	})
}

// lost reports whether after has fewer Instances, or fewer Ready Instances, than before.
func lost(before, after *v1alpha.InstanceReport) bool {
	return len(after.Instances) < len(before.Instances) || readyIn(after) < readyIn(before)
}

// readyIn is how many Instances of a report are Ready.
func readyIn(report *v1alpha.InstanceReport) int {
	count := 0
	for i := range report.Instances {
		if state := int(report.Instances[i].State); state >= 0 && state < len(report.States) &&
			slices.ContainsFunc(report.States[state].Conditions,
				func(c v1alpha.StateCondition) bool {
					return c.Type == v1alpha.ConditionReady && c.Status == metav1.ConditionTrue
				}) {
			count++
		}
	}
	return count
}

// writeSlices writes the status of slices while the pace allows it. A slice with starting Instances waits for all of
// them for a while, and for budget that is left, unless it has not reported anything: while hundreds start, each slice
// would be written for nearly each of its Instances, and complete slices would wait for these writes.
func (s *scope) writeSlices(ctx context.Context, outdated []outdatedSlice) error {
	key := client.ObjectKeyFromObject(s.deployment)
	for _, slice := range outdated {
		sliceKey, wait := client.ObjectKeyFromObject(slice), s.pace.wait(key, false)
		if wait = max(wait, slice.wait); slice.starting && !slice.first {
			wait = max(wait, s.pace.spare(key))
		}
		if wait > 0 {
			s.RequeueAfter.AtMost(wait)
			continue
		}
		encoded, err := json.Marshal(&slice.Status)
		if err != nil {
			return fmt.Errorf("encode the status of InstanceSlice %s: %w", sliceKey, err)
		}
		if err := apply.Status(ctx, s.client, FieldManager, slice.InstanceSlice); err != nil {
			return err
		}
		s.pace.spent(key, len(encoded)+sliceOverhead)
		s.pace.starting.Done(sliceKey)
	}
	return nil
}

// ofSlice is the deployment of a slice.
func ofSlice(_ context.Context, changed client.Object) []reconcile.Request {
	slice, ok := changed.(*v1alpha.InstanceSlice)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: slice.Namespace, Name: slice.Spec.Deployment}}}
}
