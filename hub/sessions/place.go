// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"golang.org/x/sync/singleflight"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// ErrProjectGone is returned if no project of that name and UID exists.
var ErrProjectGone = errors.New("the project does not exist any more")

// Projects reaches the control planes of projects, past every cache.
type Projects interface {
	// Client is a client of the project with this name and UID, or ErrProjectGone.
	Client(ctx context.Context, name string, uid types.UID) (client.Client, error)
	// Review asks the project whether a user has a permission. With an error, the project gave no answer.
	Review(ctx context.Context, name string, uid types.UID, spec authorizationv1.SubjectAccessReviewSpec) (allowed bool, err error)
}

// ending is a lasting end of a session.
type ending struct {
	reason, message string
	// exitCode is the exit code of a command.
	exitCode *int32
}

// Error lets an ending be returned as an error.
func (e *ending) Error() string { return e.message }

func instanceGone(format string, args ...any) error {
	return &ending{reason: v1alpha.ReasonSessionInstanceGone, message: fmt.Sprintf(format, args...)}
}

func unreachable(format string, args ...any) error {
	return &ending{reason: v1alpha.ReasonSessionUnreachable, message: fmt.Sprintf(format, args...)}
}

// place is the Pod of an Instance.
type place struct {
	cell, namespace, pod string
	// container is the container of the session.
	container string
	// workload is the Workload of the Instance.
	workload string
}

// isAt reports whether two places are of the same Pod in the same cell.
func (p place) isAt(other place) bool {
	return p.cell == other.cell && p.namespace == other.namespace && p.pod == other.pod
}

// places finds the Pods of Instances.
type places struct {
	hub      client.Reader
	projects Projects
}

// find returns the place of the Instance that a grant names. An *ending has the reason if no place exists. The project
// is asked only whether the Instance exists, and for the UID of its namespace. The place itself follows from the UIDs
// of the project and of the namespace, and from the hub's assignment: no object in a project can name the place of
// another project.
func (p *places) find(ctx context.Context, grant *Grant) (place, error) {
	project, err := p.projects.Client(ctx, grant.Project, grant.ProjectUID)
	if err != nil {
		return place{}, err
	}
	instance := &v1alpha.Instance{}
	wanted := grant.Spec.InstanceRef
	err = project.Get(ctx, client.ObjectKey{Namespace: grant.Namespace, Name: wanted.Name}, instance)
	switch {
	case wire.IsMissing(err, wanted.Name):
		return place{}, instanceGone("Instance %s does not exist", wanted.Name)
	case err != nil:
		return place{}, fmt.Errorf("get Instance %s of the project: %w", wanted.Name, err)
	case instance.UID != wanted.UID:
		return place{}, instanceGone("Instance %s was replaced by another one of its name, with UID %s", wanted.Name, instance.UID)
	}
	origin := originOf(grant)
	namespaceUID, err := origin.NamespaceUID(ctx, project)
	if err != nil {
		return place{}, err
	}
	return p.onHub(ctx, grant, origin.HubNamespace(namespaceUID))
}

func originOf(grant *Grant) projects.Origin {
	return projects.Origin{Project: grant.Project, ProjectUID: grant.ProjectUID, Namespace: grant.Namespace}
}

// onHub returns the place of the Instance of a grant in a hub namespace.
func (p *places) onHub(ctx context.Context, grant *Grant, hubNamespace string) (place, error) {
	origin, instance := originOf(grant), grant.Spec.InstanceRef.Name
	deployment, index, ok := split(instance)
	if !ok {
		return place{}, instanceGone("%s is no name of an Instance", instance)
	}
	stored := &v1alpha.WorkloadDeployment{}
	err := p.hub.Get(ctx, client.ObjectKey{Namespace: hubNamespace, Name: deployment}, stored)
	switch {
	case apierrors.IsNotFound(err):
		return place{}, instanceGone("WorkloadDeployment %s is not on the hub", deployment)
	case err != nil:
		return place{}, fmt.Errorf("get WorkloadDeployment %s of the hub: %w", deployment, err)
	case !origin.Marks(stored) || stored.Spec.Assignment == nil:
		return place{}, instanceGone("WorkloadDeployment %s is not assigned to a cell", deployment)
	}
	cell := stored.Spec.Assignment.Owner(index)
	if cell == "" {
		return place{}, instanceGone("Instance %s is not assigned to a cell", instance)
	}
	found := place{cell: cell, namespace: hubNamespace, pod: instance, workload: stored.Spec.WorkloadRef.Name}
	// The hub's copy has the template that the cell gets. An Instance in the project may be written by others while
	// admission is bypassed.
	if found.container, err = containerOf(&stored.Spec.Template.Spec, &grant.Spec); err != nil {
		return found, err
	}
	return found, p.reachable(ctx, cell)
}

