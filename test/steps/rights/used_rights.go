// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// granted is a role of the add-on in one plane.
type granted struct {
	plane, user, role string
}

// allGranted are the roles that the scenarios of a federation use, in planes where no scenario removes them for a
// while.
var allGranted = []granted{
	{"hub", world.AddOnAccount, "karmada-compute-hub"},
	{"milo", world.AddOnUser, "karmada-compute-project"},
	{"project/south", world.AddOnUser, "karmada-compute-project"},
	{"cell/dfw", world.AgentAccount, "karmada-compute-cell"},
}

// CheckRights returns an error if a request of the add-on was forbidden in any scenario, because a rule is missing. It
// reports rules that no request has used.
func CheckRights(ctx context.Context, w *world.World) error {
	if w.CommandsRun.Load() {
		return nil // disabled in between, its rights come and go with it
	}
	unused := map[string]bool{}
	var problems []error
	for _, g := range allGranted {
		requests, err := w.Federation.Requests(g.plane, time.Time{}, g.user)
		if err != nil {
			return err
		}
		for _, request := range requests {
			if request.Forbidden && request.Time.After(w.Ready) {
				problems = append(problems, fmt.Errorf("%s was forbidden to %s %s%s %s/%s at %s at %s",
					g.user, request.Verb, request.Resource, request.Path, request.Namespace, request.Name, g.plane, request.Time.Format(time.TimeOnly)))
			}
		}
		rules, err := rules(ctx, w, g)
		if err != nil {
			return err
		}
		for right, covered := range rules {
			used := slices.ContainsFunc(requests, covered)
			name := g.role + ": " + right
			if before, known := unused[name]; !known || before {
				unused[name] = !used
			}
		}
	}
	var names []string
	for name, isUnused := range unused {
		if isUnused {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(w.Out, "no scenario used %s\n", name)
	}
	return errors.Join(problems[:min(len(problems), world.ShownObjects)]...)
}

// rules returns the rights of a role in a plane, each with a match for its requests, except lists and watches.
func rules(ctx context.Context, w *world.World, g granted) (map[string]func(federation.Request) bool, error) {
	c := w.Client(g.plane, world.Admin)
	var all []rbacv1.PolicyRule
	cluster := &rbacv1.ClusterRole{}
	if err := c.Get(ctx, client.ObjectKey{Name: g.role}, cluster); err != nil {
		return nil, err
	}
	all = append(all, cluster.Rules...)
	roles := &rbacv1.RoleList{}
	if err := c.List(ctx, roles); err != nil {
		return nil, err
	}
	for i := range roles.Items {
		if roles.Items[i].Name == g.role {
			all = append(all, roles.Items[i].Rules...)
		}
	}
	rights := map[string]func(federation.Request) bool{}
	for _, rule := range all {
		addRights(rights, rule)
	}
	return rights, nil
}

// addRights adds the rights of a rule. A watch is audited when it ends, which is after the scenarios, and its initial
// list is part of it: both are left out.
func addRights(rights map[string]func(federation.Request) bool, rule rbacv1.PolicyRule) {
	verbs := slices.DeleteFunc(slices.Clone(rule.Verbs), func(verb string) bool { return verb == "list" || verb == "watch" })
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range verbs {
				wanted, names := group+"/"+resource, rule.ResourceNames
				rights[strings.TrimSpace(verb+" "+wanted+" "+strings.Join(names, ","))] = func(r federation.Request) bool {
					// An apply of an object that does not exist yet needs the right to create.
					created := verb == "create" && r.Verb == "patch" && r.Code == http.StatusCreated
					return (r.Verb == verb || created) && r.Resource == wanted && (len(names) == 0 || slices.Contains(names, r.Name))
				}
			}
		}
	}
}
