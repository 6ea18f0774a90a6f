// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// Verdict reports whether an owner exists. The zero value deletes nothing.
type Verdict int

// The verdicts.
const (
	// Unknown: a question failed, or the brake holds. Nothing may be deleted.
	Unknown Verdict = iota
	// Wanted: the owner exists, or its Workload recreates it.
	Wanted
	// Gone: the owner is proved gone.
	Gone
)

// Key names the owner of an object on the hub or in a cell.
type Key struct {
	// Project is the name of the project, and ProjectUID its UID; "": any project of that name is the owner.
	Project    string
	ProjectUID types.UID
	// Deployment is the original in the project; empty: the project itself is the owner. If it has only a namespace,
	// the owners are all originals of City in that namespace.
	Deployment types.NamespacedName
	City       string
	// UID is the UID of the original, if that is known.
	UID types.UID
	// HubNamespace is the hub namespace of the original's copy.
	HubNamespace string
	// Copied is the copy of the original; nil: none exists. Its spec determines whether the Workload recreates the
	// original.
	Copied *v1alpha.WorkloadDeployment
}

// Answer is a verdict and its reason.
type Answer struct {
	Verdict
	// Held is why the verdict is Unknown although Milo does not have the project: the brake's reason. Otherwise "".
	Held string
}

// Options are the dependencies of Owners.
type Options struct {
	// Projects are the projects that this replica has engaged.
	Projects projects.Engaged
	// Milo reports at its root whether a project exists.
	Milo projects.Existence
	// Brake holds the verdict while Milo is in doubt.
	Brake projects.Brake
	// Waker engages a project that has no Workloads. Nil: such projects are not engaged.
	Waker projects.Waker
	// Recreated reports whether a deleted deployment will be recreated, from the objects in the project. Nil: none is.
	Recreated func(ctx context.Context, project client.Reader, d *v1alpha.WorkloadDeployment) (bool, error)
}

// Owners decides whether owners exist. It bypasses all caches, and is safe for concurrent use.
type Owners struct{ Options }

// New returns Owners.
func New(o Options) *Owners { return &Owners{o} }

// Verdict asks Milo, and then the project, whether an owner exists. With an error, the verdict is Unknown.
//
// A project's "not found" proves that an object does not exist only while Milo's root has the project: for a project
// that does not exist, Milo answers as for an empty one.
func (o *Owners) Verdict(ctx context.Context, key Key) (Answer, error) {
	uid, answer, err := o.ofProject(ctx, key)
	if err != nil || answer.Verdict != Wanted || key.Deployment == (types.NamespacedName{}) {
		return answer, err
	}
	project, err := projects.Find(ctx, o.Projects, multicluster.ClusterName(key.Project))
	if err != nil {
		if o.Waker != nil {
			// The project may have no Workloads. It is asked when it is engaged.
			o.Waker.Wake(key.Project)
		}
		return Answer{}, err
	}
	if project.UID != uid {
		return Answer{}, fmt.Errorf("project %s was recreated a moment ago", key.Project)
	}
	verdict, err := o.inProject(ctx, project, key)
	if verdict != Gone {
		return Answer{Verdict: verdict}, err
	}
	// Milo may have lost its storage since the first question: the answer of the project counts only if the root still
	// has the project.
	if _, answer, err = o.ofProject(ctx, key); err != nil || answer.Verdict != Wanted {
		return answer, err
	}
	return Answer{Verdict: Gone}, nil
}

// ofProject returns the verdict on the project of a key, and its present UID.
func (o *Owners) ofProject(ctx context.Context, key Key) (types.UID, Answer, error) {
	uid, found, err := o.Milo.Lookup(ctx, key.Project)
	switch {
	case err != nil:
		return "", Answer{}, fmt.Errorf("find out whether project %s exists: %w", key.Project, err)
	case !found || key.ProjectUID != "" && key.ProjectUID != uid:
		return "", o.withoutProject(ctx), nil
	}
	return uid, Answer{Verdict: Wanted}, nil
}

