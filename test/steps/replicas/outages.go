// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/karmada-compute/karmada-compute/test/steps/projects"
	"github.com/karmada-compute/karmada-compute/test/steps/workloads"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// hangAnnotation has Milo's stand-in leave a user's requests to a project without an answer.
const hangAnnotation = "federation.karmada-compute.dev/hang"

// addOutageSteps are the sentences about Milo that is not there, and about what must be possible while the add-on is
// not.
func addOutageSteps(sc world.Sentences) {
	sc.Step(`^Milo's root is (down|up again)$`, func(ctx context.Context, state string) error {
		s := from(ctx)
		if state != "down" {
			return s.Disturbed.Now(ctx, "Milo's root")
		}
		s.Disturbed.Add("Milo's root", s.Federation.StartMiloRoot)
		return s.Federation.StopMiloRoot()
	})
	sc.Step(`^Milo is (down|up again)$`, func(ctx context.Context, state string) error {
		s := from(ctx)
		if state != "down" {
			return s.Disturbed.Now(ctx, "Milo")
		}
		s.Disturbed.Add("Milo", s.Federation.StartMilo)
		return s.Federation.StopMilo()
	})
	sc.Step(`^Milo (loses its storage|has its storage again)$`, func(ctx context.Context, what string) error {
		s := from(ctx)
		if what == "has its storage again" {
			return s.Disturbed.Now(ctx, "Milo's storage")
		}
		s.Disturbed.Add("Milo's storage", s.Federation.RestoreMilo)
		return s.Federation.EmptyMilo(ctx)
	})
	sc.Step(`^metric "([^"]*)" of all replicas is eventually at least (\d+)$`, func(ctx context.Context, metric string, least float64) error {
		return from(ctx).awaitMetric(ctx, metric, least)
	})
	sc.Step(`^the control plane of project "([^"]*)" does not answer the add-on$`, func(ctx context.Context, project string) error {
		s := from(ctx)
		s.Disturbed.Add("project "+project, func(ctx context.Context) error { return s.annotateProject(ctx, project, "") })
		if err := s.annotateProject(ctx, project, world.AddOnUser); err != nil {
			return err
		}
		return s.hangs(ctx, project)
	})
	sc.Step(`^namespaces, Pods, Leases and Deployments can still be written at the hub, at Milo and in the project$`,
		func(ctx context.Context) error {
			return from(ctx).writeWhatIsNotOurs(ctx)
		})
	sc.Step(`^the finalizers of `+world.AnObject+` can still be changed$`, func(ctx context.Context, object string) error {
		return from(ctx).changeFinalizers(ctx, object)
	})
}

// awaitMetric waits until the values of a metric without labels, of all replicas together, are at least so many.
func (s Steps) awaitMetric(ctx context.Context, metric string, least float64) error {
	return world.Eventually(ctx, func(ctx context.Context) error {
		sum := 0.0
		for _, replica := range s.replicas("every replica") {
			if err := s.readMetrics(ctx, replica, "user "+world.Admin); err != nil {
				return err
			}
			for line := range strings.Lines(s.Answer.Body) {
				if text, found := strings.CutPrefix(line, metric+" "); found {
					value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
					if err != nil {
						return fmt.Errorf("metric %s: %w", metric, err)
					}
					sum += value
				}
			}
		}
		if sum < least {
			return fmt.Errorf("metric %s is %g", metric, sum)
		}
		return nil
	})
}

// annotateProject has a project's control plane hang for a user, or for nobody.
func (s Steps) annotateProject(ctx context.Context, name, user string) error {
	root := s.Client("milo", world.Admin)
	return world.UpdateWhenFree(ctx, root, projects.NewProject(name), func(project *unstructured.Unstructured) {
		annotations := project.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[hangAnnotation] = user
		if user == "" {
			delete(annotations, hangAnnotation)
		}
		project.SetAnnotations(annotations)
	})
}

// hangs waits until a project does not answer the add-on. It asks without a client, which would first discover what
// there is, and that without end.
func (s Steps) hangs(ctx context.Context, project string) error {
	config, err := s.Federation.Config("project/"+project, world.AddOnUser)
	if err != nil {
		return err
	}
	config.Timeout = 2 * time.Second
	caller, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	return world.Eventually(ctx, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/version", http.NoBody)
		if err != nil {
			return err
		}
		response, err := caller.Do(request)
		if os.IsTimeout(err) {
			return nil
		}
		if err == nil {
			err = response.Body.Close()
		}
		return errors.Join(fmt.Errorf("project %s answers the add-on", project), err)
	})
}

// writeWhatIsNotOurs writes kinds that a cluster is repaired with, where they are served.
func (s Steps) writeWhatIsNotOurs(ctx context.Context) error {
	meta := metav1.ObjectMeta{Namespace: "default", Name: s.Namespace}
	pod := corev1.PodSpec{Containers: []corev1.Container{{Name: "repair", Image: workloads.SampleImage}}}
	labels := map[string]string{"app": s.Namespace}
	lease := &coordinationv1.Lease{ObjectMeta: meta}
	deployment := &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
	}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace + "-repair"}}
	for plane, objects := range map[string][]client.Object{
		"hub":                  {namespace, &corev1.Pod{ObjectMeta: meta, Spec: pod}, lease, deployment},
		"milo":                 {namespace, lease},
		"project/" + s.Project: {namespace, lease},
	} {
		c := s.Client(plane, world.Admin)
		for _, object := range objects {
			object := object.DeepCopyObject().(client.Object)
			if err := c.Create(ctx, object); err != nil {
				return fmt.Errorf("create %T at %s: %w", object, plane, err)
			}
			if err := c.Delete(ctx, object); err != nil {
				return fmt.Errorf("delete %T at %s: %w", object, plane, err)
			}
		}
	}
	return nil
}

// changeFinalizers adds and removes a finalizer.
func (s Steps) changeFinalizers(ctx context.Context, words string) error {
	object, err := s.Get(ctx, words)
	if err != nil {
		return err
	}
	plane, _, err := s.Object(words)
	if err != nil {
		return err
	}
	c := s.Client(plane, world.Admin)
	for _, change := range []func(client.Object, string) bool{controllerutil.AddFinalizer, controllerutil.RemoveFinalizer} {
		if err := world.UpdateWhenFree(ctx, c, object, func(object *unstructured.Unstructured) {
			change(object,
				projects.HoldFinalizer)
		}); err != nil {
			return err
		}
	}
	return nil
}
