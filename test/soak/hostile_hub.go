// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv/matrix"
)

// Parties on the hub that have no project.
const (
	// PartyRole has the role for consumers in its project, which is a namespace of the hub.
	PartyRole Party = "role"
	// PartyUser may create namespaces on the hub, and has role admin in one.
	PartyUser Party = "user"
	// PartyAgent has the rights of the agent of a cell in pull mode.
	PartyAgent Party = "agent"
	// PartyNeighbour has no credential, and connects to the ports of the add-on.
	PartyNeighbour Party = "neighbour"
)

// agentsNamespace is the namespace of the agents, on the hub and in cells.
const agentsNamespace = "karmada-compute-system"

// consumerRole is the ClusterRole that the documentation gives consumers.
const consumerRole = "karmada-compute-consumer"

var (
	clusterKind = schema.GroupVersionKind{Group: "cluster.karmada.io", Version: "v1alpha1", Kind: "Cluster"}
	leaseKind   = coordinationv1.SchemeGroupVersion.WithKind("Lease")
)

// ownsProject reports whether the party is the consumer of the hostile project.
func (p Party) ownsProject() bool { return p == PartyConsumer || p == PartyRole }

// hubNoise draws the writes of parties on the hub without a project.
type hubNoise struct {
	*dice
	// own is the party's namespace, or the name of its cell. made names what the party makes.
	own, made string
	// refused are requests that the matrix of the chart's tests says are refused to the party.
	refused []matrix.Refusal
	// cities are real ones, cells are cells of others, and shards are Leases of the add-on.
	cities, cells, shards []string
}

// fromMatrix draws a write that RBAC or a policy refuses to the party.
func (n *hubNoise) fromMatrix() Write {
	refusal := pick(n.dice, n.refused...)
	hubs := slices.DeleteFunc(slices.Clone(n.namespaces), func(name string) bool { return !strings.HasPrefix(name, "ns-") })
	hub := pick(n.dice, append(hubs, "nowhere")...)
	place := strings.NewReplacer("${cell}", pick(n.dice, n.cells...), "${own}", n.own, "${hub}", hub, "${project}", hub, "${free}", n.own,
		"${agents}", agentsNamespace)
	w := Write{
		Verb: "patch", Kind: schema.FromAPIVersionAndKind(refusal.APIVersion, refusal.Kind), MustFail: true,
		Namespace: place.Replace(refusal.Namespace), Name: place.Replace(refusal.Name),
		Body: fields{"metadata": fields{"annotations": fields{"example.com/matrix": n.value() + "x"}}},
	}
	switch refusal.Verb {
	case "create":
		w.Verb, w.Name, w.Body = "create", place.Replace(cmp.Or(refusal.New, n.madeUpName())), replaced(place, refusal.Content)
	case "delete", "deletecollection":
		w.Verb, w.Policy, w.Body = "delete", n.policy(), nil
	case "update":
		w.Verb = "update"
	case "status":
		w.Subresource, w.Body = "status", fields{"status": fields{"conditions": []any{n.condition()}}}
	case "finalizers":
		w.Body = fields{"metadata": fields{"finalizers": []any{hostileFinalizer}}}
	}
	return w
}

// replaced is the content of an object with other texts.
func replaced(place *strings.Replacer, content fields) fields {
	copied := fields{}
	for name, value := range content {
		switch v := value.(type) {
		case fields:
			copied[name] = replaced(place, v)
		case string:
			copied[name] = place.Replace(v)
		default:
			copied[name] = v
		}
	}
	return copied
}