// IsGone reports whether a project is proved gone, whatever its identity was.
func (o *Owners) IsGone(ctx context.Context, project string) (bool, error) {
	answer, err := o.Verdict(ctx, Key{Project: project})
	return answer.Verdict == Gone, err
}

// withoutProject returns the verdict if Milo does not have the project.
func (o *Owners) withoutProject(ctx context.Context) Answer {
	reason, err := o.Brake.Held(ctx)
	switch {
	case err != nil:
		return Answer{Held: fmt.Sprintf("whether the answers about projects can be trusted is not known: %v", err)}
	case reason != "":
		return Answer{Held: reason}
	}
	return Answer{Verdict: Gone}
}

// inProject asks an existing project for a deployment.
func (o *Owners) inProject(ctx context.Context, project projects.Project, key Key) (Verdict, error) {
	reader, namespace := project.GetAPIReader(), &corev1.Namespace{}
	if err := reader.Get(ctx, client.ObjectKey{Name: key.Deployment.Namespace}, namespace); err != nil {
		if wire.IsMissing(err, key.Deployment.Namespace) {
			return Gone, nil
		}
		return Unknown, fmt.Errorf("ask project %s for namespace %s: %w", key.Project, key.Deployment.Namespace, err)
	}
	if key.Deployment.Name == "" {
		return o.ofCity(ctx, reader, project.Origin(namespace.Name).HubNamespace(namespace.UID), key)
	}
	original := &v1alpha.WorkloadDeployment{}
	err := reader.Get(ctx, key.Deployment, original)
	isMissing := wire.IsMissing(err, key.Deployment.Name)
	if err != nil && !isMissing {
		return Unknown, fmt.Errorf("ask project %s for WorkloadDeployment %s: %w", key.Project, key.Deployment, err)
	}
	switch {
	case !isMissing && original.UID == key.UID:
		return Wanted, nil
	case key.HubNamespace != project.Origin(key.Deployment.Namespace).HubNamespace(namespace.UID):
		// The namespace was recreated. Its objects now belong in another hub namespace.
		return Gone, nil
	case !isMissing:
		// Another deployment of this name adopts the objects.
		return Wanted, nil
	}
	return o.recreated(ctx, reader, key)
}

// ofCity returns the verdict for an object that all originals of a city in the hub namespace share.
func (o *Owners) ofCity(ctx context.Context, project client.Reader, hubNamespace string, key Key) (Verdict, error) {
	if key.HubNamespace != hubNamespace {
		return Gone, nil
	}
	var originals v1alpha.WorkloadDeploymentList
	if err := project.List(ctx, &originals, client.InNamespace(key.Deployment.Namespace)); err != nil {
		return Unknown, fmt.Errorf("list the WorkloadDeployments in namespace %s of project %s: %w", key.Deployment.Namespace, key.Project, err)
	}
	if slices.ContainsFunc(originals.Items, func(d v1alpha.WorkloadDeployment) bool { return naming.CityLabel(d.Spec.CityCode) == key.City }) {
		return Wanted, nil
	}
	return Gone, nil
}

// recreated returns the verdict for a deployment that the project does not have.
func (o *Owners) recreated(ctx context.Context, project client.Reader, key Key) (Verdict, error) {
	if o.Recreated == nil || key.Copied == nil {
		return Gone, nil
	}
	original := key.Copied.DeepCopy()
	original.Namespace, original.Spec.WorkloadRef.UID = key.Deployment.Namespace, WorkloadOf(key.Copied)
	wanted, err := o.Recreated(ctx, project, original)
	switch {
	case err != nil:
		return Unknown, err
	case wanted:
		return Wanted, nil
	}
	return Gone, nil
}

// WorkloadOf returns the UID of the Workload of a copy, in its project. The cells may know the Workload by an earlier one.
func WorkloadOf(copied *v1alpha.WorkloadDeployment) types.UID {
	return cmp.Or(types.UID(copied.Annotations[v1alpha.AnnotationWorkloadUID]), copied.Spec.WorkloadRef.UID)
}
