// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

const (
	// projectsPath leads at Milo's root to the control planes of projects.
	projectsPath = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/"
	// causeSuspended is the cause that Milo gives when it refuses a write in a suspended project.
	causeSuspended metav1.CauseType = "ProjectSuspended"
	// suspensionTimeout bounds the requests that find out whether the project is suspended.
	suspensionTimeout = 5 * time.Second
)

// miloProjects is the group and version of Projects.
var miloProjects = schema.GroupVersion{Group: "resourcemanager.miloapis.com", Version: "v1alpha1"}

// addSuspension shows that the project is suspended if its objects cannot: a Milo that refuses writes in suspended
// projects refuses writes of a status, too. It reads the Project at Milo's root or, if the user may not read the
// Project, checks the refusal of a write that changes nothing. If neither gives an answer, the objects are shown
// unchanged.
func (s *Session) addSuspension(ctx context.Context, snapshot *view.Snapshot) {
	if s.Project == nil || snapshot.Workload == nil || snapshot.ShowsSuspension() {
		return
	}
	if suspension := s.Suspension(ctx, snapshot.Workload); suspension != nil {
		snapshot.Suspend(*suspension)
	}
}

// Suspension returns the suspension of the project, if it is suspended and that can be found out. It may write a
// Workload, without a change and as a dry run.
func (s *Session) Suspension(ctx context.Context, workload *v1alpha.Workload) *view.Suspension {
	root, project, ok := rootOf(s.Project.Config)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, suspensionTimeout)
	defer cancel()
	suspension, err := suspensionAt(ctx, root, project)
	if err != nil {
		suspension = refusalOf(s.Project.Client.Patch(ctx, workload.DeepCopy(),
			client.RawPatch(types.MergePatchType, []byte("{}")), client.DryRunAll))
	}
	return suspension
}

// rootOf returns the configuration of Milo's root, and the name of the project that a configuration is for.
func rootOf(config *rest.Config) (root *rest.Config, project string, ok bool) {
	host, path, ok := strings.Cut(config.Host, projectsPath)
	project, plane, _ := strings.Cut(path, "/")
	if !ok || project == "" || strings.Trim(plane, "/") != "control-plane" {
		return nil, "", false
	}
	root = rest.CopyConfig(config)
	root.Host = host
	return root, project, true
}

// suspensionAt reads the Project at Milo's root. It returns nil for a project that is not suspended.
func suspensionAt(ctx context.Context, root *rest.Config, project string) (*view.Suspension, error) {
	plane, err := PlaneOf(root)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(miloProjects.WithKind("Project"))
	if err := plane.Client.Get(ctx, client.ObjectKey{Name: project}, object); err != nil {
		return nil, err
	}
	var observed struct {
		Status struct {
			Conditions  []metav1.Condition `json:"conditions"`
			Suspensions []struct {
				Reason string `json:"reason"`
			} `json:"suspensions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &observed); err != nil {
		return nil, err
	}
	condition := meta.FindStatusCondition(observed.Status.Conditions, v1alpha.ConditionSuspended)
	if condition == nil || condition.Status != metav1.ConditionTrue {
		return nil, nil
	}
	var given []string
	for _, suspension := range observed.Status.Suspensions {
		given = append(given, suspension.Reason)
	}
	slices.Sort(given)
	what := "the project is suspended"
	if given = slices.Compact(given); len(given) > 0 {
		what += fmt.Sprintf(" (%s)", strings.Join(given, ", "))
	}
	return suspended(what, condition.LastTransitionTime), nil
}

// refusalOf reads from the answer to a write that the project is suspended. It returns nil for any other answer.
func refusalOf(err error) *view.Suspension {
	var status apierrors.APIStatus
	if !apierrors.HasStatusCause(err, causeSuspended) || !errors.As(err, &status) {
		return nil
	}
	causes := status.Status().Details.Causes
	index := slices.IndexFunc(causes, func(c metav1.StatusCause) bool { return c.Type == causeSuspended })
	if causes[index].Message == "" {
		return suspended("the project is suspended", metav1.Time{})
	}
	return suspended(causes[index].Message, metav1.Time{})
}

func suspended(what string, since metav1.Time) *view.Suspension {
	return &view.Suspension{
		Message: what + "; the project does not show it, because its control plane refuses status updates: kubectl get shows the state before",
		Since:   since,
	}
}
