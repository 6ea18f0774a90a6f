// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/multicluster-runtime/pkg/clusters"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/milo"
)

func TestEligible(t *testing.T) {
	for name, want := range map[string]bool{
		"team-a": true, "default": true, "ns-a": true,
		"": false, "kube-system": false, "karmada-system": false, "karmada-es-dfw": false,
		naming.HubNamespace("project", "namespace"): false,
	} {
		if Eligible(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}

// TestLookup: admission sees a project as its namespace is now, and only labelled namespaces are Ready.
func TestLookup(t *testing.T) {
	h := newHub(t)
	lookup, err := milo.NewLookup(milo.LookupOptions{Planes: h.Planes, Clock: clock.RealClock{}})
	if err != nil {
		t.Fatal(err)
	}
	project, plain := h.project(t), h.namespace(t, nil)
	suspended := h.namespace(t, map[string]string{v1alpha.LabelNamespaceProject: v1alpha.NamespaceSuspended})
	other := h.namespace(t, map[string]string{v1alpha.LabelNamespaceProject: "no"})
	for name, test := range map[string]struct {
		namespace        *corev1.Namespace
		ready, suspended bool
	}{
		"labelled": {project, true, false}, "without a label": {plain, false, false}, "suspended": {suspended, true, true},
		"another value": {other, false, false},
	} {
		found, err := lookup.FreshProject(t.Context(), test.namespace.Name)
		if err != nil || found.UID != test.namespace.UID || found.IsReady() != test.ready || found.IsSuspended() != test.suspended {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	for _, name := range []string{"no-such-namespace", "kube-system"} {
		if _, err := lookup.FreshProject(t.Context(), name); !errors.Is(err, milo.ErrProjectNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if identity, err := h.Identity(t.Context()); err != nil || identity == "" {
		t.Errorf("identity %q, %v", identity, err)
	}
}

// TestInstancesAreThoseOfTheNamespace: the Workloads of other projects do not count.
func TestInstancesAreThoseOfTheNamespace(t *testing.T) {
	h := newHub(t)
	lookup, err := milo.NewLookup(milo.LookupOptions{Planes: h.Planes, Clock: clock.RealClock{}})
	if err != nil {
		t.Fatal(err)
	}
	one, other := h.project(t), h.project(t)
	for _, namespace := range []string{one.Name, other.Name} {
		workload := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Spec: v1alpha.WorkloadSpec{
			Placements: []v1alpha.WorkloadPlacement{{
				Name: "main", CityCodes: []string{"DFW"}, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 3},
			}},
			Template: template(),
		}}
		if err := h.admin.Create(t.Context(), workload); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.admin.Delete(context.Background(), workload) })
	}
	project, err := lookup.FreshProject(t.Context(), one.Name)
	if err != nil {
		t.Fatal(err)
	}
	reservation := templates.Reservation{More: templates.Demand{Instances: 1}, Limit: templates.Demand{Instances: 100}}
	if total, err := lookup.Reserve(t.Context(), project, reservation); err != nil || total.Instances != 4 {
		t.Errorf("%d Instances, %v, want 3 and 1", total, err)
	}
	if _, known, err := lookup.InstanceAllowance(t.Context(), project); err != nil || known {
		t.Errorf("a quota without Milo: %t, %v", known, err)
	}
}

// TestScope: a client of a project reaches only its namespace.
func TestScope(t *testing.T) {
	h := newHub(t)
	own, other := h.project(t), h.project(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: other.Name, Name: "password"}}
	if err := h.admin.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	plane, err := h.Cluster(own.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	live, err := h.Client(own.Name)
	if err != nil {
		t.Fatal(err)
	}
	cm := func(namespace, name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	review := func(namespace string) *authorizationv1.SubjectAccessReview {
		return &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "alice", ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "get", Resource: "pods"},
		}}
	}
	for kind, c := range map[string]client.Client{"cached": plane.GetClient(), "live": live} {
		for name, request := range map[string]func(ctx context.Context) error{
			"get a Secret of another": func(ctx context.Context) error {
				return c.Get(ctx, client.ObjectKeyFromObject(secret), &corev1.Secret{})
			},
			"list those of another": func(ctx context.Context) error {
				return c.List(ctx, &corev1.SecretList{}, client.InNamespace(other.Name))
			},
			"get another namespace": func(ctx context.Context) error {
				return c.Get(ctx, client.ObjectKey{Name: other.Name}, &corev1.Namespace{})
			},
			"list all namespaces": func(ctx context.Context) error { return c.List(ctx, &corev1.NamespaceList{}) },
			"create in another":   func(ctx context.Context) error { return c.Create(ctx, cm(other.Name, "a")) },
			"update in another":   func(ctx context.Context) error { return c.Update(ctx, secret.DeepCopy()) },
			"patch in another": func(ctx context.Context) error {
				return c.Patch(ctx, secret.DeepCopy(), client.MergeFrom(&corev1.Secret{}))
			},
			"delete in another": func(ctx context.Context) error { return c.Delete(ctx, secret.DeepCopy()) },
			"patch a status in another": func(ctx context.Context) error {
				return c.Status().Patch(ctx, secret.DeepCopy(), client.MergeFrom(&corev1.Secret{}))
			},
			"delete a namespace":       func(ctx context.Context) error { return c.Delete(ctx, other.DeepCopy()) },
			"delete its own namespace": func(ctx context.Context) error { return c.Delete(ctx, own.DeepCopy()) },
			"patch the status of its own namespace": func(ctx context.Context) error {
				return c.Status().Patch(ctx, own.DeepCopy(), client.MergeFrom(&corev1.Namespace{}))
			},
			"delete all instance types": func(ctx context.Context) error { return c.DeleteAllOf(ctx, &v1alpha.InstanceType{}) },
			"apply an instance type": func(ctx context.Context) error {
				applied := &unstructured.Unstructured{Object: map[string]any{"apiVersion": v1alpha.GroupVersion.String(), "kind": "InstanceType"}}
				applied.SetName("big")
				return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("test"))
			},
			"apply in another": func(ctx context.Context) error {
				applied := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
				applied.SetNamespace(other.Name)
				applied.SetName("a")
				return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("test"))
			},
			"ask about another":       func(ctx context.Context) error { return c.Create(ctx, review(other.Name)) },
			"ask about all":           func(ctx context.Context) error { return c.Create(ctx, review("")) },
			"list the instance types": func(ctx context.Context) error { return c.List(ctx, &v1alpha.InstanceTypeList{}) },
			"create an instance type": func(ctx context.Context) error {
				return c.Create(ctx, &v1alpha.InstanceType{ObjectMeta: metav1.ObjectMeta{Name: "big"}})
			},
			"get a deployment elsewhere": func(ctx context.Context) error {
				return c.Get(ctx, client.ObjectKey{Namespace: other.Name, Name: "d"}, &v1alpha.WorkloadDeployment{})
			},
		} {
			if err := request(t.Context()); err == nil {
				t.Errorf("%s: can %s", kind, name)
			}
		}
		mine := cm(own.Name, "mine-"+kind)
		if err := errors.Join(c.Create(t.Context(), mine), c.Create(t.Context(), review(own.Name)),
			c.Get(t.Context(), client.ObjectKey{Name: own.Name}, &corev1.Namespace{})); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		var list corev1.ConfigMapList
		if err := c.List(t.Context(), &list); err != nil ||
			slices.ContainsFunc(list.Items, func(m corev1.ConfigMap) bool { return m.Namespace != own.Name }) {
			t.Errorf("%s: a list without a namespace has %v, %v", kind, list.Items, err)
		}
	}
	if err := h.admin.Get(t.Context(), client.ObjectKeyFromObject(secret), &corev1.Secret{}); err != nil {
		t.Errorf("the Secret of the other project: %v", err)
	}
	if _, err := h.Client("kube-system"); err == nil {
		t.Error("kube-system is a project")
	}
}

