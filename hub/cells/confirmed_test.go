// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	testingclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// cities is a hub with a city whose cells must be confirmed.
type cities struct {
	*planes.Planes
	t    *testing.T
	city string
	r    *cells.Confirmations
}

func newCities(t *testing.T) *cities {
	t.Helper()
	p := planes.New(t)
	p.LiftLimits()
	c := &cities{Planes: p, t: t, city: planes.City()}
	c.r = &cells.Confirmations{Hub: p.Hub, Clock: testingclock.NewFakePassiveClock(time.Now())}
	c.start()
	return c
}

// start plays a replica that starts.
func (c *cities) start() {
	c.r.Cities = &cells.Cities{Namespaces: c.HubAPI, APIReader: c.HubAPI, Writer: c.Hub}
}

// of returns the names of the confirmed cells of a city, after each Cluster was reconciled.
func (c *cities) of(city string, clusters ...string) []string {
	c.t.Helper()
	for _, name := range clusters {
		if _, err := c.r.Reconcile(c.t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: name}}); err != nil {
			c.t.Fatal(err)
		}
	}
	found, err := cells.List(c.t.Context(), c.r.Cities.Hub(c.Hub))
	if err != nil {
		c.t.Fatal(err)
	}
	var names []string
	for _, cell := range found.Of(city) {
		names = append(names, cell.Name)
	}
	return names
}

func (c *cities) want(why, city string, got []string, want ...string) {
	c.t.Helper()
	if !slices.Equal(got, want) {
		c.t.Errorf("%s: the cells of %s are %v, want %v", why, city, got, want)
	}
}

// register gives an agent its rights, as karmadactl register does.
func (c *cities) register(subject rbacv1.Subject, role string) *rbacv1.ClusterRoleBinding {
	c.t.Helper()
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{GenerateName: "agent-"}, Subjects: []rbacv1.Subject{subject}}
	subject.APIGroup = rbacv1.GroupName
	binding.Subjects[0] = subject
	binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
	if err := c.Client.Create(c.t.Context(), binding); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if err := c.Client.Delete(context.Background(), binding); client.IgnoreNotFound(err) != nil {
			c.t.Error(err)
		}
	})
	return binding
}

// label gives an object the label of a city; "": it removes the label.
func label[T client.Object](c *cities, object T, city string) {
	c.t.Helper()
	planes.Change(c.t, c.Planes, object, func(o T) {
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[v1alpha.LabelTopologyCity] = city
		if city == "" {
			delete(labels, v1alpha.LabelTopologyCity)
		}
		o.SetLabels(labels)
	})
}

func (c *cities) space(cluster string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: planes.ExecutionSpace(cluster)}}
}

// condition returns the condition of a Cluster about its city; nil: it has none.
func (c *cities) condition(name string) *metav1.Condition {
	c.t.Helper()
	found := &clusterv1alpha1.Cluster{}
	if err := c.Client.Get(c.t.Context(), client.ObjectKey{Name: name}, found); err != nil {
		c.t.Fatal(err)
	}
	return meta.FindStatusCondition(found.Status.Conditions, v1alpha.ConditionComputeCityConfirmed)
}

var agent = rbacv1.Subject{Kind: rbacv1.UserKind, Name: "system:karmada:agent:remote"}

// TestPushModeAlone: while no agent may write Clusters, the label of a Cluster alone decides, as operators know it.
func TestPushModeAlone(t *testing.T) {
	c := newCities(t)
	// The bindings of karmadactl init on every hub are no agents.
	c.register(rbacv1.Subject{Kind: rbacv1.UserKind, Name: "system:karmada:agent:rbac-generator"}, "system:karmada:agent-rbac-generator")
	c.register(rbacv1.Subject{Kind: rbacv1.GroupKind, Name: "system:karmada:agents"},
		"system:karmada:certificatesigningrequest:selfautoapprover")
	cell := c.Cell(t, c.city)
	c.want("a new cell", c.city, c.of(c.city, cell.Name), cell.Name)
	other := planes.City()
	label(c, cell, strings.ToUpper(other))
	c.want("moved away", c.city, c.of(c.city))
	c.want("moved, in upper case", other, c.of(other, cell.Name), cell.Name)
	label(c, cell, "")
	c.want("withdrawn", other, c.of(other, cell.Name))
	c.register(agent, "any")
	label(c, cell, other)
	c.want("the label is back after agents exist", other, c.of(other, cell.Name))
	if condition := c.condition(cell.Name); condition == nil {
		t.Error("nobody is told that the city is not confirmed")
	}
}

