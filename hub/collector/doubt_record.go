// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// doubtsFieldManager is the field manager of the annotation.
const doubtsFieldManager = client.FieldOwner("karmada-compute-abandoned")

// recallDoubt continues the questions of another process, or of another replica, about the project of the hub
// namespace. After a longer pause they begin again: its answers are not in a row. The annotation alone withdraws
// nothing: the last answer is always a present one.
func (s *namespaceScope) recallDoubt() {
	recorded, known := parseDoubt(s.namespace.Annotations[v1alpha.AnnotationAbsent])
	if now := s.Clock.Now(); !known || now.Sub(recorded.last) > s.After || recorded.last.After(now) || recorded.answers >= answersNeeded {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doubts[s.namespace.Name] == nil {
		s.doubts[s.namespace.Name] = recorded
	}
}

// recordDoubt records the answers so far, until there are enough: then the withdrawal begins.
func (s *namespaceScope) recordDoubt(ctx context.Context) error {
	s.mu.Lock()
	d := s.doubts[s.namespace.Name]
	value, enough := d.format(), d.answers >= answersNeeded
	s.mu.Unlock()
	if enough {
		return nil
	}
	return s.annotate(ctx, value)
}

// dropDoubt forgets the answers about the hub namespace, so that the questions begin again.
func (s *namespaceScope) dropDoubt(ctx context.Context) error {
	s.forget(s.namespace.Name)
	if _, recorded := s.namespace.Annotations[v1alpha.AnnotationAbsent]; !recorded {
		return nil
	}
	return s.annotate(ctx, nil)
}

// annotate sets the annotation; nil removes it.
func (s *namespaceScope) annotate(ctx context.Context, value any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": s.namespace.UID, "annotations": map[string]any{v1alpha.AnnotationAbsent: value},
	}})
	if err != nil {
		return fmt.Errorf("encode the answers about a project: %w", err)
	}
	err = s.Hub.Patch(ctx, s.namespace, client.RawPatch(types.MergePatchType, patch), doubtsFieldManager)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("record the answers about the project of hub namespace %s: %w", s.namespace.Name, err)
	}
	return nil
}

func (d *doubt) format() string {
	return fmt.Sprintf("%s %s %d", d.since.UTC().Format(time.RFC3339), d.last.UTC().Format(time.RFC3339), d.answers)
}

func parseDoubt(text string) (*doubt, bool) {
	var since, last string
	d := &doubt{}
	if _, err := fmt.Sscanf(text, "%s %s %d", &since, &last, &d.answers); err != nil {
		return nil, false
	}
	var err error
	if d.since, err = time.Parse(time.RFC3339, since); err != nil {
		return nil, false
	}
	if d.last, err = time.Parse(time.RFC3339, last); err != nil || d.answers < 1 || d.last.Before(d.since) {
		return nil, false
	}
	return d, true
}