// user draws a write of a user who may create namespaces.
func (n *hubNoise) user() Write {
	if n.IntN(3) == 0 {
		return n.fromMatrix()
	}
	label := pick(n.dice, ourLabels...)
	stolen := fields{"metadata": fields{"labels": fields{
		label: n.value(), v1alpha.LabelProjectUID: pick(n.dice, n.foreign...), v1alpha.LabelManagedBy: "karmada-compute",
	}}}
	switch n.IntN(7) {
	case 0:
		name := fmt.Sprintf("ns-%08x-0000-4000-8000-%012x", n.Uint32(), n.Uint32())
		return Write{Verb: "create", Kind: namespaceKind, Name: name, Body: stolen, MustFail: true}
	case 1:
		return Write{Verb: "create", Kind: namespaceKind, Name: n.madeUpName(), Body: stolen, MustFail: true}
	case 2:
		return Write{Verb: "patch", Kind: namespaceKind, Name: n.own, Body: stolen, MustFail: true}
	case 3:
		return Write{Verb: "patch", Kind: namespaceKind, Name: pick(n.dice, n.namespaces...), Body: stolen, MustFail: true}
	case 4:
		return Write{Verb: "create", Kind: bindingKind, Namespace: n.own, Name: n.madeUpName(), MustFail: true, Body: fields{"spec": fields{
			"clusters": pick(n.dice, []any{}, []any{fields{"name": pick(n.dice, n.cells...)}}),
			"resource": pick(n.dice,
				fields{"apiVersion": "v1", "kind": "Secret", "namespace": pick(n.dice, n.namespaces...), "name": "password"},
				fields{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "name": "instances.compute.datumapis.com"}),
		}}}
	case 5:
		return Write{Verb: "create", Kind: deploymentKind, Namespace: n.own, Name: n.madeUpName(), Body: n.madeUp("x"), MustFail: true}
	default:
		return Write{
			Verb: "create", Kind: policyKind, Namespace: pick(n.dice, n.namespaces...), Name: n.madeUpName(),
			MustFail: true, Body: fields{"spec": fields{
				"resourceSelectors": []any{fields{"apiVersion": "v1", "kind": "Secret"}},
				"placement":         fields{"clusterAffinity": fields{"clusterNames": []any{pick(n.dice, n.cells...)}}},
			}},
		}
	}
}

// agent draws a write of the agent of a cell in pull mode.
func (n *hubNoise) agent() Write {
	if n.IntN(3) == 0 {
		return n.fromMatrix()
	}
	lease := fields{
		"spec": fields{
			"holderIdentity": n.value() + "x", "leaseDurationSeconds": pick(n.dice, 1, 15, 2_000_000_000),
			"renewTime": "2026-01-01T00:00:00.000000Z",
		},
	}
	switch n.IntN(6) {
	case 0:
		return Write{
			Verb: "create", Kind: leaseKind, Namespace: "karmada-system", Name: v1alpha.LeaseReplicaPrefix + n.madeUpName(),
			Body: lease, MustFail: true,
		}
	case 1:
		lease["metadata"] = fields{"annotations": fields{v1alpha.AnnotationShards: pick(n.dice, `{}`, `{"ghost":[0,1,2,3]}`, n.text())}}
		return Write{Verb: "update", Kind: leaseKind, Namespace: "karmada-system", Name: pick(n.dice, n.shards...), Body: lease, MustFail: true}
	case 2:
		// A Cluster of any city may be created. It must get nothing of a project.
		return Write{Verb: "create", Kind: clusterKind, Name: n.madeUpName(), Body: fields{
			"metadata": fields{"labels": fields{v1alpha.LabelTopologyCity: strings.ToLower(pick(n.dice, n.cities...))}},
			"spec":     fields{"syncMode": "Pull", "apiEndpoint": "https://127.0.0.1:1"},
		}}
	case 3:
		return Write{
			Verb: "create", Kind: workKind, Namespace: "karmada-es-" + pick(n.dice, n.cells...),
			Name: n.madeUpName(), MustFail: true, Body: fields{
				"spec": fields{
					"workload": fields{
						"manifests": []any{fields{"apiVersion": "v1", "kind": "Namespace", "metadata": fields{"name": pick(n.dice, n.namespaces...)}}},
					},
				},
			},
		}
	case 4:
		return Write{Verb: "patch", Kind: namespaceKind, Name: "karmada-es-" + n.madeUpName(), MustFail: true, Body: fields{
			"metadata": fields{"labels": fields{v1alpha.LabelTopologyCity: strings.ToLower(pick(n.dice, n.cities...))}},
		}}
	default:
		return Write{
			Verb: "patch", Kind: secretKind, Namespace: "karmada-cluster", Name: pick(n.dice, n.cells...), MustFail: true,
			Body: fields{"data": fields{"ca": "eA=="}},
		}
	}
}

// madeUpName names an object that the party makes.
func (n *hubNoise) madeUpName() string {
	return madeUpName + n.made + "-" + pick(n.dice, "0", "1", "2")
}