// TestLocations: a city is open if it has a cell or a deployment, unless the operator limits the cities.
func TestLocations(t *testing.T) {
	h := newHub(t)
	project := h.project(t)
	cell := h.cell(t, "abc")
	h.confirm(t, cell, "ABC")
	h.deployment(t, project.Name, "web-main-xyz", "XYZ", nil)
	live, err := h.Client(project.Name)
	if err != nil {
		t.Fatal(err)
	}
	plane, err := h.Cluster(project.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	for kind, reader := range map[string]client.Reader{"live": live, "cached": plane.GetCache()} {
		expect := func(when string, want ...string) {
			t.Helper()
			var got []string
			eventually(t, kind+", "+when, func() bool {
				all, err := milo.Locations{}.CityCodes(t.Context(), reader)
				got = slices.DeleteFunc(all, func(city string) bool { return city != "ABC" && city != "XYZ" })
				return err == nil && slices.Equal(got, want)
			})
		}
		expect("every city is open", "ABC", "XYZ")
		h.change(t, project, func(n *corev1.Namespace) { n.Annotations = map[string]string{v1alpha.AnnotationCities: "abc, QQQ"} })
		expect("the operator allows one", "ABC")
		h.change(t, project, func(n *corev1.Namespace) { n.Annotations = map[string]string{v1alpha.AnnotationCities: ""} })
		expect("the operator allows none")
		h.change(t, project, func(n *corev1.Namespace) { n.Annotations = nil })
		expect("all again", "ABC", "XYZ")
	}
	if err := h.admin.Delete(t.Context(), cell); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a city without a cell and a deployment is none", func() bool {
		all, err := milo.Locations{}.CityCodes(t.Context(), live)
		return err == nil && !slices.Contains(all, "ABC") && slices.Contains(all, "XYZ")
	})
}

