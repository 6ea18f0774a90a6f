// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"errors"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/apply"
)

// carry keeps the hub's copies of what can be carried and is needed.
func (p *pass) carry(ctx context.Context) error {
	var failed failures
	for _, o := range inOrder(maps.Values(p.objects)) {
		if o.reason != "" || !o.wanted || len(o.owners) == 0 {
			continue
		}
		settled, err := p.isSettled(ctx, o)
		if err == nil && !settled {
			err = p.carryOne(ctx, o)
		}
		if err != nil {
			failed.add(fmt.Errorf("carry %s %s of namespace %s to the hub: %w", o.kind, o.name, p.namespace, withoutContent(err)))
		}
	}
	return failed.err()
}

// isSettled says whether the copy is known to be right, without reading what anything holds.
func (p *pass) isSettled(ctx context.Context, o *object) (bool, error) {
	copied := metadataOf(o.kind)
	if err := p.Hub.Get(ctx, o.onHub(), copied); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	seen := p.sources.lastLook(o.item)
	return seen.copied == version(copied) && sameMetadata(copied, p.withProvenance(o)), nil
}

// withProvenance is the metadata of a copy.
func (p *pass) withProvenance(o *object) *metav1.PartialObjectMetadata {
	metadata := metadataOf(o.kind)
	metadata.Labels = map[string]string{
		v1alpha.LabelProject:          v1alpha.ProjectLabel(p.projectName),
		v1alpha.LabelProjectNamespace: p.namespace,
		v1alpha.LabelProjectUID:       string(p.projectUID),
	}
	metadata.Annotations = map[string]string{v1alpha.AnnotationProjectName: p.projectName}
	metadata.OwnerReferences = o.owners
	return metadata
}

// carryOne makes the copy what the original is now.
func (p *pass) carryOne(ctx context.Context, o *object) error {
	source, found, err := p.read(ctx, o)
	if err != nil {
		return err
	}
	// It may have changed since it was looked at; the condition says what it is now.
	if o.finding = found; found.reason != "" {
		return nil
	}
	provenance := p.withProvenance(o)
	desired := desiredCopy(source, o, provenance.Labels, provenance.Annotations)
	copied := newObject(o.kind)
	switch err := p.Live.Get(ctx, o.onHub(), copied); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return err
	case !isOurs(copied):
		o.finding = foreign(o.item)
		p.lookAgain(refusedRetry)
		return nil
	case !copied.GetDeletionTimestamp().IsZero():
		// Its end brings the namespace back here.
		return nil
	case sameCopy(copied, desired):
		p.settle(o, source, copied)
		return nil
	case mustBeMadeAnew(copied, desired):
		return p.remove(ctx, copied)
	}
	stored, err := p.write(ctx, desired)
	if err != nil {
		return err
	}
	p.settle(o, source, stored)
	return nil
}

// write applies a copy, and takes out what others put into it.
func (p *pass) write(ctx context.Context, desired client.Object) (client.Object, error) {
	stored, err := apply.Object(ctx, p.Hub, Owner, desired)
	if err != nil || sameCopy(stored, desired) {
		return stored, err
	}
	held := contentOf(desired)
	values := map[string]any{"/metadata/ownerReferences": desired.GetOwnerReferences()}
	if kindOf(desired) == v1alpha.KindSecret {
		values["/data"] = held.binary
	} else {
		values["/data"], values["/binaryData"] = held.text, held.binary
	}
	return stored, apply.Replace(ctx, p.Hub, Owner, stored, values)
}

// settle remembers that a copy is right for this version of its original.
func (p *pass) settle(o *object, source, copied client.Object) {
	p.sources.remember(o.item, look{source: version(source), finding: o.finding, copied: version(copied)})
}

// withdraw deletes the copies that nobody names any more, and those whose originals are gone: who deletes a Secret
// expects it to be gone everywhere. Other troubles of an original leave its copy what it was.
func (p *pass) withdraw(ctx context.Context) error {
	var failed failures
	for hubNamespace := range p.hubNamespaces {
		for _, kind := range []string{v1alpha.KindConfigMap, v1alpha.KindSecret} {
			var copies metav1.PartialObjectMetadataList
			copies.SetGroupVersionKind(metadataOf(kind + "List").GroupVersionKind())
			if err := p.Hub.List(ctx, &copies, client.InNamespace(hubNamespace)); err != nil {
				failed.add(fmt.Errorf("list the hub's copies: %w", err))
				continue
			}
			for i := range copies.Items {
				copied := &copies.Items[i]
				copied.SetGroupVersionKind(metadataOf(kind).GroupVersionKind())
				if keeps(p.objects[item{hubNamespace, kind, copied.Name}]) || !copied.DeletionTimestamp.IsZero() {
					continue
				}
				failed.add(p.remove(ctx, copied))
			}
		}
	}
	return failed.err()
}

// remove deletes a copy, and no other object that has taken its name.
func (p *pass) remove(ctx context.Context, copied client.Object) error {
	uid := copied.GetUID()
	err := p.Hub.Delete(ctx, copied, client.Preconditions{UID: &uid})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete the hub's copy %s: %w", client.ObjectKeyFromObject(copied), withoutContent(err))
	}
	return nil
}

// onHub is the name of an object's copy.
func (i item) onHub() client.ObjectKey {
	return client.ObjectKey{Namespace: i.hubNamespace, Name: i.name}
}

// opaque is an error of an API server that does not say more than what kind of an error it is: the text of one may
// hold what an object holds.
type opaque struct{ error }

func (o opaque) Error() string {
	var status apierrors.APIStatus
	if errors.As(o.error, &status) {
		return fmt.Sprintf("the API server answered %d %s", status.Status().Code, apierrors.ReasonForError(o.error))
	}
	return o.error.Error()
}

func (o opaque) Unwrap() error { return o.error }

func withoutContent(err error) error {
	if err == nil {
		return nil
	}
	return opaque{err}
}
