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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/pace"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

const (
	// engageRetry is the delay before a namespace is requeued whose project is being engaged.
	engageRetry = time.Second
	// unconfirmedRetry is the delay before a namespace is requeued if the hub namespace of a deployment is not
	// confirmed as the project's.
	unconfirmedRetry = 2 * time.Second
	// unwatchedRetry is the delay before a namespace is requeued if one of its objects cannot be watched.
	unwatchedRetry = 10 * time.Second
	// refusedRetry is the delay before a namespace is requeued if one of its objects may not be read, or if a foreign
	// object has the name of its copy: no event reports the end of either.
	refusedRetry = 30 * time.Second
	// differsRetry is the delay before a namespace is requeued if a cell keeps another content: no event reports that the
	// party in its way has gone.
	differsRetry = 15 * time.Second
)

// facts are the findings of one reconcile about a namespace of a project. Their methods are pure.
type facts struct {
	// origin holds the marks of copies.
	origin    projects.Origin
	namespace string
	// deployments are the deployments of the namespace.
	deployments []*deployment
	// workloads are the Workloads of the namespace whose data is part of their revisions, or was.
	workloads []*workload
	// objects are the objects that the deployments name, and the snapshots that their Workloads need.
	objects map[item]*object
	// hubNamespaces are the namespaces of the copies of the namespace's deployments.
	hubNamespaces map[string]bool
	// copies are the metadata of the copies in the hub namespaces.
	copies map[item]*metav1.PartialObjectMetadata
	// unlisted are the copies that could not be listed.
	unlisted map[listed]bool
	// hashes are the hashes of snapshots by their present keys.
	hashes       map[item]string
	requeueAfter pace.After
}

// originals reads the objects of the project.
type originals struct {
	*Reconciler
	*facts
	project    client.Client
	projectAPI client.Reader
	sources    *projectSources
}

// copier writes the copies of the originals.
type copier struct{ *originals }

// scope is the state of one reconcile of a namespace of a project.
type scope struct {
	*copier
	// unconfirmed: a deployment notes an existing namespace that is not confirmed as the project's, or not open to the
	// add-on yet.
	unconfirmed bool
}

// Reconcile copies the objects that the deployments of a namespace name to the hub. The request holds the name of the
// namespace.
func (r *Reconciler) Reconcile(ctx context.Context, request mcreconcile.Request) (reconcile.Result, error) {
	project, err := projects.Find(ctx, r.Projects, request.ClusterName)
	if err != nil {
		return reconcile.Result{}, err
	}
	s := &scope{copier: &copier{&originals{
		Reconciler: r, project: project.GetClient(), projectAPI: project.GetAPIReader(), sources: r.sources.Of(request.ClusterName),
		facts: &facts{
			origin: project.Origin(request.Name), namespace: request.Name, hubNamespaces: map[string]bool{},
			copies: map[item]*metav1.PartialObjectMetadata{}, unlisted: map[listed]bool{}, hashes: map[item]string{},
		},
	}}}
	if s.sources.Cluster != project.Cluster {
		// The project is being engaged.
		s.requeueAfter.AtMost(engageRetry)
		return s.requeueAfter.Result(), nil
	}
	for _, step := range []func(context.Context) error{s.loadWorkloads, s.load, s.expectSources} {
		if err := step(ctx); err != nil || s.unconfirmed {
			return s.requeueAfter.Result(), err
		}
	}
	// A failure of one object, deployment or hub namespace does not block the others.
	failed := []error{s.loadCopies(ctx)}
	if s.unconfirmed {
		return s.requeueAfter.Result(), nil
	}
	for _, step := range []func(context.Context) error{
		s.chooseData, s.keepHistory, s.ownSnapshots, s.checkSources, s.countCopies, s.writeCopies, s.deleteCopies, s.compareCells,
		s.writeConditions, s.writeData,
	} {
		failed = append(failed, step(ctx))
	}
	if err := errors.Join(failed...); err != nil {
		return reconcile.Result{}, err
	}
	if len(s.objects)+len(s.workloads) > 0 && r.AuditInterval > 0 {
		s.requeueAfter.AtMost(wait.Jitter(r.AuditInterval, 0.5))
	}
	return s.requeueAfter.Result(), nil
}

