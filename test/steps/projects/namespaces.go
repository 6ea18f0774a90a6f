// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addNamespaceSteps adds the sentences about projects that are namespaces of the hub. The scenario uses that namespace.
func addNamespaceSteps(sc world.Sentences) {
	sc.Step(`^a namespace of the hub (that is a project|without the label)$`, func(ctx context.Context, what string) error {
		s := from(ctx)
		s.Project = s.Namespace
		labels := map[string]string{}
		if what == "that is a project" {
			labels[v1alpha.LabelNamespaceProject] = v1alpha.NamespaceProject
		}
		s.Made.Add("the namespace", func(ctx context.Context) error { return s.removeNamespace(ctx, s.Project) })
		return s.labelNamespace(ctx, labels)
	})
	sc.Step(`^the namespace is recreated$`, func(ctx context.Context) error {
		s := from(ctx)
		return s.labelNamespace(ctx, map[string]string{v1alpha.LabelNamespaceProject: v1alpha.NamespaceProject})
	})
	sc.Step(`^an operator gives the consumer their role in the namespace again$`, func(ctx context.Context) error {
		return from(ctx).bindConsumer(ctx)
	})
	sc.Step(`^a second namespace of the hub that is a project, "([^"]*)"$`, func(ctx context.Context, name string) error {
		s := from(ctx)
		other := In(s.In(s.Namespace))
		other.Namespace, other.Project = s.Namespace+"-"+name, s.Namespace+"-"+name
		s.Values[name] = other.Namespace
		s.Made.Add("the namespace "+name, func(ctx context.Context) error { return other.removeNamespace(ctx, other.Project) })
		return other.labelNamespace(ctx, map[string]string{v1alpha.LabelNamespaceProject: v1alpha.NamespaceProject})
	})
}

// labelNamespace creates the scenario's namespace on the hub, with labels, and gives the consumer the role of a
// consumer there.
func (s Steps) labelNamespace(ctx context.Context, labels map[string]string) error {
	hub := s.Client("hub", world.Admin)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace, Labels: labels}}
	if err := hub.Create(ctx, namespace); err != nil {
		return fmt.Errorf("create namespace %s of the hub: %w", s.Namespace, err)
	}
	s.HubNamespaces[s.Project] = naming.HubNamespace(string(namespace.UID), string(namespace.UID))
	s.ProjectUIDs[s.Project] = string(namespace.UID)
	return s.bindConsumer(ctx)
}

// bindConsumer gives the consumer the role of a consumer in the scenario's namespace on the hub.
func (s Steps) bindConsumer(ctx context.Context) error {
	if err := s.Client("hub", world.Admin).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: world.Consumer},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "karmada-compute-consumer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: world.Consumer}},
	}); err != nil {
		return fmt.Errorf("bind the role of a consumer in namespace %s of the hub: %w", s.Namespace, err)
	}
	// The role takes effect a moment later.
	reader := s.Client("hub", world.Consumer)
	return world.Eventually(ctx, func(ctx context.Context) error {
		return reader.List(ctx, &v1alpha.WorkloadList{}, client.InNamespace(s.Namespace))
	})
}
