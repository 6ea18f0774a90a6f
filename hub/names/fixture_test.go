// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/ownership"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) {
	os.Exit(testenv.Main(m, testenv.Options{CRDPaths: []string{"hub/names/testdata"}}))
}

const system = "karmada-system"

// testBegin is when a test begins.
var testBegin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// fixture is a project whose Workloads have names.
type fixture struct {
	*planes.Planes
	reconciler *Reconciler
	clock      *testingclock.FakePassiveClock
	// absent: Milo's root does not have the project. held is the brake's reason.
	absent bool
	held   string
	// again is the delay that the last reconcile requested.
	again time.Duration
}

// newFixture has the pattern, and allows domain <namespace>.example. Tests share a hub, and each has its own namespace.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Planes: planes.New(t), clock: testingclock.NewFakePassiveClock(testBegin)}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: system}}
	if err := f.Client.Create(t.Context(), space); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	f.EnsureHubNamespace(t)
	planes.Index(t, f.Hub, index{})
	planes.Index(t, f.Project, byWorkload)
	f.reconciler = &Reconciler{
		Settings: Settings{
			Rules: naming.Hostnames{
				Pattern: "{workload}.{namespace}.apps.example.com", Domains: map[string][]string{"north": {f.Namespace.Name + ".example"}},
			},
			TTL: 20 * time.Second, ReturnAfter: 30 * time.Second, SilentShare: 33, PanicThreshold: 50,
		},
		Projects: f.Planes, Hub: f.Hub, APIReader: f.Hub, Records: &Records{Namespace: system}, Clock: f.clock,
	}
	f.reconciler.Owners = ownership.New(ownership.Options{Projects: f.Planes, Milo: f, Brake: f})
	f.reconciler.Records.use(t.Context(), f.Hub)
	return f
}

// Lookup, Owns and Held play Milo's root.
func (f *fixture) Lookup(context.Context, string) (types.UID, bool, error) {
	return planes.ProjectUID, !f.absent, nil
}

func (*fixture) Owns(naming.ShardKey) bool { return true }

func (f *fixture) Held(context.Context) (string, error) { return f.held, nil }

// byPattern is the name that the pattern gives a Workload.
func (f *fixture) byPattern(workload string) string {
	return workload + "." + f.Namespace.Name + ".apps.example.com"
}

// own is a name in the domain of the project.
func (f *fixture) own(label string) string { return label + "." + f.Namespace.Name + ".example" }

// workload creates an exposed Workload that asks for names.
func (f *fixture) workload(t *testing.T, name string, hostnames ...string) *v1alpha.Workload {
	t.Helper()
	w := &v1alpha.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: name}}
	w.Spec.Template = planes.Template("registry.example/app:1")
	w.Spec.Placements = []v1alpha.WorkloadPlacement{
		{Name: "main", CityCodes: []string{"DFW"}, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1}},
	}
	w.Spec.Service = &v1alpha.WorkloadService{
		Ports: []v1alpha.ServicePort{{Port: 80}}, Exposure: v1alpha.ServiceExposureLoadBalancer, Hostnames: hostnames,
	}
	return planes.Create(t, f.Planes, w)
}

// serve plays hub/deployments and hub/projection: the deployment of a city has an endpoint with addresses. "" serves no
// more.
func (f *fixture) serve(t *testing.T, w *v1alpha.Workload, city, addresses string) {
	t.Helper()
	d := f.Deployment(w.Name+"-"+strings.ToLower(city), city)
	d.Labels[v1alpha.LabelWorkloadUID], d.Labels[v1alpha.LabelWorkloadName] = string(w.UID), w.Name
	d.Spec.WorkloadRef = v1alpha.WorkloadReference{Name: w.Name, UID: w.UID}
	d.Spec.Service, d.Spec.ServiceGeneration = w.Spec.Service.DeepCopy(), w.Generation
	if !planes.Exists(t, f.Planes, d) {
		planes.Create(t, f.Planes, d)
	}
	planes.ChangeStatus(t, f.Planes, d, func(d *v1alpha.WorkloadDeployment) {
		next := v1alpha.CityEndpoint{City: city, Serving: addresses != "", Since: metav1.NewTime(f.clock.Now())}
		if len(d.Status.Endpoints) > 0 {
			before := d.Status.Endpoints[0]
			next.Addresses = before.Addresses
			if before.Serving == next.Serving {
				next.Since = before.Since
			}
		}
		if addresses != "" {
			next.Addresses = parse(addresses)
		} else {
			next.Reason = v1alpha.ReasonReplicasNotReady
		}
		d.Status.Endpoints = []v1alpha.CityEndpoint{next}
	})
}

