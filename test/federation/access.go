// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	rbacGroup   = "rbac.authorization.k8s.io"
	rbacVersion = rbacGroup + "/v1"
)

// webhookConfiguration is a kind of webhook configuration, with the name that the add-on registers on a plane.
type webhookConfiguration struct {
	plane string
	kinds []schema.GroupVersionResource
}

// webhookConfigurations returns what the add-on registers.
func (a *AddOn) webhookConfigurations() ([]webhookConfiguration, error) {
	admission := []schema.GroupVersionResource{
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"},
	}
	interpreters := []schema.GroupVersionResource{
		{Group: "config.karmada.io", Version: "v1alpha1", Resource: "resourceinterpreterwebhookconfigurations"},
		{Group: "config.karmada.io", Version: "v1alpha1", Resource: "resourceinterpretercustomizations"},
	}
	if a.federation.state.WithoutMilo {
		return []webhookConfiguration{{planeHub, interpreters}, {planeHub, admission}}, nil
	}
	configurations := []webhookConfiguration{{planeMilo, admission}, {planeHub, interpreters}}
	projects, err := a.federation.projects()
	if err != nil {
		return nil, err
	}
	for _, project := range projects {
		configurations = append(configurations, webhookConfiguration{planeProjectDirect + project, admission})
	}
	return configurations, nil
}

// serves reports whether a plane is permanent: it is not the control plane of a deleted project.
func (f *Federation) serves(ctx context.Context, plane string) bool {
	project, ok := strings.CutPrefix(plane, planeProjectDirect)
	if !ok {
		return true
	}
	root, err := f.plane(planeMiloRoot)
	if err != nil {
		return true
	}
	found, err := root.dynamic.Resource(projectResource).Get(ctx, project, metav1.GetOptions{})
	return !apierrors.IsNotFound(err) && (err != nil || found.GetDeletionTimestamp() == nil)
}

// waitWebhooks waits until the add-on's webhooks are registered everywhere:
// until then objects are admitted without calling them.
func (a *AddOn) waitWebhooks(ctx context.Context) error {
	configurations, err := a.webhookConfigurations()
	if err != nil {
		return err
	}
	for _, configuration := range configurations {
		name, resources := configuration.plane, configuration.kinds
		client, err := a.federation.plane(name)
		if err != nil {
			return err
		}
		err = await(ctx, readyInterval, func(ctx context.Context) (err error) {
			if !a.federation.serves(ctx, name) {
				return nil
			}
			for _, resource := range resources {
				if _, err = client.dynamic.Resource(resource).Get(ctx, addOnUser, metav1.GetOptions{}); err == nil {
					return nil
				}
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("the add-on has not registered its %s at %s: %w", resources[0].Resource, name, err)
		}
	}
	return nil
}
