// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/federation"
)

// equip gives projects the locations of all cells, as Milo's service catalog does, and lets the consumer write Workloads in them.
func equip(ctx context.Context, f *federation.Federation, projects []string) error {
	ctx, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	p := planeClients{federation: f, clients: map[[2]string]client.WithWatch{}}
	milo, err := p.client("milo", federation.Admin)
	if err != nil {
		return err
	}
	for _, object := range []client.Object{consumerRole(), consumerBinding()} {
		if err := milo.Create(ctx, object); err != nil {
			return fmt.Errorf("create %T %s at Milo's root: %w", object, object.GetName(), err)
		}
	}
	for _, name := range projects {
		plane := "project/" + name
		admin, err := p.client(plane, federation.Admin)
		if err != nil {
			return err
		}
		for _, cell := range f.Cells() {
			if err := bindLocation(ctx, admin, cell.City); err != nil {
				return fmt.Errorf("bind the location of %s in project %s: %w", cell.City, name, err)
			}
		}
		if err := p.waitForAccess(ctx, plane); err != nil {
			return err
		}
	}
	return nil
}