// arrangeOnHub gives a party on the hub its rights and its writes.
func (h *Hostile) arrangeOnHub(ctx context.Context, foreign dice) error {
	noise := hubNoise{own: h.hostileUser(), made: h.Namespace, cities: h.Cities, shards: []string{v1alpha.LeaseShards}}
	for _, cell := range h.Federation.Cells() {
		noise.cells = append(noise.cells, cell.Name)
	}
	table, err := matrix.Load()
	if err != nil {
		return err
	}
	noise.refused = table.Refused(map[Party]string{PartyUser: "creator", PartyAgent: "agent"}[h.Party])
	user := h.hostileUser()
	switch h.Party {
	case PartyUser:
		for _, object := range h.userRights() {
			if err := h.collector.planes[hubPlane].Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
				return err
			}
		}
	case PartyAgent:
		if user, err = h.Federation.GrantAgent(ctx, h.hostileUser()); err != nil {
			return err
		}
	default: // a neighbour has no rights
	}
	h.party = h.Client(hubPlane, user)
	h.source = func(worker uint64) func() Write {
		d, drawn := foreign, noise
		d.Rand, drawn.dice = newRandom(h.Seed, 10+worker), &d
		return map[Party]func() Write{
			PartyUser: drawn.user, PartyAgent: drawn.agent, PartyNeighbour: (&portNoise{dice: &d, ports: h.ports(ctx)}).next,
		}[h.Party]
	}
	return nil
}

// userRights are the rights of a user who may create namespaces, and is the administrator of one.
func (h *Hostile) userRights() []client.Object {
	name := h.hostileUser()
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}
	role := func(name string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
	}
	namespaces := func(verbs ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: verbs}}
	}
	own := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: h.hostileUser(), Name: name} }
	return []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{skipPropagation: "true"}}},
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: namespaces("create", "get", "list")},
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name + "-own"}, Rules: namespaces("patch", "update")},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: role(name), Subjects: subjects},
		&rbacv1.RoleBinding{ObjectMeta: own("own"), RoleRef: role(name + "-own"), Subjects: subjects},
		&rbacv1.RoleBinding{ObjectMeta: own("admin"), RoleRef: role("admin"), Subjects: subjects},
	}
}

// withdrawFromHub deletes what a party on the hub has made, and its rights.
func (h *Hostile) withdrawFromHub(ctx context.Context) error {
	h.closeConnections()
	hub := h.collector.planes[hubPlane]
	var errs []error
	switch h.Party {
	case PartyUser:
		for _, object := range h.userRights() {
			errs = append(errs, client.IgnoreNotFound(hub.Delete(ctx, object)))
		}
	case PartyAgent:
		errs = append(errs, h.removeClusters(ctx), h.Federation.WithdrawAgent(ctx, h.hostileUser()))
	default: // a neighbour has made nothing
	}
	return errors.Join(errs...)
}

// removeClusters deletes the Clusters that the hostile agent has made. No agent runs there, so their Works are released
// here.
func (h *Hostile) removeClusters(ctx context.Context) error {
	hub, deadline := h.collector.planes[hubPlane], h.Clock.Now().Add(h.Patience)
	for {
		left := 0
		for i := range 3 {
			cluster := &unstructured.Unstructured{Object: fields{}}
			cluster.SetGroupVersionKind(clusterKind)
			cluster.SetName(fmt.Sprintf("%s%s-%d", madeUpName, h.Namespace, i))
			if err := hub.Get(ctx, client.ObjectKeyFromObject(cluster), cluster); err != nil {
				continue
			}
			left++
			if err := client.IgnoreNotFound(hub.Delete(ctx, cluster)); err != nil {
				return err
			}
			works := &unstructured.UnstructuredList{}
			works.SetGroupVersionKind(workKind)
			if err := hub.List(ctx, works, client.InNamespace("karmada-es-"+cluster.GetName())); err != nil {
				return err
			}
			for j := range works.Items {
				released := works.Items[j].DeepCopy()
				released.SetFinalizers(nil)
				if err := client.IgnoreNotFound(hub.Patch(ctx, released, client.MergeFrom(&works.Items[j]))); err != nil {
					return err
				}
			}
		}
		if left == 0 {
			return nil
		}
		if h.Clock.Now().After(deadline) || !sleepUntil(ctx, h.Clock, h.Clock.Now().Add(checkInterval)) {
			return fmt.Errorf("%d Clusters of the hostile agent are not deleted", left)
		}
	}
}
