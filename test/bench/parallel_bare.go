// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/federation"
)

const (
	// instanceCRD is the CRD of Instances, below the root of the repository.
	instanceCRD = "api/crds/compute.datumapis.com_instances.yaml"
	// bareClients is how many requests are under way at once in each plane.
	bareClients = 16
)

// bareResource are Instances of a kind that no controller watches and no webhook reviews.
var bareResource = schema.GroupVersionResource{Group: floorGroup, Version: instanceResource.Version, Resource: instanceResource.Resource}

// bareInstances writes what cannot be left out where Instances are visible: each is created in a plane, and its status is written once.
type bareInstances struct {
	plane  string
	client dynamic.ResourceInterface
	// model is an Instance as the add-on has written it.
	model *unstructured.Unstructured
}

// openBare prepares the bare writes in the cell and in the project, after Instances of the Workload with a name.
func (s *stage) openBare(ctx context.Context, workload string) ([]*bareInstances, error) {
	var all []*bareInstances
	for _, plane := range []string{cellPlane, plane} {
		c, err := s.client(plane, federation.Admin)
		if err != nil {
			return nil, err
		}
		bare := &bareInstances{plane: plane, client: c.Resource(bareResource).Namespace(namespace)}
		if bare.model, err = modelOf(ctx, c, workload); err != nil {
			return nil, fmt.Errorf("%s: %w", plane, err)
		}
		if err := bare.install(ctx, c); err != nil {
			return nil, fmt.Errorf("%s: %w", plane, err)
		}
		all = append(all, bare)
	}
	return all, nil
}

// modelOf is an Instance of a Workload, of the bare kind and without what says whose it is.
func modelOf(ctx context.Context, c dynamic.Interface, workload string) (*unstructured.Unstructured, error) {
	selector := v1alpha.LabelWorkloadName + "=" + workload
	found, err := c.Resource(instanceResource).List(ctx, metav1.ListOptions{LabelSelector: selector, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(found.Items) == 0 {
		return nil, fmt.Errorf("no Instance of Workload %s is here", workload)
	}
	stored := &found.Items[0]
	model := object(bareResource.GroupVersion().String(), stored.GetKind(), "", map[string]any{"spec": stored.Object["spec"], "status": stored.Object["status"]})
	model.SetLabels(stored.GetLabels())
	model.SetAnnotations(stored.GetAnnotations())
	return model, nil
}

// install installs the bare kind, and waits until it is served.
func (b *bareInstances) install(ctx context.Context, c dynamic.Interface) error {
	source, err := os.ReadFile(instanceCRD)
	if err != nil {
		return fmt.Errorf("run this at the root of the repository: %w", err)
	}
	crd, err := renameCRD(source, floorGroup)
	if err != nil {
		return err
	}
	if _, err := c.Resource(crdResource).Create(ctx, crd, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		probe := b.model.DeepCopy()
		probe.SetName("probe")
		_, err := b.client.Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
}

// write writes so many Instances, each of which has a name that begins with prefix.
func (b *bareInstances) write(ctx context.Context, prefix string, count int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(bareClients)
	for i := range count {
		group.Go(func() error {
			wanted := b.model.DeepCopy()
			wanted.SetName(fmt.Sprintf("%s-%d", prefix, i))
			created, err := b.client.Create(ctx, wanted, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			created.Object["status"] = b.model.Object["status"]
			_, err = b.client.UpdateStatus(ctx, created, metav1.UpdateOptions{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("bare writes in %s: %w", b.plane, err)
	}
	return nil
}

// measureBare measures a StatefulSet of the floor and, at the same time, what must be written at least for as many Instances that can be
// seen: each in the cell and in the project, created and with a status, by clients that do nothing else.
func (r *readySubject) measureBare(ctx context.Context, o *parallelOptions, count int) (*parallelResult, error) {
	planes, err := r.stage.openBare(ctx, parallelName(count))
	if err != nil {
		return nil, err
	}
	return r.measured(ctx, count, func(ctx context.Context, seen *readyNames) (time.Duration, error) {
		name, begin := fmt.Sprintf("bare-%d", count), time.Now()
		group, groupCtx := errgroup.WithContext(ctx)
		group.Go(func() error {
			_, err := r.one(groupCtx, seen, name, o.deadline)
			return err
		})
		for _, bare := range planes {
			group.Go(func() error { return bare.write(groupCtx, name, count) })
		}
		err := group.Wait()
		return time.Since(begin), err
	})
}
