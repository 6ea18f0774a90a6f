// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	_ "embed" // the consumer's role
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Consumer is the user that writes Workloads, with only a consumer's permissions in projects.
const Consumer = "consumer"

var (
	workloadResource        = schema.GroupVersionResource{Group: "compute.datumapis.com", Version: "v1alpha", Resource: "workloads"}
	locationBindingResource = schema.GroupVersionResource{Group: "networking.datumapis.com", Version: "v1alpha", Resource: "locationbindings"}
)

// CreateProject creates a project of Milo and waits until it is Ready. Without Milo, it labels a namespace of the hub.
func (f *Federation) CreateProject(ctx context.Context, name string) error {
	if f.state.WithoutMilo {
		return f.labelNamespace(ctx, name)
	}
	milo, err := f.plane(planeMilo)
	if err != nil {
		return err
	}
	if err := milo.applyFile(ctx, "project.yaml", map[string]string{"name": name}); err != nil {
		return err
	}
	if err := milo.waitCondition(ctx, projectResource, name, "Ready"); err != nil {
		return err
	}
	f.progress.printf("project %s is Ready", name)
	return nil
}

// Equip makes cities available to projects, and lets Consumer write Workloads there. It waits until Consumer may.
// Without Milo, every city is available.
func (f *Federation) Equip(ctx context.Context, projects, cities []string) error {
	if f.state.WithoutMilo {
		for _, project := range projects {
			if err := f.admit(ctx, project); err != nil {
				return err
			}
		}
		return nil
	}
	milo, err := f.plane(planeMilo)
	if err != nil {
		return err
	}
	if err := milo.applyFile(ctx, "consumer.yaml", nil); err != nil {
		return err
	}
	for _, project := range projects {
		for _, city := range cities {
			if err := f.BindLocation(ctx, project, city); err != nil {
				return err
			}
		}
		if err := f.waitForConsumer(ctx, project); err != nil {
			return err
		}
	}
	return nil
}

// waitForConsumer waits until a role of Consumer is effective in a project.
func (f *Federation) waitForConsumer(ctx context.Context, project string) error {
	config, err := f.Config(planeProject+project, Consumer)
	if err != nil {
		return err
	}
	consumer, err := newPlane(config)
	if err != nil {
		return err
	}
	if err := consumer.waitForWorkloads(ctx, f.NamespaceIn(project)); err != nil {
		return fmt.Errorf("user %s has no access to project %s: %w", Consumer, project, err)
	}
	return nil
}

// waitForWorkloads waits until the user of the plane may list Workloads in a namespace.
func (p *plane) waitForWorkloads(ctx context.Context, namespace string) error {
	return await(ctx, readyInterval, func(ctx context.Context) error {
		_, err := p.dynamic.Resource(workloadResource).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		return err
	})
}

// BindLocation offers a city to a project, as Milo's service catalog does.
func (f *Federation) BindLocation(ctx context.Context, project, city string) error {
	admin, err := f.plane(planeProject + project)
	if err != nil {
		return err
	}
	if err := admin.bindLocation(ctx, city); err != nil {
		return fmt.Errorf("bind %s in project %s: %w", city, project, err)
	}
	return nil
}

func (p *plane) bindLocation(ctx context.Context, city string) error {
	objects, err := objectsOf("location.yaml", map[string]string{
		"name": locationName(city), "city": city, "now": time.Now().UTC().Format(time.RFC3339),
	})
	if err != nil {
		return err
	}
	if err := p.apply(ctx, objects[0]); err != nil {
		return err
	}
	_, err = p.dynamic.Resource(locationBindingResource).ApplyStatus(ctx, locationName(city), objects[1],
		metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	return err
}

// UnbindLocation withdraws a city from a project.
func (f *Federation) UnbindLocation(ctx context.Context, project, city string) error {
	admin, err := f.plane(planeProject + project)
	if err != nil {
		return err
	}
	return admin.unbindLocation(ctx, city)
}

func (p *plane) unbindLocation(ctx context.Context, city string) error {
	err := p.dynamic.Resource(locationBindingResource).Delete(ctx, locationName(city), metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func locationName(city string) string { return "location-" + strings.ToLower(city) }
