// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// addNamespaceSteps are the sentences about projects that are namespaces of the hub. The scenario is in that namespace.
func addNamespaceSteps(sc sentences) {
	sc.Step(`^a namespace of the hub (that is a project|without the label)$`, func(ctx context.Context, what string) error {
		s := from(ctx)
		s.project = s.namespace
		labels := map[string]string{}
		if what == "that is a project" {
			labels[v1alpha.LabelNamespaceProject] = v1alpha.NamespaceProject
		}
		s.made.add("the namespace", func(ctx context.Context) error { return s.removeNamespace(ctx, s.project) })
		return s.labelNamespace(ctx, labels)
	})
	sc.Step(`^the namespace is made again$`, func(ctx context.Context) error {
		s := from(ctx)
		return s.labelNamespace(ctx, map[string]string{v1alpha.LabelNamespaceProject: v1alpha.NamespaceProject})
	})
	sc.Step(`^a second namespace of the hub that is a project, "([^"]*)"$`, func(ctx context.Context, name string) error {
		s := from(ctx)
		other := s.in(s.namespace)
		other.namespace, other.project = s.namespace+"-"+name, s.namespace+"-"+name
		s.values[name] = other.namespace
		s.made.add("the namespace "+name, func(ctx context.Context) error { return other.removeNamespace(ctx, other.project) })
		return other.labelNamespace(ctx, map[string]string{v1alpha.LabelNamespaceProject: v1alpha.NamespaceProject})
	})
}

// labelNamespace creates the scenario's namespace on the hub, with labels, and gives the consumer the ordinary role edit there.
func (s *scenario) labelNamespace(ctx context.Context, labels map[string]string) error {
	hub := s.client("hub", admin)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace, Labels: labels}}
	if err := hub.Create(ctx, namespace); err != nil {
		return fmt.Errorf("create namespace %s of the hub: %w", s.namespace, err)
	}
	s.hubNamespaces[s.project] = naming.HubNamespace(string(namespace.UID), string(namespace.UID))
	s.projectUIDs[s.project] = string(namespace.UID)
	if err := hub.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: consumer},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: consumer}},
	}); err != nil {
		return fmt.Errorf("bind role edit in namespace %s of the hub: %w", s.namespace, err)
	}
	// The role follows a moment later.
	reader := s.client("hub", consumer)
	return eventually(ctx, func(ctx context.Context) error {
		return reader.List(ctx, &v1alpha.WorkloadList{}, client.InNamespace(s.namespace))
	})
}
