// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"slices"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

// nameServer replaces the error about a kind that the API server does not serve: it names the API server that the
// kubeconfig leads to, and the one that it must lead to.
func (c *Command) nameServer(err error) error {
	if !view.IsKindNotServed(err) {
		return err
	}
	config, unread := c.Flags.ToRESTConfig()
	if unread != nil {
		return err
	}
	config.Timeout = completionTimeout
	server, unread := discovery.NewDiscoveryClientForConfig(config)
	if unread != nil {
		return err
	}
	groups, unread := server.ServerGroups()
	if unread != nil {
		return err
	}
	serves := func(group string) bool {
		return slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == group })
	}
	isHub, kinds := serves(clusterv1alpha1.GroupName), &metav1.APIResourceList{}
	if served, unread := server.ServerResourcesForGroupVersion(v1alpha.GroupVersion.String()); unread == nil {
		kinds = served
	}
	isProject := slices.ContainsFunc(kinds.APIResources, func(r metav1.APIResource) bool { return r.Kind == v1alpha.KindWorkload })
	if c.Operator && isHub || !c.Operator && isProject {
		// It is the right one, and does not have another kind.
		return err
	}
	found, want := "serves no kind of karmada-compute", "use the kubeconfig of your project"
	switch {
	case isHub:
		found = "leads to the hub, the karmada-apiserver"
	case isProject:
		found = "leads to a project"
	case serves(v1alpha.GroupVersion.Group):
		found = "leads to a cell"
	case serves(miloProjects.Group):
		found = "leads to Milo's root"
	}
	if c.Operator {
		want = "use the kubeconfig of the hub, the karmada-apiserver"
	}
	return fmt.Errorf("the API server %s of the kubeconfig %s: %s", config.Host, found, want)
}
