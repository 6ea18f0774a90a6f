// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cucumber/godog"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// hangAnnotation has Milo's stand-in leave a user's requests to a project without an answer.
const hangAnnotation = "federation.karmada-compute.dev/hang"

func addOutageSteps(sc *godog.ScenarioContext) {
	sc.Step(`^replica (\d+) is restarted$`, func(ctx context.Context, replica int) error { return from(ctx).restart(ctx, replica) })
	sc.Step(`^every replica is stopped$`, func(ctx context.Context) error {
		s := from(ctx)
		for i := range s.addOn.Replicas() {
			s.altered = append(s.altered, i)
			if err := s.addOn.Stop(i); err != nil {
				return err
			}
		}
		return nil
	})
	sc.Step(`^every replica is started again$`, func(ctx context.Context) error { return from(ctx).restore(ctx) })
	sc.Step(`^Milo's root is down for (\d+) seconds$`, func(ctx context.Context, seconds int) error {
		s := from(ctx)
		s.rootDown = true
		if err := s.federation.StopMiloRoot(); err != nil {
			return err
		}
		return pause(ctx, time.Duration(seconds)*time.Second)
	})
	sc.Step(`^Milo's root is up again$`, func(ctx context.Context) error {
		s := from(ctx)
		s.rootDown = false
		return s.federation.StartMiloRoot(ctx)
	})
	sc.Step(`^the control plane of project "([^"]*)" does not answer the add-on$`, func(ctx context.Context, project string) error {
		s := from(ctx)
		s.hanging = project
		if err := s.annotateProject(ctx, project, addOnUser); err != nil {
			return err
		}
		return s.hangs(ctx, project)
	})
	sc.Step(`^the consumer tries to create a Workload in project "([^"]*)"$`, func(ctx context.Context, project string) error {
		s := from(ctx)
		begin := time.Now()
		s.refused = s.tryIn(ctx, project)
		s.took = time.Since(begin)
		return nil
	})
	sc.Step(`^that took less than (\d+) seconds$`, func(ctx context.Context, seconds int) error {
		if s := from(ctx); s.took >= time.Duration(seconds)*time.Second {
			return fmt.Errorf("it took %s", s.took)
		}
		return nil
	})
	sc.Step(`^namespaces, Pods, Leases and Deployments can still be written at the hub, at Milo and in the project$`, func(ctx context.Context) error {
		return from(ctx).writeWhatIsNotOurs(ctx)
	})
	sc.Step(`^the webhook configuration can still be changed$`, func(ctx context.Context) error { return from(ctx).changeConfiguration(ctx) })
	sc.Step(`^labels and finalizers of Workload "([^"]*)" and of what was made of it can still be changed$`, func(ctx context.Context, name string) error {
		return from(ctx).changeMetadata(ctx, name)
	})
	addProjectStateSteps(sc)
}

