// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// startedSince is the start time of an Instance in seconds after the first transition time of its conditions.
func startedSince(instance *Instance) *int32 {
	if instance.StartTime == nil || len(instance.Conditions) == 0 {
		return nil
	}
	seconds := instance.StartTime.Unix() - instance.Conditions[0].LastTransitionTime.Unix()
	started := int32(max(math.MinInt32, min(math.MaxInt32, seconds)))
	return &started
}

func containerEntries(containers []v1alpha.InstanceContainerStatus) []v1alpha.ContainerEntry {
	var entries []v1alpha.ContainerEntry
	for i := range containers {
		container := &containers[i]
		entry := v1alpha.ContainerEntry{Name: container.Name, RestartCount: container.RestartCount, ImageID: container.ImageID}
		if last := container.LastTermination; last != nil {
			entry.FinishedAt = last.FinishedAt.UTC().Format(time.RFC3339)
			entry.Reason, entry.ExitCode, entry.Message = last.Reason, last.ExitCode, last.Message
		}
		entries = append(entries, entry)
	}
	return entries
}

// containerStatuses is the inverse of containerEntries. An entry without a name, or with the name of another one, is
// left out: the names are the keys of the list. One whose time cannot be read has not ended.
func containerStatuses(entries []v1alpha.ContainerEntry) []v1alpha.InstanceContainerStatus {
	var containers []v1alpha.InstanceContainerStatus
	seen := map[string]bool{}
	for i := range entries {
		entry := &entries[i]
		if entry.Name == "" || seen[entry.Name] {
			continue
		}
		seen[entry.Name] = true
		container := v1alpha.InstanceContainerStatus{Name: entry.Name, RestartCount: entry.RestartCount, ImageID: entry.ImageID}
		if finished, err := time.Parse(time.RFC3339, entry.FinishedAt); err == nil {
			container.LastTermination = &v1alpha.ContainerTermination{
				Reason: entry.Reason, ExitCode: entry.ExitCode, Message: entry.Message, FinishedAt: metav1.NewTime(finished.UTC()),
			}
		}
		containers = append(containers, container)
	}
	return containers
}
