// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// unwatchedRetry is when a namespace is looked at again of which something cannot be watched.
	unwatchedRetry = 10 * time.Second
	// refusedRetry is when a namespace is looked at again of which something cannot be read or is somebody else's: no
	// event tells when that changes.
	refusedRetry = 30 * time.Second
)

// pass is one look at one namespace of one project.
type pass struct {
	*Reconciler
	project    client.Client
	projectAPI client.Reader
	// projectName and projectUID are the identity of the project.
	projectName string
	projectUID  types.UID
	namespace   string
	sources     *projectSources
	// deployments are those of the namespace.
	deployments []*deployment
	// objects are what they name.
	objects map[item]*object
	// hubNamespaces are where the copies of the namespace's deployments are.
	hubNamespaces map[string]bool
	// again is when to look again although nothing happens; 0: never.
	again time.Duration
}

// Reconcile looks at one namespace of one project: the name in the request is the namespace's.
func (r *Reconciler) Reconcile(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	project, err := r.Projects.Get(ctx, request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	uid, err := r.Projects.UID(request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	sources := r.sources.of(request.ClusterName)
	if sources == nil || sources.cluster != project {
		// The project is just being engaged, which asks for every namespace with a deployment.
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	p := &pass{
		Reconciler: r, project: project.GetClient(), projectAPI: project.GetAPIReader(), projectName: request.ClusterName.String(),
		projectUID: uid, namespace: request.Name, sources: sources, hubNamespaces: map[string]bool{},
	}
	for _, step := range []func(context.Context) error{p.load, p.expectSources} {
		if err := step(ctx); err != nil {
			return reconcile.Result{}, err
		}
	}
	// One object or deployment that fails keeps none of the others from what is theirs.
	var failed failures
	for _, step := range []func(context.Context) error{p.readSources, p.carry, p.withdraw, p.writeConditions} {
		failed.add(step(ctx))
	}
	return reconcile.Result{RequeueAfter: p.again}, failed.err()
}

// failures are errors of parts that do not hold each other up.
type failures []error

func (f *failures) add(err error) {
	if err != nil {
		*f = append(*f, err)
	}
}

func (f failures) err() error {
	if len(f) == 1 {
		return f[0]
	}
	return errors.Join(f...)
}

// lookAgain asks for another look after some time at the latest.
func (p *pass) lookAgain(after time.Duration) {
	if p.again == 0 || after < p.again {
		p.again = after
	}
}

// load reads the namespace's deployments and their copies.
func (p *pass) load(ctx context.Context) error {
	var list v1alpha.WorkloadDeploymentList
	if err := p.project.List(ctx, &list, client.InNamespace(p.namespace)); err != nil {
		return fmt.Errorf("list the project's deployments: %w", err)
	}
	for i := range list.Items {
		original := &list.Items[i]
		d := &deployment{
			original: original, hubNamespace: original.Annotations[v1alpha.AnnotationFederationNamespace],
			named: namedBy(&original.Spec.Template.Spec),
		}
		if d.hubNamespace != "" {
			p.hubNamespaces[d.hubNamespace] = true
		}
		// Of one that is being deleted, federation takes the copy away, and the garbage collector what that alone owns.
		// Until it is gone its Instances may need what it names.
		if original.DeletionTimestamp.IsZero() {
			if err := p.loadCopy(ctx, d); err != nil {
				return err
			}
		}
		p.deployments = append(p.deployments, d)
	}
	p.objects = collect(p.deployments)
	return nil
}

func (p *pass) loadCopy(ctx context.Context, d *deployment) error {
	if d.hubNamespace == "" {
		return nil
	}
	copied := &v1alpha.WorkloadDeployment{}
	err := p.Hub.Get(ctx, types.NamespacedName{Namespace: d.hubNamespace, Name: d.original.Name}, copied)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("get the hub's copy of deployment %s: %w", d.original.Name, err)
	}
	if copied.DeletionTimestamp.IsZero() && copied.Labels[v1alpha.LabelDeploymentUID] == string(d.original.UID) {
		d.copied = copied
	}
	return nil
}

// expectSources has watched what is named, before any of it is read, so that no change falls between.
func (p *pass) expectSources(context.Context) error {
	named := map[reference]bool{}
	for i := range p.objects {
		named[reference{i.kind, i.name}] = true
	}
	for hubNamespace := range p.hubNamespaces {
		p.sources.forgetLooks(hubNamespace, p.objects)
	}
	return p.sources.expect(p.namespace, named)
}

// readSources finds out of each object whether it can be carried and how much it holds.
func (p *pass) readSources(ctx context.Context) error {
	var failed failures
	for _, o := range inOrder(maps.Values(p.objects)) {
		found, err := p.look(ctx, o)
		if err != nil {
			o.unknown = true
			o.finding = finding{reason: v1alpha.ReasonResolving, message: fmt.Sprintf("%s %s could not be read just now; it is tried again", o.kind, o.name)}
			failed.add(fmt.Errorf("read %s %s in namespace %s of the project: %w", o.kind, o.name, p.namespace, withoutContent(err)))
			continue
		}
		o.finding = found
	}
	for _, d := range p.deployments {
		if d.together(p.objects) > maxTogether {
			continue
		}
		for o := range d.of(p.objects) {
			o.wanted = true
		}
	}
	return failed.err()
}

// look reads an object only when it is not the version that was seen last.
func (p *pass) look(ctx context.Context, o *object) (finding, error) {
	reader := p.sources.reader(o.kind)
	if reader == nil {
		p.lookAgain(unwatchedRetry)
		return p.readLive(ctx, o)
	}
	metadata := metadataOf(o.kind)
	if err := reader.Get(ctx, o.key(p.namespace), metadata); err != nil {
		if apierrors.IsNotFound(err) {
			return missing(o.kind, o.name, p.namespace), nil
		}
		return finding{}, err
	}
	if seen := p.sources.lastLook(o.item); seen.source == version(metadata) {
		return seen.finding, nil
	}
	return p.readLive(ctx, o)
}

func (p *pass) readLive(ctx context.Context, o *object) (finding, error) {
	source, found, err := p.read(ctx, o)
	if source != nil {
		seen := p.sources.lastLook(o.item)
		if seen.source != version(source) {
			p.sources.remember(o.item, look{source: version(source), finding: found})
		}
	}
	return found, err
}

// read reads an object of the project. The object is nil when it is not there or may not be read.
func (p *pass) read(ctx context.Context, o *object) (client.Object, finding, error) {
	source := newObject(o.kind)
	switch err := p.projectAPI.Get(ctx, o.key(p.namespace), source); {
	case apierrors.IsNotFound(err):
		return nil, missing(o.kind, o.name, p.namespace), nil
	case apierrors.IsForbidden(err):
		p.lookAgain(refusedRetry)
		return nil, unreadable(o.kind, o.name, p.namespace), nil
	case err != nil:
		return nil, finding{}, err
	}
	return source, examine(source), nil
}
