// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"fmt"
	"slices"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// holdData lets a Workload be started with the data of an earlier revision, as long as the objects in the project do not
// change. The present content in the project is known from the status of the Workload, or from the undo before this one. An object
// that the present template does not name has the content that it had for the newest revision with it, or has changed since.
func holdData(workload *v1alpha.Workload, data []v1alpha.DataVersion, history []v1alpha.WorkloadRevision) error {
	before := templates.ParseHolds(workload.Annotations[v1alpha.AnnotationRolloutData])
	holds := map[templates.DataObject]templates.Hold{}
	rolling := templates.RollingData(workload.Spec.Rollout, &workload.Spec.Template)
	for _, wanted := range data {
		object := templates.DataObject{Kind: wanted.Kind, Name: wanted.Name}
		if _, rolls := rolling[object]; !rolls {
			continue
		}
		newest := newestOf(workload, history, object)
		if hold, held := before[object]; held && hold.Held == newest {
			newest = hold.Newest
		}
		if newest != wanted.Hash {
			holds[object] = templates.Hold{Held: wanted.Hash, Newest: newest}
		}
	}
	text := templates.FormatHolds(holds)
	if len(text) > templates.MaxHolds {
		return fmt.Errorf("the revision has other data in %d ConfigMaps and Secrets, which are too many to hold; write the earlier content "+
			"into them instead", len(holds))
	}
	if text != "" {
		if workload.Annotations == nil {
			workload.Annotations = map[string]string{}
		}
		workload.Annotations[v1alpha.AnnotationRolloutData] = text
		return nil
	}
	delete(workload.Annotations, v1alpha.AnnotationRolloutData)
	return nil
}

// newestOf returns the hash of the newest content of an object that the Workload or its history knows.
func newestOf(workload *v1alpha.Workload, history []v1alpha.WorkloadRevision, object templates.DataObject) string {
	known := [][]v1alpha.DataVersion{}
	if data := workload.Status.Data; data != nil {
		known = append(known, data.Objects)
	}
	for i := range slices.Backward(history) {
		known = append(known, history[i].Spec.Data)
	}
	for _, version := range slices.Concat(known...) {
		if version.Kind == object.Kind && version.Name == object.Name {
			return version.Hash
		}
	}
	return ""
}