// TestSettingsAreTheOperators: the settings of a cell are at the namespace of its Works, which no agent may write. The
// annotation of the Cluster itself, which its agent may write, has no meaning.
func TestSettingsAreTheOperators(t *testing.T) {
	c := newCities(t)
	cell := c.Cell(t, c.city)
	c.of(c.city, cell.Name)
	settings := func() cells.Cell {
		t.Helper()
		found, err := cells.List(t.Context(), c.r.Cities.Hub(c.Hub))
		if err != nil {
			t.Fatal(err)
		}
		named, _ := found.Find(cell.Name)
		return named
	}
	annotate := func(object client.Object, value, most string) {
		t.Helper()
		planes.Change(t, c.Planes, object, func(o client.Object) {
			o.SetAnnotations(map[string]string{v1alpha.AnnotationLoadBalancer: value, v1alpha.AnnotationNodesOnDemand: most})
		})
	}
	annotate(cell, "by the agent", "9")
	if got := settings(); got.Balancer != "" || got.OnDemand != 0 {
		t.Errorf("the agent of the cell has configured %q, %d", got.Balancer, got.OnDemand)
	}
	annotate(c.space(cell.Name), "by the operator", "7")
	if got := settings(); got.Balancer != "by the operator" || got.OnDemand != 7 {
		t.Errorf("the settings are %q, %d", got.Balancer, got.OnDemand)
	}
}

// TestInvalidCities: a label that no Workload can name as a city gives the Cluster a condition, confirmed or not.
func TestInvalidCities(t *testing.T) {
	c := newCities(t)
	cell := c.Cell(t, c.city)
	for _, agents := range []bool{false, true} {
		if agents {
			c.register(agent, "any")
		}
		for value, invalid := range map[string]bool{
			"": true, "FRA_1": true, "fra.1": true, "frankfurt-am-main-west": true, "FRA-1": false, "f": false,
		} {
			planes.Change(t, c.Planes, cell, func(o *clusterv1alpha1.Cluster) { o.Labels[v1alpha.LabelTopologyCity] = value })
			if agents {
				label(c, c.space(cell.Name), value)
			}
			c.of(value, cell.Name, cell.Name)
			condition := c.condition(cell.Name)
			got := condition != nil && condition.Status == metav1.ConditionFalse && condition.Reason == v1alpha.ReasonCityInvalid
			if got != invalid {
				t.Errorf("with label %q, agents: %t, the condition is %+v", value, agents, condition)
			}
		}
	}
}

// TestAgents: an agent makes no Cluster a cell of a city, an operator does.
func TestAgents(t *testing.T) {
	for name, subject := range map[string]rbacv1.Subject{
		"a user": agent, "the group": {Kind: rbacv1.GroupKind, Name: "system:karmada:agents"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCities(t)
			cell := c.Cell(t, c.city)
			c.want("before agents exist", c.city, c.of(c.city, cell.Name), cell.Name)
			c.register(subject, "any")
			invented := c.Cell(t, strings.ToUpper(c.city))
			c.want("an agent made a Cluster", c.city, c.of(c.city, cell.Name, invented.Name), cell.Name)
			condition := c.condition(invented.Name)
			command := "kubectl label --overwrite namespace karmada-es-" + invented.Name + " topology.datum.net/city-code=" + strings.ToLower(c.city)
			if condition == nil || condition.Reason != v1alpha.ReasonCityUnconfirmed || !strings.HasSuffix(condition.Message, command) {
				t.Fatalf("the condition is %+v, want the command %s", condition, command)
			}
			label(c, c.space(invented.Name), strings.ToUpper(c.city))
			c.want("an operator confirmed it", c.city, c.of(c.city, invented.Name), cell.Name, invented.Name)
			if condition := c.condition(invented.Name); condition != nil {
				t.Errorf("a confirmed cell has %+v", condition)
			}
			// The status of its own Cluster lets an agent change the labels.
			other := planes.City()
			label(c, invented, other)
			c.want("an agent moved its Cluster", other, c.of(other, invented.Name))
			label(c, invented, c.city)
			label(c, c.space(invented.Name), "")
			c.want("the confirmation is withdrawn", c.city, c.of(c.city, invented.Name), cell.Name)
		})
	}
}

