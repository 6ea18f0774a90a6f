// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// startedWith returns the template of a revision with the names of its snapshots: its hash is the one of the rollout.
func startedWith(revision *v1alpha.WorkloadRevision) *v1alpha.InstanceTemplateSpec {
	return templates.WithSnapshots(&revision.Spec.Template, revision.Spec.Data)
}

// changedData lists the objects whose content differs between two revisions, by kind and name, with the new content.
func changedData(before, after []v1alpha.DataVersion) []string {
	var changed []string
	for _, version := range after {
		if !slices.Contains(before, version) {
			changed = append(changed, version.Kind+"/"+version.Name+"="+version.Hash)
		}
	}
	return changed
}

// holdData lets a Workload be started with the data of an earlier revision, as long as the objects in the project do not
// change. The present content in the project is known from the status of the Workload, from the undo before this one, or from the
// object.
func holdData(ctx context.Context, s *session, workload *v1alpha.Workload, data []v1alpha.DataVersion) error {
	before := templates.ParseHolds(workload.Annotations[v1alpha.AnnotationRolloutData])
	holds := map[templates.DataObject]templates.Hold{}
	rolling := templates.RollingData(workload.Spec.Rollout, &workload.Spec.Template)
	for _, wanted := range data {
		object := templates.DataObject{Kind: wanted.Kind, Name: wanted.Name}
		if _, rolls := rolling[object]; !rolls {
			continue
		}
		newest, err := newestOf(ctx, s, workload, object)
		if err != nil {
			return err
		}
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

// newestOf returns the hash of the newest content of an object.
func newestOf(ctx context.Context, s *session, workload *v1alpha.Workload, object templates.DataObject) (string, error) {
	if data := workload.Status.Data; data != nil {
		for _, version := range data.Objects {
			if version.Kind == object.Kind && version.Name == object.Name {
				return version.Hash, nil
			}
		}
	}
	var err error
	hash, key := "", client.ObjectKey{Namespace: workload.Namespace, Name: object.Name}
	if object.Kind == templates.KindSecret {
		secret := &corev1.Secret{}
		err = s.project.Client.Get(ctx, key, secret)
		hash = templates.HashSecret(secret)
	} else {
		configMap := &corev1.ConfigMap{}
		err = s.project.Client.Get(ctx, key, configMap)
		hash = templates.HashConfigMap(configMap)
	}
	if apierrors.IsNotFound(err) {
		return templates.AbsentData, nil
	}
	return hash, err
}