// TestUnconfirmedCities: a Cluster opens a city when the namespace of its Works has the label of the same city, which
// no agent of a cell can write.
func TestUnconfirmedCities(t *testing.T) {
	h := newHub(t)
	project := h.project(t)
	cell := h.cell(t, "eee")
	h.confirm(t, h.cell(t, "fff"), "EEE")
	live, err := h.Client(project.Name)
	if err != nil {
		t.Fatal(err)
	}
	plane, err := h.Cluster(project.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan struct{}, 100)
	informer, err := plane.GetCache().GetInformer(t.Context(), &milo.LocationBinding{})
	if err != nil {
		t.Fatal(err)
	}
	notice := toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { opened <- struct{}{} }}
	if _, err := informer.AddEventHandler(notice); err != nil {
		t.Fatal(err)
	}
	expect := func(when string, want bool) {
		t.Helper()
		for kind, reader := range map[string]client.Reader{"live": live, "cached": plane.GetCache()} {
			eventually(t, kind+", "+when, func() bool {
				all, err := milo.Locations{}.CityCodes(t.Context(), reader)
				return err == nil && slices.Contains(all, "EEE") == want && !slices.Contains(all, "FFF")
			})
		}
	}
	eventually(t, "the Clusters are in the cache", func() bool {
		return h.Planes.shared.GetCache().Get(t.Context(), client.ObjectKeyFromObject(cell), &clusterv1alpha1.Cluster{}) == nil
	})
	expect("unconfirmed", false)
	for len(opened) > 0 {
		<-opened
	}
	works := h.confirm(t, cell, "eee")
	expect("confirmed", true)
	select {
	case <-opened:
	case <-time.After(30 * time.Second):
		t.Error("no event follows the confirmation")
	}
	h.change(t, works, func(n *corev1.Namespace) { n.Labels = nil })
	expect("withdrawn", false)
}

// TestWatch: a namespace is a project from its label to its deletion, and for as long as it has objects that the add-on
// must remove.
func TestWatch(t *testing.T) {
	h := newHub(t)
	project, plain := h.project(t), h.namespace(t, nil)
	h.namespace(t, nil)
	eventually(t, "the labelled namespace is seen", func() bool { return h.seen.project(project.Name) != nil })
	if p := h.seen.project(project.Name); p.UID != project.UID || !p.IsReady() || p.IsSuspended() {
		t.Errorf("got %+v", p)
	}
	h.change(t, project, func(n *corev1.Namespace) { n.Labels[v1alpha.LabelNamespaceProject] = v1alpha.NamespaceSuspended })
	eventually(t, "it is suspended", func() bool { return h.seen.project(project.Name).IsSuspended() })
	held := h.deployment(t, project.Name, "web-main-dfw", "DFW",
		func(d *v1alpha.WorkloadDeployment) { d.Finalizers = []string{v1alpha.FinalizerPropagation} })
	eventually(t, "the deployment is in the cache", func() bool { return h.Uses().Needed(project.Name) })
	h.change(t, project, func(n *corev1.Namespace) { delete(n.Labels, v1alpha.LabelNamespaceProject) })
	eventually(t, "it goes on without its label", func() bool {
		p := h.seen.project(project.Name)
		return p != nil && !p.IsSuspended() && p.IsReady()
	})
	held.Finalizers = nil
	if err := errors.Join(h.admin.Update(t.Context(), held), h.admin.Delete(t.Context(), held)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "without deployments it is no project", func() bool { return h.seen.project(project.Name) == nil })
	if h.seen.project(plain.Name) != nil {
		t.Error("a namespace without the label is a project")
	}
	if Eligible("kube-system") || h.seen.project("kube-system") != nil {
		t.Error("kube-system is a project")
	}
}

