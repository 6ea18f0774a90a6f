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
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/federation"
	"github.com/karmada-compute/karmada-compute/policies"
)

const (
	// cell is the one cell of the city, and workNamespace where Karmada keeps what goes there.
	cell          = "dfw"
	workNamespace = "karmada-es-" + cell
	// carriedNamespace is where the subjects are, on the hub and in the cell. It belongs to no project.
	carriedNamespace = "bench-interpreter"

	hubPlane  = "hub"
	cellPlane = "cell/" + cell
)

// Kinds of objects that are written after an update, in this order.
const (
	inCell    = "cell"
	inWork    = "Work"
	inBinding = "ResourceBinding"
	onHub     = "hub"
)

var (
	statefulSetResource = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	deploymentResource  = v1alpha.GroupVersion.WithResource("workloaddeployments")
	sliceResource       = v1alpha.GroupVersion.WithResource("instanceslices")
	workResource        = schema.GroupVersionResource{Group: workv1alpha1.GroupName, Version: "v1alpha1", Resource: "works"}
	bindingResource     = schema.GroupVersionResource{Group: workv1alpha2.GroupName, Version: "v1alpha2", Resource: "resourcebindings"}
	// interpreterResources are the registrations on the hub in each mode.
	interpreterResources = map[string]schema.GroupVersionResource{
		webhookMode:       {Group: "config.karmada.io", Version: "v1alpha1", Resource: "resourceinterpreterwebhookconfigurations"},
		customizationMode: {Group: "config.karmada.io", Version: "v1alpha1", Resource: "resourceinterpretercustomizations"},
	}
)

// carriedPlanes are the hub and the cell.
type carriedPlanes struct {
	stage                 *stage
	hub, cell             client.Client
	hubConfig, cellConfig *rest.Config
}

// openPlanes creates the subjects' namespace and policies. After it, no other process writes a status in the cell.
func (s *stage) openPlanes(ctx context.Context) (*carriedPlanes, error) {
	if err := s.addOn.Configure(ctx, func(o *federation.AddOnOptions) { o.WithoutAgents = true }); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha.AddToScheme(scheme), policyv1alpha1.Install(scheme)); err != nil {
		return nil, fmt.Errorf("build the scheme: %w", err)
	}
	p := &carriedPlanes{stage: s}
	var err error
	if p.hubConfig, p.hub, err = s.typedClient(scheme, hubPlane); err != nil {
		return nil, err
	}
	if p.cellConfig, p.cell, err = s.typedClient(scheme, cellPlane); err != nil {
		return nil, err
	}
	deployments := policies.CityPolicy(carriedNamespace, policies.City{Code: city, Cells: []string{cell}})
	statefulSets := deployments.DeepCopy()
	statefulSets.Name = "floor"
	statefulSets.Spec.ResourceSelectors = []policyv1alpha1.ResourceSelector{{
		APIVersion: statefulSetResource.GroupVersion().String(), Kind: "StatefulSet", Namespace: carriedNamespace,
	}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: carriedNamespace}}
	for _, object := range []client.Object{namespace, deployments, statefulSets} {
		if err := p.hub.Create(ctx, object); err != nil {
			return nil, fmt.Errorf("create %T %s on the hub: %w", object, object.GetName(), err)
		}
	}
	// Karmada creates it there.
	return p, eventually(ctx, func(ctx context.Context) error {
		return p.cell.Get(ctx, client.ObjectKey{Name: carriedNamespace}, &corev1.Namespace{})
	})
}

func (s *stage) typedClient(scheme *runtime.Scheme, plane string) (*rest.Config, client.Client, error) {
	config, err := s.federation.Config(plane, federation.Admin)
	if err != nil {
		return nil, nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, nil, fmt.Errorf("make a client for %s: %w", plane, err)
	}
	return config, c, nil
}

// followed is a watch of objects that are written after an update.
type followed struct {
	what      string
	config    *rest.Config
	resource  schema.GroupVersionResource
	namespace string
}

// followed are the watches for subjects of a resource. Nothing else changes in these namespaces.
func (p *carriedPlanes) followed(resource schema.GroupVersionResource) []followed {
	return []followed{
		{inCell, p.cellConfig, resource, carriedNamespace},
		{inCell, p.cellConfig, sliceResource, carriedNamespace},
		{inWork, p.hubConfig, workResource, workNamespace},
		{inBinding, p.hubConfig, bindingResource, carriedNamespace},
		{onHub, p.hubConfig, resource, carriedNamespace},
	}
}

// Processes whose CPU time is reported.
const controllerManager = "karmada-controller-manager"

// cpu is the CPU time of processes, by name. It leaves out those that cannot be read.
func (p *carriedPlanes) cpu() map[string]time.Duration {
	used := map[string]time.Duration{}
	for _, name := range []string{controllerManager, replica} {
		if took, err := cpuOf(p.stage.pid(name)); err == nil {
			used[name] = took
		}
	}
	return used
}

// Values of --interpreter-mode.
const (
	webhookMode       = "webhook"
	customizationMode = "customization"
)

// interpret restarts the add-on in a mode and waits until the other mode is not registered any more.
func (s *stage) interpret(ctx context.Context, mode string) error {
	err := s.addOn.Configure(ctx, func(o *federation.AddOnOptions) { o.Args = []string{"--interpreter-mode=" + mode} })
	if err != nil {
		return err
	}
	hub, err := s.client(hubPlane, federation.Admin)
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		for registered, resource := range interpreterResources {
			_, err := hub.Resource(resource).Get(ctx, "karmada-compute", metav1.GetOptions{})
			if registered == mode && err != nil {
				return err
			}
			if registered != mode && !apierrors.IsNotFound(err) {
				return errors.Join(fmt.Errorf("the interpreter of mode %s is still registered", registered), err)
			}
		}
		return nil
	})
}
