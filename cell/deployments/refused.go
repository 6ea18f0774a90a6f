// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cell/owned"
	"github.com/karmada-compute/karmada-compute/cell/runtime"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// trialFor is how long an answer of the cell about a template counts: a rollout asks once, and not for each Instance, and a limit that
// the operator sets or lifts meanwhile is known soon.
const trialFor = 15 * time.Second

// answer is the answer of the cell about the Pods of a template.
type answer struct {
	// refusal is nil if the cell accepts them.
	refusal *runtime.Refusal
	until   time.Time
}

// answers are the answers of the cell, by deployment and the hash of the template. The zero value is empty and ready. It
// is safe for concurrent use.
type answers struct {
	mu           sync.Mutex
	byDeployment map[types.NamespacedName]map[string]answer
}

// get returns the answer about a template that counts now.
func (a *answers) get(deployment types.NamespacedName, hash string, now time.Time) (answer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	found, ok := a.byDeployment[deployment][hash]
	return found, ok && now.Before(found.until)
}

// set records an answer, and forgets the ones that do not count any more.
func (a *answers) set(deployment types.NamespacedName, hash string, given answer, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byDeployment == nil {
		a.byDeployment = map[types.NamespacedName]map[string]answer{}
	}
	kept := map[string]answer{hash: given}
	for other, entry := range a.byDeployment[deployment] {
		if other != hash && now.Before(entry.until) {
			kept[other] = entry
		}
	}
	a.byDeployment[deployment] = kept
}

func (a *answers) forget(deployment types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.byDeployment, deployment)
}

// accepted returns the Instances of removable whose next Pod the cell would accept, and all that do not serve or get
// no next Pod. The first Instance that is held gets a note of the refusal, and follows later when the note is removed.
func (s *scope) accepted(ctx context.Context, removable []*v1alpha.Instance) ([]*v1alpha.Instance, error) {
	var result []*v1alpha.Instance
	noted := false
	for _, instance := range removable {
		refusal, err := s.refusalOf(ctx, instance)
		if err != nil {
			return nil, err
		}
		_, hasNote := instance.Annotations[v1alpha.AnnotationRefused]
		switch {
		case refusal == nil && hasNote:
			s.requeueAtMost(changedRequeue)
		case refusal == nil:
			result = append(result, instance)
		case !noted:
			noted = true
			if err := s.noteRefusal(ctx, instance, refusal); err != nil {
				return nil, err
			}
		}
	}
	return result, s.dropNotes(ctx)
}

// refusalOf returns why the cell would refuse the next Pod of an Instance; nil: it would not, or the Instance loses
// nothing by the attempt.
func (s *scope) refusalOf(ctx context.Context, instance *v1alpha.Instance) (*runtime.Refusal, error) {
	if !s.wanted(instance) || !owned.Ready(instance) || s.External(&instance.Spec) {
		return nil, nil
	}
	next := s.next(instance)
	if s.External(&next.Spec) {
		return nil, nil
	}
	key, now := client.ObjectKeyFromObject(s.deployment), s.Clock.Now()
	given, known := s.answers.get(key, next.TemplateHash(), now)
	if !known {
		refusal, err := s.Trial.Refusal(ctx, s.deployment, next)
		if err != nil {
			return nil, err
		}
		given = answer{refusal, now.Add(trialFor)}
		s.answers.set(key, next.TemplateHash(), given, now)
	}
	if given.refusal != nil {
		s.requeueAtMost(given.until.Sub(now))
	}
	return given.refusal, nil
}

// next is an Instance as it is once it has the template that it should have.
func (s *scope) next(instance *v1alpha.Instance) *v1alpha.Instance {
	index, _ := naming.InstanceIndex(s.deployment.Name, instance.Name)
	desired, next := s.desired(index), instance.DeepCopy()
	next.Labels, next.Annotations, next.Spec = desired.Labels, desired.Annotations, desired.Spec
	return next
}

// noteRefusal writes on an Instance that it keeps its template, and why.
func (s *scope) noteRefusal(ctx context.Context, instance *v1alpha.Instance, refusal *runtime.Refusal) error {
	note := owned.RefusalNote(s.next(instance).TemplateHash(), refusal.Reason, refusal.Message)
	if instance.Annotations[v1alpha.AnnotationRefused] == note {
		return nil
	}
	if err := s.writeNote(ctx, instance, note); err != nil {
		return err
	}
	log.FromContext(ctx).Info("The cell would refuse the next Pod of an Instance, which keeps running", "instance", instance.Name,
		"reason", refusal.Reason, "message", refusal.Message)
	s.Recorder.Eventf(s.deployment, corev1.EventTypeWarning, refusal.Reason, "%s", reasons.Shorten(
		fmt.Sprintf("Instance %s keeps its template: %s", instance.Name, refusal.Message), maxNote))
	return nil
}

// writeNote writes the note of a refusal; "" removes it.
func (s *scope) writeNote(ctx context.Context, instance *v1alpha.Instance, note string) error {
	noted := instance.DeepCopy()
	delete(noted.Annotations, v1alpha.AnnotationRefused)
	if note != "" {
		if noted.Annotations == nil {
			noted.Annotations = map[string]string{}
		}
		noted.Annotations[v1alpha.AnnotationRefused] = note
	}
	if err := s.Client.Patch(ctx, noted, client.MergeFrom(instance), client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("note at Instance %s why it keeps its template: %w", client.ObjectKeyFromObject(instance), err)
	}
	return nil
}

// dropNotes removes the notes of refusals that do not hold any more: the Instance is to get another template, or the
// cell accepts that template now.
func (s *scope) dropNotes(ctx context.Context) error {
	key, now := client.ObjectKeyFromObject(s.deployment), s.Clock.Now()
	for i := range s.instances {
		instance := &s.instances[i]
		note, found := instance.Annotations[v1alpha.AnnotationRefused]
		if !found || deleting(instance) {
			continue
		}
		hash, _, _ := strings.Cut(note, " ")
		given, known := s.answers.get(key, hash, now)
		index, _ := naming.InstanceIndex(s.deployment.Name, instance.Name)
		if hash == s.versions.hashAt(s.deployment, index) && hash != instance.TemplateHash() && (!known || given.refusal != nil) {
			continue
		}
		if err := s.writeNote(ctx, instance, ""); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}