func addProjectStateSteps(sc *godog.ScenarioContext) {
	sc.Step(`^a project of its own$`, func(ctx context.Context) error { return from(ctx).addProject(ctx, "DFW") })
	sc.Step(`^the project is granted (\d+) Instances$`, func(ctx context.Context, amount int) error { return from(ctx).grant(ctx, amount) })
	sc.Step(`^a Workload there with (\d+) replicas is admitted with a warning of "([^"]*)"$`, func(ctx context.Context, replicas int, text string) error {
		s := from(ctx)
		// Quota is looked up at most every few seconds.
		return eventually(ctx, func(ctx context.Context) error {
			if err := s.tryPatched(ctx, fmt.Sprintf(
				`{"metadata":{"name":"web-%s"},"spec":{"placements":[{"name":"main","cityCodes":["DFW"],"scaleSettings":{"minReplicas":%d}}]}}`,
				rand.String(6), replicas)); err != nil {
				return err
			}
			if s.refused != nil || !strings.Contains(s.warnings.String(), text) {
				return fmt.Errorf("refused with %w, warnings are %q", s.refused, s.warnings)
			}
			return nil
		})
	})
	sc.Step(`^the project is suspended$`, func(ctx context.Context) error { return from(ctx).suspend(ctx, metav1.ConditionTrue) })
	sc.Step(`^the project is resumed$`, func(ctx context.Context) error { return from(ctx).suspend(ctx, metav1.ConditionFalse) })
	sc.Step(`^the project is deleted and made anew$`, func(ctx context.Context) error {
		s := from(ctx)
		if err := s.removeProject(ctx); err != nil {
			return err
		}
		if err := s.createProject(ctx, s.own); err != nil {
			return err
		}
		// The control plane keeps what Milo keeps: namespaces go, what is cluster-scoped stays.
		if err := client.IgnoreAlreadyExists(s.bindLocation(ctx, s.own, "DFW")); err != nil {
			return err
		}
		return s.addNamespace(ctx, s.own)
	})
	sc.Step(`^a Workload there is refused with "([^"]*)"$`, func(ctx context.Context, text string) error {
		s := from(ctx)
		return eventually(ctx, func(ctx context.Context) error {
			if err := s.tryIn(ctx, s.own); err == nil || !strings.Contains(err.Error(), text) {
				return fmt.Errorf("it is refused with: %w", err)
			}
			return nil
		})
	})
	sc.Step(`^a Workload there is not refused$`, func(ctx context.Context) error {
		s := from(ctx)
		return eventually(ctx, func(ctx context.Context) error { return s.tryIn(ctx, s.own) })
	})
	sc.Step(`^a user without rights to networks tries to create Workload "([^"]*)"$`, func(ctx context.Context, _ string) error {
		s := from(ctx)
		c, err := s.client("project/"+s.project, "newcomer")
		if err != nil {
			return err
		}
		if err := s.allowWorkloads(ctx, "newcomer"); err != nil {
			return err
		}
		// The role reaches the project a moment later.
		return eventually(ctx, func(ctx context.Context) error {
			s.refused = c.Create(ctx, s.sampleWorkload(), client.DryRunAll)
			if s.refused != nil && strings.Contains(s.refused.Error(), "cannot create resource") {
				return s.refused
			}
			return nil
		})
	})
	sc.Step(`^the consumer is warned of "([^"]*)"$`, func(ctx context.Context, text string) error {
		s := from(ctx)
		if s.warnings == nil || !strings.Contains(s.warnings.String(), text) {
			return fmt.Errorf("warnings are %q", s.warnings)
		}
		return nil
	})
}

// warnings are what an API server warned of.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader keeps a warning.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// String is all of them.
func (w *warnings) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.texts, "\n")
}

// restart ends a replica as a rolling update does, and says how long the next one took to be ready.
func (s *scenario) restart(ctx context.Context, replica int) error {
	if err := s.addOn.Stop(replica); err != nil {
		return err
	}
	begin := time.Now()
	if err := s.addOn.Start(ctx, replica); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "replica %d was ready %s after its start\n", replica, time.Since(begin).Round(time.Millisecond))
	return nil
}

// restore brings back what the scenario took away.
func (s *scenario) restore(ctx context.Context) error {
	if s.load != nil {
		s.load.finish()
	}
	var problems []error
	if s.rootDown {
		s.rootDown = false
		problems = append(problems, s.federation.StartMiloRoot(ctx))
	}
	if s.hanging != "" {
		problems = append(problems, s.annotateProject(ctx, s.hanging, ""))
		s.hanging = ""
	}
	if s.withheld != nil {
		problems = append(problems, s.withholdSecrets(ctx, false))
	}
	for _, replica := range s.altered {
		problems = append(problems, s.addOn.Stop(replica), s.addOn.Start(ctx, replica))
	}
	s.altered = nil
	if s.routed {
		s.routed = false
		problems = append(problems, s.addOn.RouteAll(ctx))
	}
	return errors.Join(problems...)
}