// TestEventsOfUnconfirmedClusters: an agent may write its Clusters at any rate. The hub is asked once a minute.
func TestEventsOfUnconfirmedClusters(t *testing.T) {
	c := newCities(t)
	clock := testingclock.NewFakePassiveClock(time.Now())
	c.r.Clock = clock
	c.of(c.city)
	registered := c.register(agent, "any")
	first, second := c.Cell(t, c.city), c.Cell(t, c.city)
	reads := func() int {
		c.HubAPI.Calls()
		for range 20 {
			for _, cell := range []string{first.Name, second.Name} {
				if _, err := c.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: cell}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		read := 0
		for _, call := range c.HubAPI.Calls() {
			if call.Kind == "ClusterRoleBindingList" || call.Kind == "ClusterList" {
				read++
			}
		}
		return read
	}
	if got := reads(); got > 2 {
		t.Errorf("40 events cause %d lists", got)
	}
	if err := c.Client.Delete(t.Context(), registered); err != nil {
		t.Fatal(err)
	}
	if c.condition(first.Name) == nil {
		t.Error("a Cluster is confirmed beside an agent")
	}
	// The requests of the time after, whether there are events or not.
	clock.SetTime(clock.Now().Add(time.Minute))
	c.want("the last agent is gone", c.city, c.of(c.city, first.Name), first.Name)
}

// TestPullMode: an agent with a credential of another form shows by its Cluster.
func TestPullMode(t *testing.T) {
	c := newCities(t)
	pull := c.Cell(t, c.city)
	planes.Change(t, c.Planes, pull, func(cluster *clusterv1alpha1.Cluster) { cluster.Spec.SyncMode = clusterv1alpha1.Pull })
	t.Cleanup(func() {
		if err := c.Client.Delete(context.Background(), pull); err != nil {
			t.Error(err)
		}
	})
	c.want("a cell in pull mode", c.city, c.of(c.city, pull.Name))
}

// TestCitiesThatAreNotRead: a hub that does not answer a replica that starts has no cells, and none is taken for withdrawn.
func TestCitiesThatAreNotRead(t *testing.T) {
	c := newCities(t)
	cell := c.Cell(t, c.city)
	c.HubAPI.Once("list", "NamespaceList", func() error { return context.DeadlineExceeded })
	if _, err := cells.List(t.Context(), c.r.Cities.Hub(c.Hub)); err == nil {
		t.Error("a hub that does not answer has cells")
	}
	c.want("it answers again", c.city, c.of(c.city, cell.Name), cell.Name)
}

// TestConfirmationsInAManager: a replica confirms a new cell, and hears at once that an operator withdraws or gives a
// confirmation.
func TestConfirmationsInAManager(t *testing.T) {
	c := newCities(t)
	mgr, err := ctrl.NewManager(c.Config(), ctrl.Options{
		Scheme: c.Client.Scheme(), Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.r.Cities, err = cells.NewCities(mgr); err != nil {
		t.Fatal(err)
	}
	c.r.Hub = mgr.GetClient()
	if err := c.r.Register(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	hub := c.r.Cities.Hub(mgr.GetClient())
	await := func(what string, is func(cells.Cells) bool) {
		t.Helper()
		if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
			found, err := cells.List(ctx, hub)
			return err == nil && is(found.Of(c.city)), nil
		}); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	cell := c.Cell(t, c.city)
	await("a new cell is not confirmed", func(found cells.Cells) bool { return len(found) == 1 && found[0].Name == cell.Name })
	read := &clusterv1alpha1.Cluster{}
	if err := hub.Get(t.Context(), client.ObjectKeyFromObject(cell), read); err != nil || read.Labels[v1alpha.LabelTopologyCity] == "" {
		t.Errorf("the confirmed cell has labels %v: %v", read.Labels, err)
	}
	c.register(agent, "any")
	label(c, c.space(cell.Name), "")
	await("the withdrawn cell stays", func(found cells.Cells) bool { return len(found) == 0 })
	told := func(want bool) {
		t.Helper()
		if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
			return (c.condition(cell.Name) != nil) == want, nil
		}); err != nil {
			t.Fatalf("the condition of the Cluster is not right: %v", err)
		}
	}
	told(true)
	if err := hub.Get(t.Context(), client.ObjectKeyFromObject(cell), read); err != nil || read.Labels[v1alpha.LabelTopologyCity] != "" {
		t.Errorf("the withdrawn cell has labels %v: %v", read.Labels, err)
	}
	label(c, c.space(cell.Name), c.city)
	await("the confirmed cell does not come", func(found cells.Cells) bool { return len(found) == 1 })
	told(false)
}
