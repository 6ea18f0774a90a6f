// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// propagating are the kinds by which Karmada sends objects of a namespace to cells, with their resources. Policies on the
// hub refuse them in projects; the add-on has its own in hub namespaces.
var propagating = []struct {
	kind     schema.GroupVersionKind
	resource string
}{
	{schema.GroupVersionKind{Group: "policy.karmada.io", Version: "v1alpha1", Kind: "PropagationPolicy"}, "propagationpolicies"},
	{schema.GroupVersionKind{Group: "policy.karmada.io", Version: "v1alpha1", Kind: "OverridePolicy"}, "overridepolicies"},
	{schema.GroupVersionKind{Group: "work.karmada.io", Version: "v1alpha2", Kind: "ResourceBinding"}, "resourcebindings"},
	{schema.GroupVersionKind{Group: "work.karmada.io", Version: "v1alpha1", Kind: "Work"}, "works"},
}

// mostNamed is the number of objects of a kind that a refusal names.
const mostNamed = 5

// ProjectLabel refuses to turn a namespace of the hub into a project while objects in it propagate: what they have sent to
// cells would keep running, in cities that the project may not use. It is safe for concurrent use.
type ProjectLabel struct {
	// Hub lists without a cache. Nil: projects are no namespaces.
	Hub client.Reader
	// Eligible reports whether a namespace of that name can be a project. Nothing runs by the label of another one.
	Eligible func(name string) bool
}

// Handle answers one admission request: the API server sends those by which the label appears.
func (l *ProjectLabel) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Resource.Group != "" || request.Resource.Resource != "namespaces" || l.Hub == nil {
		return malformed(fmt.Errorf("resource %s of group %q is not validated here; correct the rules of the "+
			"ValidatingWebhookConfiguration", request.Resource.Resource, request.Resource.Group))
	}
	if !l.Eligible(request.Name) {
		return admission.Allowed("")
	}
	found := make([][]string, len(propagating))
	for i, entry := range propagating {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(entry.kind)
		// One more than is named. A kind that is not served has no objects.
		err := l.Hub.List(ctx, list, client.InNamespace(request.Name), client.Limit(mostNamed+1))
		if client.IgnoreNotFound(err) != nil {
			return unavailable(fmt.Errorf("the %s of namespace %s are not known, try again: %w", entry.resource, request.Name, err))
		}
		for j := range list.Items {
			found[i] = append(found[i], list.Items[j].Name)
		}
	}
	if err := occupied(request.Name, found); err != nil {
		return admission.Denied(err.Error())
	}
	return admission.Allowed("")
}

// occupied returns why a namespace cannot become a project yet: the names of the objects of each kind in propagating that
// it has, and the command that removes them.
func occupied(namespace string, found [][]string) error {
	var kinds, resources []string
	for i, names := range found {
		if len(names) == 0 {
			continue
		}
		more := ""
		if len(names) > mostNamed {
			names, more = names[:mostNamed], " and more"
		}
		kinds = append(kinds, propagating[i].kind.Kind+" "+strings.Join(names, ", ")+more)
		resources = append(resources, propagating[i].resource+"."+propagating[i].kind.Group)
	}
	if len(kinds) == 0 {
		return nil
	}
	return errors.New("namespace " + namespace + " cannot get label " + v1alpha.LabelNamespaceProject + " while it has " +
		strings.Join(kinds, "; ") + ": what they have propagated would keep running, in any city. Use another namespace, or remove them and " +
		"what they run: kubectl --namespace=" + namespace + " delete " + strings.Join(resources, ",") + " --all")
}