// annotateProject has a project's control plane hang for a user, or for nobody.
func (s *scenario) annotateProject(ctx context.Context, name, user string) error {
	root, err := s.client("milo", admin)
	if err != nil {
		return err
	}
	project := newProject(name)
	return updateWhenFree(ctx, root, project, func(project *unstructured.Unstructured) {
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

// hangs waits until a project does not answer the add-on. It asks without a client, which would first discover what there
// is, and that without end.
func (s *scenario) hangs(ctx context.Context, project string) error {
	config, err := s.federation.Config("project/"+project, addOnUser)
	if err != nil {
		return err
	}
	config.Timeout = 2 * time.Second
	caller, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
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

// tryIn tries to create the sample Workload in a project, in namespace default, without doing it.
func (s *scenario) tryIn(ctx context.Context, project string) error {
	c, err := s.client("project/"+project, consumer)
	if err != nil {
		return err
	}
	workload := s.sampleWorkload()
	workload.Namespace = "default"
	return c.Create(ctx, workload, client.DryRunAll)
}

// grant does what Milo's service catalog does when a project gets quota.
func (s *scenario) grant(ctx context.Context, amount int) error {
	c, err := s.client("project/"+s.own, admin)
	if err != nil {
		return err
	}
	grant := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"consumerRef": map[string]any{"apiGroup": "resourcemanager.miloapis.com", "kind": "Project", "name": s.own},
		"allowances": []any{map[string]any{
			"resourceType": "compute.datumapis.com/instances", "buckets": []any{map[string]any{"amount": int64(amount)}},
		}},
	}}}
	grant.SetGroupVersionKind(schema.GroupVersionKind{Group: "quota.miloapis.com", Version: "v1alpha1", Kind: "ResourceGrant"})
	grant.SetNamespace("default")
	grant.SetName("compute")
	// The kind reaches a new project a moment later.
	return eventually(ctx, func(ctx context.Context) error { return client.IgnoreAlreadyExists(c.Create(ctx, grant)) })
}

// suspend does what Milo does when a project is suspended or resumed.
func (s *scenario) suspend(ctx context.Context, status metav1.ConditionStatus) error {
	root, err := s.client("milo", admin)
	if err != nil {
		return err
	}
	condition := newProject(s.own)
	condition.Object["status"] = map[string]any{"conditions": []any{map[string]any{
		"type": "Suspended", "status": string(status), "reason": "Features", "message": "", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
	}}}
	unstructured.RemoveNestedField(condition.Object, "spec")
	return root.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(condition), client.FieldOwner("features"), client.ForceOwnership)
}

// writeWhatIsNotOurs writes kinds that a cluster is repaired with, where they are served.
func (s *scenario) writeWhatIsNotOurs(ctx context.Context) error {
	meta := metav1.ObjectMeta{Namespace: "default", Name: s.namespace}
	pod := corev1.PodSpec{Containers: []corev1.Container{{Name: "repair", Image: sampleImage}}}
	labels := map[string]string{"app": s.namespace}
	lease := &coordinationv1.Lease{ObjectMeta: meta}
	deployment := &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
	}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace + "-repair"}}
	for plane, objects := range map[string][]client.Object{
		"hub":                  {namespace, &corev1.Pod{ObjectMeta: meta, Spec: pod}, lease, deployment},
		"milo":                 {namespace, &corev1.Pod{ObjectMeta: meta, Spec: pod}},
		"project/" + s.project: {namespace, &corev1.Pod{ObjectMeta: meta, Spec: pod}},
	} {
		c, err := s.client(plane, admin)
		if err != nil {
			return err
		}
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

func (s *scenario) changeConfiguration(ctx context.Context) error {
	root, err := s.client("milo", admin)
	if err != nil {
		return err
	}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "karmada-compute"}}
	return updateWhenFree(ctx, root, configuration, func(object *admissionregistrationv1.ValidatingWebhookConfiguration) {
		object.SetLabels(map[string]string{"features.karmada-compute.dev/repaired": "true"})
	})
}

// changeMetadata adds and removes a label and a finalizer.
func (s *scenario) changeMetadata(ctx context.Context, name string) error {
	c, err := s.client("project/"+s.project, admin)
	if err != nil {
		return err
	}
	for _, object := range []client.Object{
		&v1alpha.Workload{ObjectMeta: s.meta(name)},
		&v1alpha.WorkloadDeployment{ObjectMeta: s.meta(name + "-main-dfw")},
		&v1alpha.Instance{ObjectMeta: s.meta(name + "-main-dfw-0")},
	} {
		for _, change := range []func(client.Object){
			func(object client.Object) { controllerutil.AddFinalizer(object, holdFinalizer) },
			func(object client.Object) { controllerutil.RemoveFinalizer(object, holdFinalizer) },
		} {
			if err := updateWhenFree(ctx, c, object, change); err != nil {
				return fmt.Errorf("change %T: %w", object, err)
			}
		}
	}
	return nil
}