// load reads the namespace's deployments and their copies.
func (s *scope) load(ctx context.Context) error {
	var list v1alpha.WorkloadDeploymentList
	// Every change of one deployment requests its namespace, and the other deployments are only read.
	if err := s.project.List(ctx, &list, client.InNamespace(s.namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the project's deployments: %w", err)
	}
	for i := range list.Items {
		original := &list.Items[i]
		d := &deployment{
			original: original, hubNamespace: original.Annotations[v1alpha.AnnotationHubNamespace],
			named: namedBy(original.Spec.Templates()),
		}
		if err := s.confirm(ctx, d); err != nil || s.unconfirmed {
			return err
		}
		// Instances of a deployment that is being deleted may need its data until they are gone. hub/propagation
		// deletes its copy, and the garbage collector the objects that only this copy owns. A deployment that names no
		// data owns no copies, except for snapshots of its Workload.
		if original.DeletionTimestamp.IsZero() && (len(d.named) > 0 || s.rollsData(original)) {
			if err := s.loadDeployment(ctx, d); err != nil {
				return err
			}
		}
		s.deployments = append(s.deployments, d)
	}
	s.objects = collect(s.deployments)
	return nil
}

// confirm checks that a deployment's hub namespace is the project's. Consumers may write the annotation that names it:
// until the labels of the namespace confirm it, nothing is read, written or deleted there. hub/propagation corrects the
// annotation.
func (s *scope) confirm(ctx context.Context, d *deployment) error {
	if s.hubNamespaces[d.hubNamespace] {
		return nil
	}
	noted, confirmed, err := s.origin.Noted(ctx, s.Hub, d.original)
	if err == nil && confirmed {
		confirmed, err = s.Grants.Has(ctx, d.hubNamespace)
	}
	switch {
	case err != nil:
		return err
	case confirmed:
		s.hubNamespaces[d.hubNamespace] = true
	case noted != nil:
		s.wait()
	}
	return nil
}

// wait ends the reconcile until hub/propagation has labelled the hub namespace and opened it to the add-on.
func (s *scope) wait() {
	s.unconfirmed = true
	s.requeueAfter.AtMost(unconfirmedRetry)
}

func (s *scope) loadDeployment(ctx context.Context, d *deployment) error {
	if !s.hubNamespaces[d.hubNamespace] {
		return nil
	}
	d.silent = true
	copied, err := path.LoadCopy(ctx, s.Hub, d.original)
	if err != nil || copied.Reports == nil {
		return err
	}
	d.copied, d.silent = copied.Object, copied.Reports.IsSilent()
	return nil
}

// expectSources starts to watch the named objects before they are read, so that no change is missed between.
func (s *scope) expectSources(context.Context) error {
	named := map[templates.DataObject]bool{}
	for i := range s.objects {
		named[i.DataObject] = true
	}
	for _, w := range s.workloads {
		for dataObject := range w.rolling {
			named[dataObject] = true
		}
	}
	for hubNamespace := range s.hubNamespaces {
		s.sources.forgetChecks(hubNamespace, s.objects)
	}
	return s.sources.expect(s.namespace, named)
}

// checkSources determines which objects can be copied, and their size.
func (s *scope) checkSources(ctx context.Context) error {
	var failed []error
	for _, o := range inOrder(maps.Values(s.objects)) {
		found, err := s.check(ctx, o)
		if err != nil {
			o.unknown = true
			o.finding = finding{
				reason: v1alpha.ReasonResolving, message: fmt.Sprintf("%s %s could not be read; the add-on tries again", o.Kind, o.Name),
			}
			failed = append(failed, fmt.Errorf("read %s %s in namespace %s of the project: %w", o.Kind, o.Name, s.namespace, withoutContent(err)))
			continue
		}
		o.finding = found
	}
	for _, d := range s.deployments {
		if d.fit(s.objects); d.together(s.objects) > maxTogether {
			continue
		}
		for o := range d.objectsIn(s.objects) {
			o.wanted = true
		}
	}
	return errors.Join(failed...)
}

// errUnlisted says that it is not known whether an object has a copy.
var errUnlisted = errors.New("its copies on the hub are not listed")

// check reads the contents of an object only if its version differs from the last one that was checked.
func (s *copier) check(ctx context.Context, o *object) (finding, error) {
	if s.unlisted[o.listed()] {
		return finding{}, errUnlisted
	}
	if dataVersion, ok := templates.ParseSnapshot(o.DataObject); ok {
		return s.checkSnapshot(ctx, o, dataVersion)
	}
	reader := s.sources.reader(o.Kind)
	if reader == nil {
		s.requeueAfter.AtMost(unwatchedRetry)
		return s.readAndRemember(ctx, o)
	}
	metadata := metadataOf(o.Kind)
	if err := reader.Get(ctx, o.nameIn(s.namespace), metadata); err != nil {
		if apierrors.IsNotFound(err) {
			return missing(o.Kind, o.Name, s.namespace), nil
		}
		return finding{}, err
	}
	if seen := s.sources.lastCheck(o.item); seen.source == version(metadata) {
		return seen.finding, nil
	}
	return s.readAndRemember(ctx, o)
}

func (s *originals) readAndRemember(ctx context.Context, o *object) (finding, error) {
	source, found, err := s.read(ctx, o)
	if source != nil && s.sources.lastCheck(o.item).source != version(source) {
		s.sources.remember(o.item, check{source: version(source), finding: found})
	}
	return found, err
}

// read reads an object of the project. The object is nil if it does not exist or may not be read.
func (s *originals) read(ctx context.Context, o *object) (client.Object, finding, error) {
	source := newObject(o.Kind)
	switch err := s.projectAPI.Get(ctx, o.nameIn(s.namespace), source); {
	case wire.IsMissing(err, o.Name):
		return nil, missing(o.Kind, o.Name, s.namespace), nil
	case apierrors.IsForbidden(err):
		s.requeueAfter.AtMost(refusedRetry)
		return nil, unreadable(o.Kind, o.Name, s.namespace), nil
	case err != nil:
		return nil, finding{}, err
	}
	return source, examine(source), nil
}
