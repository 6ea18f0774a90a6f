// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/live"
)

// AnnotationDefaultContainer is the annotation of a template that names the container of commands without a name, as
// for a Pod.
const AnnotationDefaultContainer = "kubectl.kubernetes.io/default-container"

// ContainersOf returns the names of the containers of an Instance.
func ContainersOf(instance *v1alpha.Instance) (names []string) {
	if sandbox := instance.Spec.Runtime.Sandbox; sandbox != nil {
		for i := range sandbox.Containers {
			names = append(names, sandbox.Containers[i].Name)
		}
	}
	return names
}

// ContainerOf returns the container of an Instance with a name or, without a name, the one that the template names, or
// the first.
func ContainerOf(instance *v1alpha.Instance, name string) (string, error) {
	names := ContainersOf(instance)
	switch named := instance.Annotations[AnnotationDefaultContainer]; {
	case len(names) == 0:
		return "", fmt.Errorf("Instance %s has no containers", instance.Name)
	case name == "" && slices.Contains(names, named):
		return named, nil
	case name == "":
		return names[0], nil
	case slices.Contains(names, name):
		return name, nil
	}
	return "", fmt.Errorf("container %s is not in Instance %s, which has %s", name, instance.Name, strings.Join(names, ", "))
}

// ContainerLog is the log of a container of an Instance.
type ContainerLog struct {
	Instance  *v1alpha.Instance
	Container string
}

// Copy copies the log to out, over sessions with a lifetime.
func (l ContainerLog) Copy(
	ctx context.Context, project *live.Plane, options *v1alpha.SessionLogOptions, lifetime time.Duration, out io.Writer,
) error {
	open := func(ctx context.Context, options *v1alpha.SessionLogOptions) (*Session, error) {
		reference := v1alpha.SessionInstanceReference{Name: l.Instance.Name, UID: l.Instance.UID}
		session := logSession(l.Instance.Namespace, reference, options, lifetime)
		session.Spec.ContainerName = l.Container
		return Open(ctx, project, session)
	}
	if err := copyLog(ctx, open, options, out); err != nil {
		return fmt.Errorf("Instance %s: %w", l.Instance.Name, err)
	}
	return nil
}

// TryLog returns the error with which the API server would refuse a followed log in a namespace. It stores nothing.
func TryLog(ctx context.Context, project *live.Plane, namespace string, lifetime time.Duration) error {
	reference := v1alpha.SessionInstanceReference{Name: "any", UID: "any"}
	return try(ctx, project, logSession(namespace, reference, &v1alpha.SessionLogOptions{Follow: true}, lifetime))
}

// logSession returns a session for a log.
func logSession(
	namespace string, instance v1alpha.SessionInstanceReference, options *v1alpha.SessionLogOptions, lifetime time.Duration,
) *v1alpha.InstanceSession {
	return &v1alpha.InstanceSession{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "logs-"},
		Spec: v1alpha.InstanceSessionSpec{
			Type: v1alpha.SessionLogs, InstanceRef: instance, Logs: options,
			TTLSeconds: int32(lifetime / time.Second), //nolint:gosec // admission bounds it
		},
	}
}