// reachable returns an ending while Karmada's proxy does not lead to a cell.
func (p *places) reachable(ctx context.Context, cell string) error {
	cluster := &clusterv1alpha1.Cluster{}
	err := p.hub.Get(ctx, client.ObjectKey{Name: cell}, cluster)
	switch {
	case apierrors.IsNotFound(err):
		return instanceGone("the cell of the Instance, %s, has left the federation", cell)
	case err != nil:
		return fmt.Errorf("get Cluster %s of the hub: %w", cell, err)
	case cluster.Spec.SyncMode == clusterv1alpha1.Pull && cluster.Spec.ProxyURL == "":
		return unreachable("the cell of the Instance, %s, is in pull mode: no connection leads from the hub to it. An operator can run "+
			"Karmada's tunnel (apiserver-network-proxy) and set spec.proxyURL of Cluster %s", cell, cell)
	case cluster.Spec.APIEndpoint == "" || cluster.Spec.ImpersonatorSecretRef == nil:
		return unreachable("Karmada's proxy has no address or no credential of the cell of the Instance, %s: spec.apiEndpoint and "+
			"spec.impersonatorSecretRef of Cluster %s must be set. An operator can let karmada-agent report them "+
			"(--report-secrets=KubeCredentials,KubeImpersonator), or join a cell in push mode again", cell, cell)
	case meta.IsStatusConditionFalse(cluster.Status.Conditions, clusterv1alpha1.ClusterConditionReady):
		return unreachable("the cell of the Instance, %s, does not answer the hub; an operator can check condition Ready of Cluster %s", cell,
			cell)
	}
	return nil
}

// split divides the name of an Instance into its deployment and its index.
func split(instance string) (deployment string, index int, ok bool) {
	at := strings.LastIndexByte(instance, '-')
	if at <= 0 {
		return "", 0, false
	}
	index, err := strconv.Atoi(instance[at+1:])
	if err != nil {
		return "", 0, false
	}
	// Only the name that is built from both counts: not one with index +1 or 01.
	found, ok := naming.InstanceIndex(instance[:at], instance)
	return instance[:at], found, ok && found == index
}

// sharedFor is how long the checks of running streams share an answer. Streams of one project ask for the same project,
// namespaces, deployments and Clusters. A new stream asks past these answers.
const sharedFor = watchInterval / 2

// answers are the last answers of projects and of the hub. They are safe for concurrent use.
type answers struct {
	stored  *cache.Expiring
	flights singleflight.Group
}

// answer is an answer of an API server: an object or client, or that it does not exist.
type answer struct {
	value any
	err   error
}

// shared returns places that share their answers.
func (p *places) shared(a *answers) places {
	return places{hub: sharedReader{Reader: p.hub, answers: a, plane: "hub"}, projects: sharedProjects{Projects: p.projects, answers: a}}
}

func newAnswers(c clock.Clock) *answers {
	return &answers{stored: cache.NewExpiringWithClock(c)}
}

// get returns the answer to a question, and asks only if there is no recent answer. Failures are not stored.
func (a *answers) get(question string, ask func() (any, error)) (any, error) {
	value, err, _ := a.flights.Do(question, func() (any, error) {
		if stored, ok := a.stored.Get(question); ok {
			return stored.(answer).value, stored.(answer).err
		}
		value, err := ask()
		if err == nil || apierrors.IsNotFound(err) {
			a.stored.Set(question, answer{value, err}, sharedFor)
		}
		return value, err
	})
	return value, err
}

// sharedReader gets objects of one plane, which it shares with other checks: they must not be changed.
type sharedReader struct {
	client.Reader
	answers *answers
	plane   string
}

// Get implements client.Reader.
func (r sharedReader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	got, err := r.answers.get(fmt.Sprintf("%s %T %s", r.plane, object, key), func() (any, error) {
		fresh, ok := reflect.TypeAssert[client.Object](reflect.New(reflect.TypeOf(object).Elem()))
		if !ok {
			return nil, fmt.Errorf("%T is no object", object)
		}
		return fresh, r.Reader.Get(ctx, key, fresh, options...)
	})
	if err != nil {
		return err
	}
	reflect.ValueOf(object).Elem().Set(reflect.ValueOf(got).Elem())
	return nil
}

// sharedProjects reaches projects for the checks of running streams. Reviews of permissions are not shared: a withdrawn
// permission must count within 10 s.
type sharedProjects struct {
	Projects
	answers *answers
}

// Client returns a client whose reads are shared.
func (p sharedProjects) Client(ctx context.Context, name string, uid types.UID) (client.Client, error) {
	plane := fmt.Sprintf("project %s %s", name, uid)
	got, err := p.answers.get(plane, func() (any, error) { return p.Projects.Client(ctx, name, uid) })
	if err != nil {
		return nil, err
	}
	reached, ok := got.(client.Client)
	if !ok {
		return nil, fmt.Errorf("%T is no client", got)
	}
	return sharedClient{Client: reached, reader: sharedReader{Reader: reached, answers: p.answers, plane: plane}}, nil
}

type sharedClient struct {
	client.Client
	reader sharedReader
}

// Get implements client.Reader.
func (c sharedClient) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return c.reader.Get(ctx, key, object, options...)
}
