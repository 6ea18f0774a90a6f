// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/federation"
)

var clusterResource = schema.GroupVersionResource{Group: clusterv1alpha1.GroupName, Version: "v1alpha1", Resource: "clusters"}

// addCells adds Clusters until so many are there beside the cell. Each is as large as that one's, of a city of its own, and a member in
// pull mode without an agent: Karmada has bindings and Works for it, and nobody takes them.
func (s *stage) addCells(ctx context.Context, count int) error {
	if count == 0 {
		return nil
	}
	hub, err := s.client(hubPlane, federation.Admin)
	if err != nil {
		return err
	}
	clusters := hub.Resource(clusterResource)
	joined, err := clusters.Get(ctx, cell, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for i := range count {
		name := fmt.Sprintf("far-%d", i)
		added := object(clusterv1alpha1.GroupVersion.String(), "Cluster", name, map[string]any{
			"spec": map[string]any{"syncMode": string(clusterv1alpha1.Pull), "id": name},
		})
		added.SetLabels(map[string]string{v1alpha.LabelTopologyCity: fmt.Sprintf("x%02d", i)})
		if _, err := clusters.Create(ctx, added, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
			continue
		} else if err != nil {
			return err
		}
		// Karmada writes it, too.
		if err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			created, err := clusters.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			created.Object["status"] = joined.Object["status"]
			_, err = clusters.UpdateStatus(ctx, created, metav1.UpdateOptions{})
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
