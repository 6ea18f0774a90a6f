// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/transforms"
)

// listing is the metadata of the copies in a hub namespace.
type listing struct {
	copies map[item]*metav1.PartialObjectMetadata
	at     time.Time
}

// listing returns the last listing of a hub namespace, and the number of noted changes.
func (p *projectSources) listing(hubNamespace string) (last listing, changes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listings[hubNamespace], p.changes[hubNamespace]
}

// rememberListing stores a listing, unless a change was noted after it began.
func (p *projectSources) rememberListing(hubNamespace string, found listing, changes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changes[hubNamespace] == changes {
		p.listings[hubNamespace] = found
	}
}

// noteChange drops the listing of a hub namespace: a copy is written there, or Karmada has seen another version of a
// copy.
func (p *projectSources) noteChange(hubNamespace string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.listings, hubNamespace)
	p.changes[hubNamespace]++
}

// loadCopies loads the metadata of the copies in the hub namespaces.
func (s *scope) loadCopies(ctx context.Context) error {
	for hubNamespace := range s.hubNamespaces {
		last, changes := s.sources.listing(hubNamespace)
		if now := s.Clock.Now(); last.copies == nil || now.Sub(last.at) >= s.AuditInterval {
			copies, err := s.listCopies(ctx, hubNamespace)
			if apierrors.IsForbidden(err) {
				// The API server does not know the new RoleBinding yet, or has deleted it with its namespace.
				s.wait()
				return nil
			}
			if err != nil {
				return fmt.Errorf("list the hub's copies: %w", err)
			}
			last = listing{copies, now}
			s.sources.rememberListing(hubNamespace, last, changes)
		}
		maps.Copy(s.copies, last.copies)
	}
	return nil
}

// listCopies lists the metadata of the copies in a hub namespace, past every cache: no cache may hold the copies of all
// namespaces, and a watch for each of thousands of namespaces is too expensive.
func (s *scope) listCopies(ctx context.Context, hubNamespace string) (map[item]*metav1.PartialObjectMetadata, error) {
	copies := map[item]*metav1.PartialObjectMetadata{}
	for _, kind := range []string{templates.KindConfigMap, templates.KindSecret} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(metadataOf(kind + "List").GroupVersionKind())
		if err := s.APIReader.List(ctx, list, client.InNamespace(hubNamespace), client.HasLabels{v1alpha.LabelProject}); err != nil {
			return nil, err
		}
		for i := range list.Items {
			copied := &list.Items[i]
			copied.SetGroupVersionKind(metadataOf(kind).GroupVersionKind())
			if _, err := trim(copied); err != nil {
				return nil, err
			}
			copies[item{hubNamespace, templates.DataObject{Kind: kind, Name: copied.Name}}] = copied
		}
	}
	return copies, nil
}

// trim drops the unused metadata.
var trim = transforms.StripAnnotations(v1alpha.AnnotationProjectName)
