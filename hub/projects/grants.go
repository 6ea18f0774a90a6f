// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

import (
	"context"
	"fmt"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/internal/apply"
)

const (
	// GrantName is the name of the RoleBinding. The role of the add-on names it.
	GrantName = "karmada-compute"
	// GrantRole is the name of the ClusterRole that the RoleBinding refers to. The chart creates it, and the add-on may
	// bind no other.
	GrantRole = "karmada-compute-namespace"
	// GrantFieldManager is the field manager of the RoleBinding.
	GrantFieldManager apply.FieldManager = "karmada-compute-grants"
)

// Grants maintains the RoleBindings. It is safe for concurrent use.
type Grants struct {
	hub client.Client

	mu sync.Mutex
	// user is the add-on's user on the hub; "": not known yet.
	user string
	// inForce are the RoleBindings that the API server's authorizer knows, by hub namespace. At sweepAt entries, entries
	// without a RoleBinding are dropped.
	inForce map[string]types.UID
	sweepAt int
}

// firstSweep is the number of RoleBindings in force at which entries without one are first dropped.
const firstSweep = 256

// NewGrants returns Grants that read RoleBindings from the cache of a client, and write with it.
func NewGrants(hub client.Client) *Grants {
	return &Grants{hub: hub, inForce: map[string]types.UID{}, sweepAt: firstSweep}
}

// Ensure creates or updates the RoleBinding of a hub namespace, which the caller has proved to be the add-on's. If the
// cache has the RoleBinding, Ensure makes no request.
func (g *Grants) Ensure(ctx context.Context, namespace string, from Origin) error {
	user, err := g.whoAmI(ctx)
	if err != nil {
		return err
	}
	existing, desired := &rbacv1.RoleBinding{}, desiredBinding(namespace, user, from)
	err = g.hub.Get(ctx, client.ObjectKeyFromObject(desired), existing)
	if err == nil && grants(existing, user) && !apply.MetadataDiffers(existing, desired) {
		return nil
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get the RoleBinding of hub namespace %s: %w", namespace, err)
	}
	if _, err := apply.Object(ctx, g.hub, GrantFieldManager, desired); err != nil {
		return fmt.Errorf("bind ClusterRole %s in hub namespace %s: %w", GrantRole, namespace, err)
	}
	return nil
}

// Has reports whether the RoleBinding of a hub namespace is in force: the cache has it, and the API server's
// authorizer, which learns of it later, allows what it grants. The authorizer is asked until it does, and then no more:
// a request before that would be refused.
func (g *Grants) Has(ctx context.Context, namespace string) (bool, error) {
	user, err := g.whoAmI(ctx)
	if err != nil {
		return false, err
	}
	existing, err := g.binding(ctx, namespace)
	if err != nil || existing == nil || !grants(existing, user) {
		return false, err
	}
	if g.isInForce(existing) {
		return true, nil
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "list", Resource: "secrets"},
	}}
	if err := g.hub.Create(ctx, review); err != nil {
		return false, fmt.Errorf("ask the hub whether the RoleBinding of hub namespace %s is in force: %w", namespace, err)
	}
	if review.Status.Allowed {
		g.noteInForce(ctx, existing)
	}
	return review.Status.Allowed, nil
}

// binding returns the RoleBinding of a hub namespace from the cache; nil: it has none.
func (g *Grants) binding(ctx context.Context, namespace string) (*rbacv1.RoleBinding, error) {
	existing := &rbacv1.RoleBinding{}
	err := g.hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: GrantName}, existing)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get the RoleBinding of hub namespace %s: %w", namespace, err)
	}
	return existing, nil
}

func (g *Grants) isInForce(binding *rbacv1.RoleBinding) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inForce[binding.Namespace] == binding.UID
}

// noteInForce records that the authorizer knows a RoleBinding.
func (g *Grants) noteInForce(ctx context.Context, binding *rbacv1.RoleBinding) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inForce[binding.Namespace] = binding.UID; len(g.inForce) < g.sweepAt {
		return
	}
	for namespace := range g.inForce {
		if existing, err := g.binding(ctx, namespace); err == nil && existing == nil {
			delete(g.inForce, namespace)
		}
	}
	g.sweepAt = max(firstSweep, 2*len(g.inForce))
}

// whoAmI asks the hub once for the add-on's user.
func (g *Grants) whoAmI(ctx context.Context) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.user != "" {
		return g.user, nil
	}
	review := &authenticationv1.SelfSubjectReview{}
	if err := g.hub.Create(ctx, review); err != nil {
		return "", fmt.Errorf("ask the hub which user the add-on is: %w", err)
	}
	g.user = review.Status.UserInfo.Username
	return g.user, nil
}

// desiredBinding returns the RoleBinding of a hub namespace. Its subject is a user name: ServiceAccounts have one, too.
func desiredBinding(namespace, user string, from Origin) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: GrantName, Labels: from.Labels(), Annotations: from.Annotations()},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: GrantRole},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
}

// grants reports whether a RoleBinding grants the role to the user alone.
func grants(binding *rbacv1.RoleBinding, user string) bool {
	desired := desiredBinding(binding.Namespace, user, Origin{})
	return binding.DeletionTimestamp.IsZero() && equality.Semantic.DeepEqual(binding.RoleRef, desired.RoleRef) &&
		equality.Semantic.DeepEqual(binding.Subjects, desired.Subjects)
}
