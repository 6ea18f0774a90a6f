// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"errors"
	"regexp"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// checkConsumers names the bindings in projects that let a consumer use Karmada itself.
func (s *session) checkConsumers(ctx context.Context, f *findings) {
	if !isWithoutMilo(s.values) {
		return
	}
	broad, err := reasons.BroadBindings(ctx, s.hub)
	if err != nil {
		f.warn("the roles of consumers are not checked: %v", err)
		return
	}
	if len(broad) > 0 {
		f.warn("%s", reasons.AboutBroadBindings(broad))
	}
}

// hubNamespaceForm is the form of the names of hub namespaces.
var hubNamespaceForm = regexp.MustCompile(`^ns-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// namespacePolicy lets only the add-on create hub namespaces.
var namespacePolicy = reference{
	APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicy", Name: "karmada-compute-hub-namespaces",
}

// checkHubNamespaces names namespaces that another user could have created, because they are older than the policy that
// reserves their names.
func (s *session) checkHubNamespaces(ctx context.Context, f *findings) {
	policy := namespacePolicy.object()
	err := s.hub.Get(ctx, client.ObjectKeyFromObject(policy), policy)
	if err == nil {
		return
	}
	namespaces, listErr := s.hub.list(ctx, "v1", "Namespace")
	if client.IgnoreNotFound(err) != nil || listErr != nil {
		f.warn("whether others have created hub namespaces is not checked: %v", errors.Join(client.IgnoreNotFound(err), listErr))
		return
	}
	var early []string
	for i := range namespaces {
		if hubNamespaceForm.MatchString(namespaces[i].GetName()) {
			early = append(early, namespaces[i].GetName())
		}
	}
	if len(early) > 0 {
		f.warn("%d namespaces of the hub have names of hub namespaces, and are older than the policy that reserves these: %s; "+
			"if no earlier version of the add-on has created them, delete them",
			len(early), reasons.Some(early))
	}
}
