// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

func seenOf(i *v1alpha.Instance) seen {
	// A status of one template does not count for the next one.
	earlier := i.Status.Controller != nil && i.Status.Controller.ObservedTemplateHash != "" &&
		i.Status.Controller.ObservedTemplateHash != i.TemplateHash()
	ready := i.DeletionTimestamp.IsZero() && !earlier && meta.IsStatusConditionTrue(i.Status.Conditions, v1alpha.ConditionReady)
	return seen{
		// Counts go by what the hub has sent, whatever an override policy has changed.
		deployment: i.Labels[v1alpha.LabelDeploymentName], hash: templates.Sent(i.TemplateHash()), ready: ready,
		available: ready && !meta.IsStatusConditionFalse(i.Status.Conditions, v1alpha.ConditionAvailable),
	}
}

// Impossible returns what no moment of the history explains: counts that contradict each other, a Workload that counts
// more than its deployments together, and a deployment whose count rises above what its cells had.
func (h *History) Impossible() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := slices.Clone(h.found)
	for _, uid := range slices.Sorted(maps.Keys(h.deployments)) {
		versions := h.deployments[uid]
		slices.SortStableFunc(versions, func(a, b version) int { return cmp.Compare(a.revision, b.revision) })
		for i := 1; i < len(versions); i++ {
			found = append(found, h.check(versions[:i], &versions[i])...)
		}
	}
	slices.SortStableFunc(h.workloads, func(a, b version) int { return cmp.Compare(a.revision, b.revision) })
	last := map[types.UID]v1alpha.ReplicaCounts{}
	for i := range h.workloads {
		w := &h.workloads[i]
		// A version that changes something else keeps its counts.
		if last[w.owner] != w.counts {
			found = append(found, h.checkSum(w)...)
		}
		last[w.owner] = w.counts
	}
	return found
}

// Versions is how many versions the history has.
func (h *History) Versions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	count := len(h.workloads)
	for _, versions := range h.deployments {
		count += len(versions)
	}
	return count
}

// check compares a version of a deployment with the versions before it and with its cells. A count that does not rise
// was true before.
func (h *History) check(before []version, v *version) []string {
	var found []string
	say := func(count string, got, most int32) {
		found = append(found, fmt.Sprintf("WorkloadDeployment %s, revision %d: %s is %d, and it was %d at most", v.name,
			v.revision, count, got, most))
	}
	last := &before[len(before)-1]
	var asked int32
	for i := range before {
		if i == len(before)-1 || v.at.Sub(before[i+1].at) <= behind {
			asked = max(asked, before[i].most)
		}
	}
	if asked = max(asked, v.most); v.counts.DesiredReplicas > asked {
		say("desiredReplicas", v.counts.DesiredReplicas, asked)
	}
	most, known := h.most(v)
	if !known {
		return found
	}
	for _, count := range []struct {
		name             string
		last, now, truth int32
	}{
		{"replicas", last.counts.Replicas, v.counts.Replicas, most.existing},
		{"readyReplicas", last.counts.ReadyReplicas, v.counts.ReadyReplicas, most.ready},
		{"availableReplicas", last.counts.AvailableReplicas, v.counts.AvailableReplicas, most.avail},
		{"updatedReplicas", last.counts.UpdatedReplicas, v.counts.UpdatedReplicas, most.byHash[v.hash]},
	} {
		if count.now > count.last && count.now > count.truth {
			say(count.name, count.now, count.truth)
		}
	}
	return found
}

// most is how many Instances the cells of a deployment had at most shortly before a version. It is not known while a
// cell was not watched, and until Karmada watches it again.
func (h *History) most(v *version) (most sample, known bool) {
	most.byHash = map[string]int32{}
	begin, end := v.at.Add(-behind), v.at.Add(early)
	for _, cell := range v.cells {
		watched := h.samples[cell] != nil
		if !watched || slices.ContainsFunc(h.blind[cell], func(at time.Time) bool { return at.After(begin.Add(-reconnect)) && at.Before(end) }) {
			return most, false
		}
		var of sample
		hashes := map[string]int32{}
		samples := h.samples[cell][v.name]
		for i := range samples {
			// A sample is true until the next one.
			if samples[i].at.After(end) || i+1 < len(samples) && samples[i+1].at.Before(begin) {
				continue
			}
			of.existing, of.ready, of.avail = max(of.existing, samples[i].existing), max(of.ready, samples[i].ready), max(of.avail, samples[i].avail)
			for hash, count := range samples[i].byHash {
				hashes[hash] = max(hashes[hash], count)
			}
		}
		most.existing, most.ready, most.avail = most.existing+of.existing, most.ready+of.ready, most.avail+of.avail
		for hash, count := range hashes {
			most.byHash[hash] += count
		}
	}
	return most, true
}

// checkSum compares a version of a Workload with the deployments that it may be the sum of.
func (h *History) checkSum(w *version) []string {
	var most v1alpha.ReplicaCounts
	for _, uid := range slices.Sorted(maps.Keys(h.deployments)) {
		most = most.Add(h.mostOf(uid, w))
	}
	var found []string
	for _, count := range []struct {
		name      string
		got, most int32
	}{
		{"replicas", w.counts.Replicas, most.Replicas},
		{"currentReplicas", w.counts.CurrentReplicas, most.CurrentReplicas},
		{"desiredReplicas", w.counts.DesiredReplicas, most.DesiredReplicas},
		{"readyReplicas", w.counts.ReadyReplicas, most.ReadyReplicas},
		{"availableReplicas", w.counts.AvailableReplicas, most.AvailableReplicas},
		{"updatedReplicas", w.counts.UpdatedReplicas, most.UpdatedReplicas},
		{"updatedAvailableReplicas", w.counts.UpdatedAvailableReplicas, most.UpdatedAvailableReplicas},
	} {
		if count.got > count.most {
			found = append(found, fmt.Sprintf("Workload %s, revision %d: %s is %d, and its deployments had %d at most", w.name,
				w.revision, count.name, count.got, count.most))
		}
	}
	return found
}

// mostOf are the highest counts of a deployment that a version of its Workload may have read.
func (h *History) mostOf(deployment types.UID, w *version) (most v1alpha.ReplicaCounts) {
	versions := h.deployments[deployment]
	for i := range versions {
		v := &versions[i]
		if v.owner != w.owner || v.revision > w.revision || i+1 < len(versions) && w.at.Sub(versions[i+1].at) > behind || v.deleted {
			continue
		}
		c := &v.counts
		most.Replicas, most.CurrentReplicas = max(most.Replicas, c.Replicas), max(most.CurrentReplicas, c.CurrentReplicas)
		most.DesiredReplicas, most.ReadyReplicas = max(most.DesiredReplicas, c.DesiredReplicas), max(most.ReadyReplicas, c.ReadyReplicas)
		most.AvailableReplicas, most.UpdatedReplicas = max(most.AvailableReplicas, c.AvailableReplicas),
			max(most.UpdatedReplicas, c.UpdatedReplicas)
		most.UpdatedAvailableReplicas = max(most.UpdatedAvailableReplicas, c.UpdatedAvailableReplicas)
	}
	return most
}
