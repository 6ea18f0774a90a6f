// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	trim "github.com/karmada-compute/karmada-compute/internal/watch"
)

// trimGrant keeps of a grant what sessionOf reads.
var trimGrant = trim.OnlyKeys(v1alpha.LabelProjectUID)

// followGrants attends to the sessions of new grants until ctx ends: any process may have recorded them. The metadata of
// a grant is enough.
func (s *Server) followGrants(ctx context.Context) {
	grants := s.options.Grants
	list := func() *metav1.PartialObjectMetadataList {
		found := &metav1.PartialObjectMetadataList{}
		found.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
		return found
	}
	options := func(raw *metav1.ListOptions) []client.ListOption {
		return []client.ListOption{client.InNamespace(grants.Namespace), client.HasLabels{labelUser}, &client.ListOptions{Raw: raw}}
	}
	_, informer := toolscache.NewInformerWithOptions(toolscache.InformerOptions{
		ObjectType: &metav1.PartialObjectMetadata{}, Transform: trimGrant,
		ListerWatcher: &toolscache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, raw metav1.ListOptions) (runtime.Object, error) {
				found := list()
				return found, grants.Hub.List(ctx, found, options(&raw)...)
			},
			WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (watch.Interface, error) {
				return grants.Hub.Watch(ctx, list(), options(&raw)...)
			},
		},
		Handler: toolscache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
			if grant, ok := object.(*metav1.PartialObjectMetadata); ok {
				s.found(grant)
			}
		}},
	})
	informer.RunWithContext(ctx)
}

// found attends to the session of a grant that is on the hub.
func (s *Server) found(grant *metav1.PartialObjectMetadata) {
	uid, project, isGrant := sessionOf(grant)
	if !isGrant {
		return
	}
	s.tasks.update(uid, func(t *task) { t.keep = true })
	if !s.lanes.Add(project, uid) {
		s.tasks.update(uid, func(t *task) { t.keep = false })
	}
}

// sessionOf returns the UID of the session of a grant, and the UID of its project.
func sessionOf(grant *metav1.PartialObjectMetadata) (uid, project types.UID, isGrant bool) {
	name, isGrant := strings.CutPrefix(grant.Name, namePrefix)
	uid, project = types.UID(name), types.UID(grant.Labels[v1alpha.LabelProjectUID])
	return uid, project, isGrant && isUID(uid) && project != ""
}