// parse reads addresses such as "203.0.113.7 lb.example.net".
func parse(text string) []v1alpha.EndpointAddress {
	var result []v1alpha.EndpointAddress
	for value := range strings.FieldsSeq(text) {
		kind := v1alpha.EndpointAddressIP
		if !strings.Contains(value, ":") && strings.ContainsAny(value, "abcdefghijklmnopqrstuvwxyz") {
			kind = v1alpha.EndpointAddressHostname
		}
		result = append(result, v1alpha.EndpointAddress{Type: kind, Value: value})
	}
	return result
}

func (f *fixture) request(workload string) mcreconcile.Request {
	return mcreconcile.Request{ClusterName: planes.ProjectName, Request: reconcile.Request{
		NamespacedName: types.NamespacedName{Namespace: f.Namespace.Name, Name: workload},
	}}
}

// reconcile reconciles a Workload, and returns the writes.
func (f *fixture) reconcile(t *testing.T, workload string) []planes.Call {
	t.Helper()
	f.Project.Calls()
	f.Hub.Calls()
	result, err := f.reconciler.Reconcile(t.Context(), f.request(workload))
	if err != nil {
		t.Fatal(err)
	}
	f.again = result.RequeueAfter
	return slices.Concat(f.Hub.Writes(), f.Project.Writes())
}

// scope is the scope of a Workload as a cache has it, with the stored names.
func (f *fixture) scope(t *testing.T, name string, cached *v1alpha.Workload) *scope {
	t.Helper()
	project, err := projects.Find(t.Context(), f.reconciler.Projects, f.request(name).ClusterName)
	if err != nil {
		t.Fatal(err)
	}
	s := &scope{
		Reconciler: f.reconciler, request: f.request(name), project: project, client: project.GetClient(), workload: cached,
		wishes: f.reconciler.wishes(cached, project.Name),
	}
	origin := project.Origin(f.Namespace.Name)
	if s.existing, s.served, err = f.reconciler.Records.Of(t.Context(), &origin, name); err != nil {
		t.Fatal(err)
	}
	return s
}

func (f *fixture) origin() projects.Origin {
	return projects.Origin{Project: planes.ProjectName.String(), ProjectUID: planes.ProjectUID, Namespace: f.Namespace.Name}
}

func (f *fixture) after(d time.Duration) { f.clock.SetTime(f.clock.Now().Add(d)) }

// record reads the DNSEndpoint of a name, or returns nil if it is missing.
func (f *fixture) record(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	record := newRecord()
	err := f.Client.Get(t.Context(), client.ObjectKey{Namespace: system, Name: name}, record)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// answers returns the records of a name, such as "A 203.0.113.7; AAAA 2001:db8::1"; "": it does not exist.
func (f *fixture) answers(t *testing.T, name string) string {
	t.Helper()
	record := f.record(t, name)
	if record == nil {
		return ""
	}
	var texts []string
	for _, one := range specOf(record).Endpoints {
		if one.DNSName != name || one.RecordTTL != 20 {
			t.Errorf("the record of %s is of %s, TTL %d", name, one.DNSName, one.RecordTTL)
		}
		text := one.RecordType + " " + strings.Join(one.Targets, " ")
		if one.SetIdentifier != "" {
			text = fmt.Sprintf("%s: %s %v", one.SetIdentifier, text, one.ProviderSpecific)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

func (f *fixture) wantAnswer(t *testing.T, name, want string) {
	t.Helper()
	if got := f.answers(t, name); got != want {
		t.Errorf("%s answers %q, want %q", name, got, want)
	}
}

// wantCondition checks the condition of a Workload and its names.
func (f *fixture) wantCondition(t *testing.T, workload, reason string, hostnames ...string) *metav1.Condition {
	t.Helper()
	w := planes.Get(t, f.Planes, f.Namespace.Name, workload, &v1alpha.Workload{})
	condition := meta.FindStatusCondition(w.Status.Conditions, v1alpha.ConditionNamesProgrammed)
	if condition == nil {
		condition = &metav1.Condition{}
	}
	if condition.Reason != reason || !slices.Equal(w.Status.Hostnames, hostnames) {
		t.Errorf("condition %s %s %q with names %v, want %s with %v", condition.Status, condition.Reason, condition.Message,
			w.Status.Hostnames, reason, hostnames)
	}
	return condition
}
