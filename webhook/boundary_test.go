// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/webhook"
)

func TestMain(m *testing.M) {
	var files []string
	if out, err := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/karmada-io/karmada").Output(); err == nil {
		for _, group := range []string{"policy", "work"} {
			files = append(files, filepath.Join(strings.TrimSpace(string(out)), "charts", "karmada", "_crds", "bases", group))
		}
	}
	os.Exit(testenv.Main(m, testenv.Options{CRDPaths: files}))
}

// The users of the tests, with all permissions.
const (
	addOn            = "system:serviceaccount:karmada-system:karmada-compute"
	consumer         = "consumer"
	garbageCollector = "system:serviceaccount:kube-system:generic-garbage-collector"
)

// write is a write to an object that the add-on keeps.
type write struct {
	user string
	// object is the object; nil: a WorkloadDeployment.
	object client.Object
	// deleting reports that the object is being deleted.
	deleting bool
	// subresource and patch are the write. A patch that begins with "[" is a JSON patch.
	subresource, patch string
	// reviewed reports that the write is reviewed.
	reviewed bool
	// unchanged reports that the API server accepts the write and stores nothing: it drops the fields that the schema does
	// not have.
	unchanged bool
}

func writes() map[string]write {
	const (
		note, federator = `compute.datumapis.com~1federation-namespace`, `compute.datumapis.com/federator`
		index           = `compute.datumapis.com/instance-index`
	)
	var many []string
	for i := range 501 {
		many = append(many, fmt.Sprintf(`"example.com/%d":"x"`, i))
	}
	instance, kind := func() client.Object { return &v1alpha.Instance{} }, func() client.Object { return &v1alpha.InstanceType{} }
	return map[string]write{
		"the spec":     {patch: `{"spec":{"scaleSettings":{"minReplicas":5}}}`, reviewed: true},
		"the replicas": {subresource: "scale", patch: `{"spec":{"replicas":5000}}`, reviewed: true},
		"no replicas":  {subresource: "scale", patch: `{"spec":{"replicas":0}}`, reviewed: true},
		"the status":   {subresource: "status", patch: `{"status":{"replicas":7}}`, reviewed: true},
		"the status of an Instance": {
			object: instance(), subresource: "status",
			patch: `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"X","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, reviewed: true,
		},
		"the spec of an Instance": {
			object: instance(), patch: `{"spec":{"runtime":{"resources":{"instanceType":"datumcloud/other"}}}}`, reviewed: true,
		},
		"the spec of an InstanceType": {object: kind(), patch: `{"spec":{"description":"cheap"}}`, reviewed: true},
		"the hub namespace": {
			patch: `[{"op":"replace","path":"/metadata/annotations/` + note + `","value":"victim"}]`, reviewed: true,
		},
		"no hub namespace":                 {patch: `[{"op":"remove","path":"/metadata/annotations/` + note + `"}]`, reviewed: true},
		"no annotations":                   {patch: `{"metadata":{"annotations":null}}`, reviewed: true},
		"another annotation of the add-on": {patch: `{"metadata":{"annotations":{"compute.datumapis.com/keep":"true"}}}`, reviewed: true},
		"a label of the add-on": {
			patch: `{"metadata":{"labels":{"compute.datumapis.com/workload-uid":"another"}}}`, reviewed: true,
		},
		"a label of an Instance": {object: instance(), patch: `{"metadata":{"labels":{"` + index + `":"9"}}}`, reviewed: true},
		"another label of the add-on": {
			patch: `{"metadata":{"labels":{"meta.datumapis.com/upstream-cluster-name":"cluster-south"}}}`, reviewed: true,
		},
		"a city":                     {patch: `{"metadata":{"labels":{"topology.datum.net/city-code":"ord"}}}`, reviewed: true},
		"no labels":                  {patch: `{"metadata":{"labels":null}}`, reviewed: true},
		"hundreds of labels":         {patch: `{"metadata":{"labels":{` + strings.Join(many, ",") + `}}}`, reviewed: true},
		"hundreds of annotations":    {patch: `{"metadata":{"annotations":{` + strings.Join(many, ",") + `}}}`, reviewed: true},
		"no finalizers":              {patch: `{"metadata":{"finalizers":null}}`, reviewed: true},
		"no finalizer of the add-on": {patch: `{"metadata":{"finalizers":["example.com/held"]}}`, reviewed: true},
		"another finalizer of the add-on": {
			patch: `{"metadata":{"finalizers":["example.com/held","` + federator + `","compute.datumapis.com/x"]}}`, reviewed: true,
		},
		"another owner": {
			patch: `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":"x","uid":"x"}]}}`, reviewed: true,
		},
		"its owner does not control it": {patch: `[{"op":"remove","path":"/metadata/ownerReferences/0/controller"}]`, reviewed: true},
		"the spec, in deletion":         {deleting: true, patch: `{"spec":{"scaleSettings":{"minReplicas":5}}}`, reviewed: true},
		"no finalizers, in deletion":    {deleting: true, patch: `{"metadata":{"finalizers":null}}`, reviewed: true},
		"the hub namespace, in deletion": {
			deleting: true, patch: `{"metadata":{"annotations":{"compute.datumapis.com/federation-namespace":"victim"}}}`, reviewed: true,
		},
		"the replicas, by the garbage collector": {
			user: garbageCollector, subresource: "scale", patch: `{"spec":{"replicas":5000}}`, reviewed: true,
		},

		"nothing": {patch: `{}`},
		"an unknown field of the status": {
			subresource: "status", patch: `{"status":{"unknown":[{"name":"x"}]}}`, unchanged: true,
		},
		"the spec, beside the status": {
			subresource: "status", patch: `{"spec":{"scaleSettings":{"minReplicas":5}}}`, unchanged: true,
		},
		"an unknown field of the spec": {patch: `{"spec":{"unknown":7}}`, unchanged: true},
		"a label of their own":         {patch: `{"metadata":{"labels":{"team":"web"}}}`},
		"an annotation of their own":   {patch: `{"metadata":{"annotations":{"example.com/note":"x"}}}`},
		"an annotation of an Instance": {
			object: instance(), patch: `{"metadata":{"annotations":{"example.com/note":"x"}}}`,
		},
		"a label of an InstanceType": {object: kind(), patch: `{"metadata":{"labels":{"team":"web"}}}`},
		"a finalizer of another controller": {
			patch: `{"metadata":{"finalizers":["example.com/held","example.com/too","` + federator + `"]}}`,
		},
		"no finalizer of another controller": {patch: `{"metadata":{"finalizers":["` + federator + `"]}}`},
		"the same, in deletion":              {deleting: true, patch: `{"metadata":{"finalizers":["` + federator + `"]}}`},
		"orphaned by the garbage collector":  {user: garbageCollector, patch: `{"metadata":{"ownerReferences":null}}`},
		"unblocked by the garbage collector": {
			user: garbageCollector, patch: `[{"op":"add","path":"/metadata/ownerReferences/0/blockOwnerDeletion","value":false}]`,
		},
		"orphaned by the garbage collector, an object in deletion": {
			user: garbageCollector, deleting: true, patch: `{"metadata":{"ownerReferences":null}}`,
		},
		"the spec, by the add-on":   {user: addOn, patch: `{"spec":{"scaleSettings":{"minReplicas":5}}}`},
		"the status, by the add-on": {user: addOn, subresource: "status", patch: `{"status":{"replicas":7}}`},
		"the hub namespace, by the add-on": {
			user: addOn, patch: `{"metadata":{"annotations":{"compute.datumapis.com/federation-namespace":"ns"}}}`,
		},
		"its finalizer, in deletion, by the add-on": {user: addOn, deleting: true, patch: `{"metadata":{"finalizers":["example.com/held"]}}`},
		"hundreds of labels, by the add-on":         {user: addOn, patch: `{"metadata":{"labels":{` + strings.Join(many, ",") + `}}}`},
	}
}