// TestCopiesAreNotOriginals: the cache of projects has no copies, whatever namespace they are in.
func TestCopiesAreNotOriginals(t *testing.T) {
	h := newHub(t)
	project := h.project(t)
	h.deployment(t, project.Name, "copy", "DFW", func(d *v1alpha.WorkloadDeployment) {
		d.Labels = map[string]string{v1alpha.LabelProject: naming.ProjectLabel(project.Name)}
	})
	h.deployment(t, project.Name, "original", "DFW", nil)
	plane, err := h.Cluster(project.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the original is in the cache, and the copy is not", func() bool {
		var list v1alpha.WorkloadDeploymentList
		err := plane.GetCache().List(t.Context(), &list)
		return err == nil && len(list.Items) == 1 && list.Items[0].Name == "original"
	})
}

// TestInformersAreApart: handlers of a project get only the events of its objects, from before and after they were
// added; all projects share the index.
func TestInformersAreApart(t *testing.T) {
	h := newHub(t)
	one, other := h.project(t), h.project(t)
	byCity := clusters.Index{Object: &v1alpha.WorkloadDeployment{}, Field: "city", Extractor: func(obj client.Object) []string {
		return []string{obj.(*v1alpha.WorkloadDeployment).Spec.CityCode}
	}}
	plane, err := h.Cluster(one.Name, []clusters.Index{byCity})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Cluster(other.Name, []clusters.Index{byCity}); err != nil {
		t.Fatalf("the index of a second project: %v", err)
	}
	h.deployment(t, one.Name, "before", "DFW", nil)
	h.deployment(t, other.Name, "before", "DFW", nil)
	eventually(t, "both are in the cache", func() bool { return h.Uses().Needed(one.Name) && h.Uses().Needed(other.Name) })
	informer, err := plane.GetCache().GetInformer(t.Context(), &v1alpha.WorkloadDeployment{})
	if err != nil || !plane.GetCache().WaitForCacheSync(t.Context()) {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var got []string
	registered, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		mu.Lock()
		defer mu.Unlock()
		d := obj.(client.Object)
		got = append(got, d.GetNamespace()+"/"+d.GetName())
	}})
	if err != nil || !registered.HasSynced() {
		t.Fatal(err)
	}
	has := func(name string) bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.Contains(got, one.Name+"/"+name)
	}
	if !has("before") {
		t.Error("the handler did not get what there was")
	}
	h.deployment(t, other.Name, "after", "DFW", nil)
	h.deployment(t, one.Name, "after", "ORD", nil)
	eventually(t, "the handler gets what is new", func() bool { return has("after") })
	if err := informer.RemoveEventHandler(registered); err != nil {
		t.Fatal(err)
	}
	h.deployment(t, one.Name, "late", "DFW", nil)
	eventually(t, "what is late is in the cache, by its index", func() bool {
		var list v1alpha.WorkloadDeploymentList
		err := plane.GetCache().List(t.Context(), &list, client.MatchingFields{"city": "DFW"})
		return err == nil && len(list.Items) == 2
	})
	if has("late") || slices.ContainsFunc(got, func(name string) bool { return strings.HasPrefix(name, other.Name) }) {
		t.Errorf("the handler got %v", got)
	}
}

// TestWarningIsOfTheNamespace: an Event about a project is among the Events of its namespace.
func TestWarningIsOfTheNamespace(t *testing.T) {
	h := newHub(t)
	project := h.project(t)
	recorder, err := h.Recorder()
	if err != nil {
		t.Fatal(err)
	}
	recorder.Event(h.Reference(project.Name, project.UID), corev1.EventTypeWarning, "Refused", "the project refuses writes")
	eventually(t, "the Event is written", func() bool {
		var events corev1.EventList
		err := h.admin.List(t.Context(), &events, client.InNamespace(project.Name))
		return err == nil && len(events.Items) == 1 && events.Items[0].InvolvedObject.UID == project.UID
	})
	if err := h.Root().Get(t.Context(), client.ObjectKey{Name: "none"}, &milo.Project{}); !apierrors.IsNotFound(err) {
		t.Errorf("a project that does not exist: %v", err)
	}
}
