// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// Earlier has the deployments that cells report for a hub whose storage is lost, and the projects of the present hub that can take
// them over.
type Earlier struct {
	// Cells are the names of the Clusters with a city.
	Cells []string
	// Hubs are the UIDs of the earlier hubs.
	Hubs []string
	Rows []*EarlierRow
	// Projects are the projects without Milo, by name.
	Projects []*EarlierProject

	hub    string
	copies map[types.NamespacedName]bool
	// namespaces are the namespaces of the present hub, and identities their names by their UIDs as projects.
	namespaces map[string]*corev1.Namespace
	identities map[types.UID]string
}

// EarlierRow is a deployment in a cell.
type EarlierRow struct {
	Project, Workload, City, Cell, Namespace, Hub string
	Ready, Desired                                int32
	// State is the outcome on the present hub.
	State string

	deployment              types.NamespacedName
	projectUID, workloadUID types.UID
}

// EarlierProject is a project that was a namespace of an earlier hub.
type EarlierProject struct {
	Name string
	// UID is the UID of the namespace on the earlier hub, and Workloads are the UIDs of its Workloads.
	UID       types.UID
	Workloads map[string]types.UID
	// Problem is why the project is not adopted; "": it can be.
	Problem string
	// IsAdopted: its namespace on the hub has the record.
	IsAdopted bool
}

// The states of a deployment of an earlier hub.
const (
	stateMilo    = "of Milo: its project takes it over by itself"
	stateOnHub   = "on the hub; if it stays here, the hub runs it in other cells: delete it"
	stateWaits   = "adopted; waits for its Workload"
	stateAdopt   = "can be adopted"
	stateProblem = "is not adopted"
)

// ReadEarlier reads from the hub which cells and copies it has.
func ReadEarlier(ctx context.Context, hub client.Reader) (*Earlier, error) {
	namespaces, clusters, copies := &corev1.NamespaceList{}, &clusterv1alpha1.ClusterList{}, &v1alpha.WorkloadDeploymentList{}
	if err := hub.List(ctx, namespaces); err != nil {
		return nil, fmt.Errorf("list the namespaces of the hub: %w", err)
	}
	e := &Earlier{copies: map[types.NamespacedName]bool{}, namespaces: map[string]*corev1.Namespace{}, identities: map[types.UID]string{}}
	for i := range namespaces.Items {
		namespace := &namespaces.Items[i]
		e.namespaces[namespace.Name] = namespace
		e.identities[namespace.UID] = namespace.Name
		e.identities[wire.AdoptionOf(namespace).Identity(namespace)] = namespace.Name
	}
	system := e.namespaces[metav1.NamespaceSystem]
	if system == nil {
		return nil, fmt.Errorf("the hub has no namespace %s, whose UID identifies it", metav1.NamespaceSystem)
	}
	e.hub = string(system.UID)
	if err := hub.List(ctx, clusters, client.HasLabels{v1alpha.LabelTopologyCity}); err != nil {
		return nil, fmt.Errorf("list the Clusters of the hub: %w", err)
	}
	if err := hub.List(ctx, copies, client.MatchingLabels{v1alpha.LabelHub: e.hub}); err != nil {
		return nil, fmt.Errorf("list the WorkloadDeployments of the hub: %w", err)
	}
	for i := range clusters.Items {
		e.Cells = append(e.Cells, clusters.Items[i].Name)
	}
	for i := range copies.Items {
		e.copies[client.ObjectKeyFromObject(&copies.Items[i])] = true
	}
	return e, nil
}

// AddCell reads the deployments of earlier hubs in a cell, or of one of them.
func (e *Earlier) AddCell(ctx context.Context, cell client.Reader, name, earlierHub string) error {
	list := &v1alpha.WorkloadDeploymentList{}
	if err := cell.List(ctx, list, client.HasLabels{v1alpha.LabelHub}); err != nil {
		return fmt.Errorf("list its WorkloadDeployments: %w", err)
	}
	for i := range list.Items {
		d := &list.Items[i]
		hub := d.Labels[v1alpha.LabelHub]
		if hub == e.hub || earlierHub != "" && hub != earlierHub || !d.DeletionTimestamp.IsZero() {
			continue
		}
		e.Rows = append(e.Rows, &EarlierRow{
			Project: d.Annotations[v1alpha.AnnotationProjectName], Workload: d.Spec.WorkloadRef.Name, City: d.Spec.CityCode, Cell: name,
			Namespace: d.Namespace, Hub: hub, Ready: d.Status.ReadyReplicas, Desired: d.Status.DesiredReplicas,
			deployment: client.ObjectKeyFromObject(d),
			projectUID: types.UID(d.Labels[v1alpha.LabelProjectUID]), workloadUID: d.Spec.WorkloadRef.UID,
		})
		if !slices.Contains(e.Hubs, hub) {
			e.Hubs = append(e.Hubs, hub)
		}
	}
	return nil
}

