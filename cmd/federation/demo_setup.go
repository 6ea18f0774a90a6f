// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed" // the sample Workload
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/federation"
)

const (
	projectName = "demo"
	project     = "project/" + projectName
	// consumer is the user that creates the Workload, with a consumer's permissions in the project only.
	consumer  = "consumer"
	namespace = "default"
	// setupTimeout is how long the project and the access to it may take.
	setupTimeout = 2 * time.Minute
)

var (
	projectKind         = schema.GroupVersionKind{Group: "resourcemanager.miloapis.com", Version: "v1alpha1", Kind: "Project"}
	locationBindingKind = schema.GroupVersionKind{Group: "networking.datumapis.com", Version: "v1alpha", Kind: "LocationBinding"}
)

//go:embed sample/workload.yaml
var sampleYAML []byte

// sample is the Workload of the demo.
type sample struct {
	// containers is whether its processes run: with an image that the nodes have, and small enough for this machine.
	containers bool
}

func (s sample) workload() (*v1alpha.Workload, error) {
	workload := &v1alpha.Workload{}
	if err := yaml.UnmarshalStrict(sampleYAML, workload); err != nil {
		return nil, fmt.Errorf("read the sample Workload: %w", err)
	}
	if s.containers {
		runtime := &workload.Spec.Template.Spec.Runtime
		runtime.Resources.Requests = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
		}
		runtime.Sandbox.Containers[0].Image = federation.TestImage
		runtime.Sandbox.Containers[0].Args = []string{"--port=80"}
	}
	return workload, nil
}

// logTo sends the logs of the Kubernetes client libraries to a file: on the screen they would break up the tree.
func logTo(path string) (io.Closer, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	log := slog.New(slog.NewTextHandler(file, nil))
	klog.SetSlogLogger(log)
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	return file, nil
}

// makeProject creates the project, its locations and the consumer's access.
func (d *demo) makeProject(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	milo, err := d.client("milo", federation.Admin)
	if err != nil {
		return err
	}
	for _, object := range []client.Object{consumerRole(), consumerBinding(), newProject()} {
		if err := milo.Create(ctx, object); err != nil {
			return fmt.Errorf("create %T %s at Milo's root: %w", object, object.GetName(), err)
		}
	}
	if err := waitForProject(ctx, milo); err != nil {
		return fmt.Errorf("wait until project %s is Ready: %w", projectName, err)
	}
	d.screen.Line("  project %s is Ready", projectName)
	admin, err := d.client(project, federation.Admin)
	if err != nil {
		return err
	}
	for _, cell := range d.federation.Cells() {
		if err := bindLocation(ctx, admin, cell.City); err != nil {
			return fmt.Errorf("bind the location of %s: %w", cell.City, err)
		}
		d.screen.Line("  LocationBinding for %s is Available", cell.City)
	}
	if err := d.readHubNamespace(ctx, milo, admin); err != nil {
		return err
	}
	if err := d.waitForAccess(ctx, project); err != nil {
		return err
	}
	d.screen.Line("  user %s may write Workloads in it", consumer)
	return nil
}

func newProject() *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"ownerRef": map[string]any{"kind": "Organization", "name": "demo"},
	}}}
	object.SetGroupVersionKind(projectKind)
	object.SetName(projectName)
	return object
}

func consumerRole() *rbacv1.ClusterRole {
	reads := []string{"get", "list", "watch"}
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "demo-" + consumer},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{v1alpha.GroupVersion.Group}, Resources: []string{"workloads"}, Verbs: []string{"*"}},
			{APIGroups: []string{v1alpha.GroupVersion.Group}, Resources: []string{"*"}, Verbs: reads},
			{APIGroups: []string{"networking.datumapis.com"}, Resources: []string{"networks"}, Verbs: []string{"use"}},
			{APIGroups: []string{"networking.datumapis.com"}, Resources: []string{"locationbindings"}, Verbs: reads},
			{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: reads},
		},
	}
}

func consumerBinding() *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "demo-" + consumer},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "demo-" + consumer},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: consumer}},
	}
}

// waitForProject watches the Project until it is Ready.
func waitForProject(ctx context.Context, milo client.WithWatch) error {
	newList := func() *unstructured.UnstructuredList {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(projectKind)
		return list
	}
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list := newList()
			return list, milo.List(ctx, list, &client.ListOptions{Raw: &options})
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return milo.Watch(ctx, newList(), &client.ListOptions{Raw: &options})
		},
	}
	_, err := watchtools.UntilWithSync(ctx, source, &unstructured.Unstructured{}, nil, func(event watch.Event) (bool, error) {
		object, ok := event.Object.(*unstructured.Unstructured)
		return ok && object.GetName() == projectName && conditionIsTrue(object, "Ready"), nil
	})
	return err
}

func conditionIsTrue(object *unstructured.Unstructured, conditionType string) bool {
	// A malformed list has no true condition.
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, entry := range conditions {
		condition, ok := entry.(map[string]any)
		if ok && condition["type"] == conditionType {
			return condition["status"] == string(metav1.ConditionTrue)
		}
	}
	return false
}

// bindLocation does what Milo's service catalog does when a location becomes available to a project.
func bindLocation(ctx context.Context, admin client.Client, city string) error {
	binding := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"locationRef":       map[string]any{"name": "location-" + v1alpha.CityLabel(city)},
		"locationClassName": "datum-managed",
		"displayName":       city,
		"topology":          map[string]any{v1alpha.LabelTopologyCity: city},
	}}}
	binding.SetGroupVersionKind(locationBindingKind)
	binding.SetName("location-" + v1alpha.CityLabel(city))
	if err := admin.Create(ctx, binding); err != nil {
		return err
	}
	available := map[string]any{
		"type": "Available", "status": "True", "reason": "Healthy", "message": "the location is healthy",
		"lastTransitionTime": binding.GetCreationTimestamp().UTC().Format(time.RFC3339),
	}
	if err := unstructured.SetNestedSlice(binding.Object, []any{available}, "status", "conditions"); err != nil {
		return err
	}
	return admin.Status().Update(ctx, binding)
}

// readHubNamespace derives the hub namespace from the UIDs of the project and of its namespace.
func (d *demo) readHubNamespace(ctx context.Context, milo, admin client.Client) error {
	identity := newProject()
	if err := milo.Get(ctx, client.ObjectKeyFromObject(identity), identity); err != nil {
		return fmt.Errorf("read the project: %w", err)
	}
	object := &corev1.Namespace{}
	if err := admin.Get(ctx, client.ObjectKey{Name: namespace}, object); err != nil {
		return fmt.Errorf("read the project's namespace: %w", err)
	}
	d.hubNamespace = v1alpha.HubNamespace(string(identity.GetUID()), string(object.UID))
	return nil
}