// boundary is a project with the registered webhook.
type boundary struct {
	server    *httptest.Server
	namespace string
	admin     client.Client
	count     int
}

// newBoundary registers the webhook for owned objects of a configuration, as in an installation.
func newBoundary(t *testing.T, content []byte) *boundary {
	t.Helper()
	b := &boundary{admin: as(t, ""), server: httptest.NewUnstartedServer(nil)}
	owned := &webhook.Owned{Users: func(context.Context) ([]string, error) { return []string{addOn}, nil }}
	mux := http.NewServeMux()
	mux.Handle(webhook.OwnedPath, &admission.Webhook{Handler: owned})
	b.server.Config.Handler = mux
	b.server.StartTLS()
	t.Cleanup(b.server.Close)
	b.namespace = testenv.Namespace(t, b.admin, "boundary").Name

	register(t, content, webhook.OwnedPath, b.server)
	b.awaitWebhook(t)
	return b
}

// register registers the webhooks of a configuration that have a path, at a server.
func register(t *testing.T, content []byte, path string, server *httptest.Server) {
	t.Helper()
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	if err := yaml.UnmarshalStrict(content, &configuration); err != nil {
		t.Fatal(err)
	}
	hooks := configuration.Webhooks
	configuration.Webhooks = nil
	for i := range hooks {
		if *hooks[i].ClientConfig.Service.Path != path {
			continue
		}
		url := server.URL + path
		bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		hooks[i].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: bundle}
		configuration.Webhooks = append(configuration.Webhooks, hooks[i])
	}
	admin := as(t, "")
	if err := admin.Create(t.Context(), &configuration); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := admin.Delete(context.Background(), &configuration); err != nil {
			t.Error(err)
		}
	})
}