// isOfNamespace reports whether the project was a namespace. The name of the hub namespace proves it: of such a project it is
// derived from one UID, and of a project of Milo from two.
func (r *EarlierRow) isOfNamespace() bool {
	uid := string(r.projectUID)
	return wire.IsUID(uid) && r.Namespace == naming.HubNamespace(uid, uid)
}

// Judge sets the state of each deployment: of one project, or of all for "".
func (e *Earlier) Judge(ctx context.Context, hub client.Reader, project string) error {
	isOther := func(name string) bool { return project != "" && project != name }
	e.Projects = slices.DeleteFunc(projectsOf(e.Rows), func(p *EarlierProject) bool { return isOther(p.Name) })
	e.Rows = slices.DeleteFunc(e.Rows, func(r *EarlierRow) bool { return isOther(r.Project) })
	byName := map[string]*EarlierProject{}
	for _, p := range e.Projects {
		byName[p.Name] = p
		if err := e.judgeOnHub(ctx, hub, p); err != nil {
			return err
		}
	}
	for _, row := range e.Rows {
		switch {
		case e.copies[row.deployment]:
			row.State = stateOnHub
		case !row.isOfNamespace():
			row.State = stateMilo
		case byName[row.Project].Problem != "":
			row.State = stateProblem
		case byName[row.Project].IsAdopted:
			row.State = stateWaits
		default:
			row.State = stateAdopt
		}
	}
	slices.SortStableFunc(e.Rows, func(a, b *EarlierRow) int {
		return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Cell, b.Cell))
	})
	slices.Sort(e.Hubs)
	return nil
}

// projectsOf returns the projects without Milo that the rows name. A cell could report the Instances of one project as another's:
// where two rows contradict each other, neither is believed.
func projectsOf(rows []*EarlierRow) []*EarlierProject {
	projects, names, workloads := map[string]*EarlierProject{}, map[types.UID]string{}, map[types.UID]string{}
	for _, row := range rows {
		if !row.isOfNamespace() {
			continue
		}
		p := projects[row.Project]
		if p == nil {
			p = &EarlierProject{Name: row.Project, UID: row.projectUID, Workloads: map[string]types.UID{}, Problem: nameProblem(row.Project)}
			projects[row.Project] = p
		}
		known, other := p.Workloads[row.Workload], cmp.Or(names[row.projectUID], row.Project)
		names[row.projectUID] = other
		switch {
		case p.UID != row.projectUID:
			p.Problem = fmt.Sprintf("cells report it with the UIDs %s and %s (cell %s); delete in the cells what is not its own", p.UID,
				row.projectUID, row.Cell)
		case other != row.Project:
			p.Problem = fmt.Sprintf("cells report its UID %s for project %s, too; repair the cell that is wrong", p.UID, other)
			projects[other].Problem = p.Problem
		case known != "" && known != row.workloadUID, !wire.IsUID(string(row.workloadUID)),
			workloads[row.workloadUID] != "" && workloads[row.workloadUID] != row.Project+"/"+row.Workload:
			p.Problem = fmt.Sprintf("cells contradict each other about the UID of Workload %s (cell %s); delete in the cells what is not its own",
				row.Workload, row.Cell)
		default:
			workloads[row.workloadUID] = row.Project + "/" + row.Workload
			p.Workloads[row.Workload] = row.workloadUID
		}
	}
	return slices.SortedFunc(maps.Values(projects), func(a, b *EarlierProject) int { return cmp.Compare(a.Name, b.Name) })
}

// nameProblem returns why a namespace of this name cannot be a project.
func nameProblem(name string) string {
	if name == "" || strings.HasPrefix(name, "kube-") || strings.HasPrefix(name, "karmada-") || naming.IsHubNamespace(name) {
		return "a namespace of this name cannot be a project; delete the deployment in its cell"
	}
	return ""
}

// judgeOnHub compares a project with the namespaces of the hub.
func (e *Earlier) judgeOnHub(ctx context.Context, hub client.Reader, p *EarlierProject) error {
	namespace, other := e.namespaces[p.Name], e.identities[p.UID]
	switch {
	case p.Problem != "":
		return nil
	case other != "" && other != p.Name:
		p.Problem = fmt.Sprintf("cells report it with the UID %s, which namespace %s of the hub has; repair the cell that is wrong", p.UID, other)
		return nil
	case namespace == nil:
		return nil
	}
	record := wire.AdoptionOf(namespace)
	if p.IsAdopted = record.Project == p.UID; p.IsAdopted {
		return nil
	}
	workloads := &v1alpha.WorkloadList{}
	if err := hub.List(ctx, workloads, client.InNamespace(p.Name), client.Limit(1)); err != nil {
		return fmt.Errorf("list the Workloads in namespace %s of the hub: %w", p.Name, err)
	}
	switch {
	case record.Project != "":
		p.Problem = fmt.Sprintf("its namespace has taken over the project with UID %s already", record.Project)
	case len(workloads.Items) > 0:
		p.Problem = fmt.Sprintf("its namespace on the hub has Workload %s already, whose Instances run a second time; delete its Workloads, "+
			"adopt the project, and apply them again", workloads.Items[0].Name)
	}
	return nil
}
