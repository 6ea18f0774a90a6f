// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/federation"
)

// planeClients are the clients of a federation's planes.
type planeClients struct {
	federation *federation.Federation
	clients    map[[2]string]client.WithWatch
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha.AddToScheme, policyv1alpha1.Install, workv1alpha1.Install, workv1alpha2.Install,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("build the scheme: %w", err)
		}
	}
	return scheme, nil
}

// client returns a user's client of a plane. It is created on first use.
func (p *planeClients) client(plane, user string) (client.WithWatch, error) {
	key := [2]string{plane, user}
	if c, ok := p.clients[key]; ok {
		return c, nil
	}
	config, err := p.federation.Config(plane, user)
	if err != nil {
		return nil, err
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("create a client of %s for %s: %w", user, plane, err)
	}
	p.clients[key] = c
	return c, nil
}

// waitForAccess waits until the consumer's access is copied from Milo's root to the project. It polls, because until then
// the consumer may not watch anything.
func (p *planeClients) waitForAccess(ctx context.Context, plane string) error {
	c, err := p.client(plane, consumer)
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		for _, list := range []client.ObjectList{
			&v1alpha.WorkloadList{}, &v1alpha.WorkloadDeploymentList{}, &v1alpha.InstanceList{},
		} {
			err := c.List(ctx, list, client.InNamespace(namespace))
			if apierrors.IsForbidden(err) {
				last = err
				return false, nil
			}
			if err != nil {
				return false, err
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("wait until user %s has access to the project: %w", consumer, errors.Join(err, last))
	}
	return nil
}