// awaitWebhook waits until the API server calls the webhook.
func (b *boundary) awaitWebhook(t *testing.T) {
	t.Helper()
	user := as(t, consumer)
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		b.count++
		d := b.deployment(fmt.Sprintf("probe-%d", b.count))
		return apierrors.IsForbidden(user.Create(ctx, d)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// as is a client of a user with all permissions; "" is an administrator.
func as(t *testing.T, user string) client.Client {
	t.Helper()
	config := rest.CopyConfig(testenv.Config(t))
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	if user != "" {
		config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:masters"}}
	}
	c, err := client.New(config, client.Options{Scheme: testenv.Scheme(t, v1alpha.AddToScheme)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (b *boundary) metadata(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: b.namespace, Name: name,
		Labels:      map[string]string{v1alpha.LabelWorkloadUID: "workload-uid", v1alpha.LabelInstanceIndex: "0", "own": "label"},
		Annotations: map[string]string{v1alpha.AnnotationHubNamespace: "ns-1"},
		Finalizers:  []string{"example.com/held", v1alpha.FinalizerPropagation},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha.GroupVersion.String(), Kind: "Workload", Name: "web", UID: "workload-uid",
			Controller: new(true), BlockOwnerDeletion: new(true),
		}},
	}
}

func (b *boundary) deployment(name string) *v1alpha.WorkloadDeployment {
	w := workload("DFW")
	return &v1alpha.WorkloadDeployment{ObjectMeta: b.metadata(name), Spec: v1alpha.WorkloadDeploymentSpec{
		WorkloadRef: v1alpha.WorkloadReference{Name: "web", UID: "workload-uid"}, PlacementName: "main", CityCode: "DFW",
		Template: w.Spec.Template, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1, InstanceManagementPolicy: v1alpha.OrderedReady},
	}}
}

// create creates the object of a write, as the add-on.
func (b *boundary) create(t *testing.T, w *write) client.Object {
	t.Helper()
	b.count++
	name := fmt.Sprintf("object-%d", b.count)
	var object client.Object = b.deployment(name)
	switch kind := w.object.(type) {
	case *v1alpha.Instance:
		kind.ObjectMeta, kind.Spec = b.metadata(name), workload("DFW").Spec.Template.Spec
		object = kind
	case *v1alpha.InstanceType:
		kind.ObjectMeta = metav1.ObjectMeta{Name: name + "-" + b.namespace}
		kind.Spec.Resources = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("2Gi")}
		object = kind
	}
	keeper := as(t, addOn)
	if err := keeper.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if d, is := object.(*v1alpha.WorkloadDeployment); is {
		// A patch of a missing status is reviewed, whatever it has: it creates the status.
		d.Status.Replicas = 1
		if err := keeper.Status().Update(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if w.deleting {
		if err := keeper.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	return object
}

// send sends a write and returns the answer of the API server. changed reports whether an object was stored.
func (b *boundary) send(t *testing.T, w *write) (changed bool, err error) {
	t.Helper()
	object, user := b.create(t, w), w.user
	before := object.GetResourceVersion()
	if user == "" {
		user = consumer
	}
	kind := types.MergePatchType
	if strings.HasPrefix(w.patch, "[") {
		kind = types.JSONPatchType
	}
	patch, c := client.RawPatch(kind, []byte(w.patch)), as(t, user)
	if w.subresource != "" {
		err = c.SubResource(w.subresource).Patch(t.Context(), object, patch)
	} else {
		err = c.Patch(t.Context(), object, patch)
	}
	return object.GetResourceVersion() != before, err
}

// TestBoundary: every write to the add-on's objects that matters to it is reviewed, and no write that must never wait
// for it. Writes without a review pass even if every replica is down.
func TestBoundary(t *testing.T) {
	t.Run("at Milo", func(t *testing.T) { checkBoundary(t, webhook.Configuration, writes()) })
	t.Run("without Milo", func(t *testing.T) {
		content, err := webhook.NamespacesConfiguration()
		if err != nil {
			t.Fatal(err)
		}
		all := writes()
		maps.DeleteFunc(all, func(_ string, w write) bool {
			_, operators := w.object.(*v1alpha.InstanceType)
			return operators
		})
		checkBoundary(t, content, all)
	})
}

func checkBoundary(t *testing.T, content []byte, all map[string]write) {
	t.Helper()
	b := newBoundary(t, content)
	check := func(refusal string) {
		for name, w := range all {
			changed, err := b.send(t, &w)
			switch {
			case !w.reviewed && err != nil:
				t.Errorf("%s is refused: %v", name, err)
			case w.reviewed && (err == nil || !strings.Contains(err.Error(), refusal)):
				t.Errorf("%s: %v, want a refusal with %q", name, err, refusal)
			case w.unchanged && changed:
				t.Errorf("%s is stored", name)
			}
		}
	}
	check("is created and kept by karmada-compute")
	b.server.Close()
	check("failed calling webhook")
	object := b.create(t, &write{})
	if err := as(t, consumer).Delete(t.Context(), object); err != nil {
		t.Errorf("an object cannot be deleted: %v", err)
	}
}

// TestDeletionOfADeployment: an administrator who deletes a deployment has to name a reason. Controllers need none.
func TestDeletionOfADeployment(t *testing.T) {
	namespaces, err := webhook.NamespacesConfiguration()
	if err != nil {
		t.Fatal(err)
	}
	for name, configuration := range map[string][]byte{"at Milo": webhook.Configuration, "without Milo": namespaces} {
		t.Run(name, func(t *testing.T) {
			b := newBoundary(t, configuration)
			create := func(name string) *v1alpha.WorkloadDeployment {
				t.Helper()
				deployment := b.deployment(name)
				if err := as(t, addOn).Create(t.Context(), deployment); err != nil {
					t.Fatal(err)
				}
				return deployment
			}
			web, operator := create("web"), as(t, "an-operator")
			err := operator.Delete(t.Context(), web)
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), v1alpha.AnnotationBreakGlass) ||
				!strings.Contains(err.Error(), "change the Workload") {
				t.Errorf("an operator deletes it: %v", err)
			}
			if err := operator.DeleteAllOf(t.Context(), &v1alpha.WorkloadDeployment{},
				client.InNamespace(b.namespace)); !apierrors.IsForbidden(err) {
				t.Errorf("an operator deletes all: %v", err)
			}
			for _, user := range []string{
				addOn, "system:serviceaccount:kube-system:generic-garbage-collector", "system:serviceaccount:kube-system:namespace-controller",
			} {
				if err := as(t, user).Delete(t.Context(), web.DeepCopy(), client.DryRunAll); err != nil {
					t.Errorf("%s may not delete it: %v", user, err)
				}
			}
			if err := as(t, "a-garbage-collector").Delete(t.Context(), web.DeepCopy(), client.DryRunAll,
				client.Preconditions{UID: &web.UID}); err != nil {
				t.Errorf("a controller may not delete it by its UID: %v", err)
			}
			reason := client.RawPatch("application/merge-patch+json",
				[]byte(`{"metadata":{"annotations":{"`+v1alpha.AnnotationBreakGlass+`":"the city is closed"}}}`))
			if err := operator.Patch(t.Context(), web, reason); err != nil {
				t.Fatalf("an operator names a reason: %v", err)
			}
			if err := operator.Delete(t.Context(), web); err != nil {
				t.Errorf("with a reason: %v", err)
			}
		})
	}
}
