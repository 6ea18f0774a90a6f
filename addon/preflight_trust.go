// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// checkTrust names who has used the hub in a way that the policies refuse from now on.
func (s *session) checkTrust(ctx context.Context, f *findings, clusters []unstructured.Unstructured) {
	for i := range clusters {
		s.checkCluster(ctx, f, &clusters[i])
	}
	roles, err := reasons.AgentRoles(ctx, s.hub)
	if err != nil {
		f.warn("the roles of agents are not checked: %v", err)
	} else if len(roles) > 0 {
		f.warn("%s", reasons.AboutAgentRoles(roles))
	}
	foreign, err := reasons.ForeignObjects(ctx, s.hub)
	if err != nil {
		f.warn("Karmada's objects in projects are not checked: %v", err)
	} else if len(foreign) > 0 {
		f.warn("%s", reasons.AboutForeignObjects(foreign))
	}
	s.checkNamespacesOfOthers(ctx, f)
	checkAgents(f, s.karmadaVersion, clusters)
}

// checkCluster checks what a Cluster names, who has rights in the namespace of its Works, and its karmada-agent.
func (s *session) checkCluster(ctx context.Context, f *findings, cluster *unstructured.Unstructured) {
	name := cluster.GetName()
	for _, field := range []string{"secretRef", "impersonatorSecretRef"} {
		ref, found, _ := unstructured.NestedStringMap(cluster.Object, "spec", field)
		if found && !reasons.IsCredential(name, ref["namespace"], ref["name"], field == "impersonatorSecretRef") {
			f.warn("Cluster %s has spec.%s %s/%s, which is not the Secret that karmadactl creates for it: Karmada sends its token to the endpoint "+
				"of the Cluster, and the add-on lets it be in no city; delete the Cluster and replace the token, or join it again without "+
				"--cluster-namespace", name, field, ref["namespace"], ref["name"])
		}
	}
	if cluster.GetAnnotations()[v1alpha.AnnotationForget] != "" {
		f.warn("annotation %s of Cluster %s has no meaning, because the agent of the cell may write it: annotate namespace karmada-es-%s",
			v1alpha.AnnotationForget, name, name)
	}
	strangers, err := reasons.StrangersOfCell(ctx, s.hub, name)
	if err != nil {
		f.warn("who has rights in the namespace of the Works of cell %s is not checked: %v", name, err)
	} else if len(strangers) > 0 {
		f.warn("others have rights in the namespace of the Works of cell %s, which hold the Secrets of its deployments: RoleBindings %s; delete "+
			"them with kubectl delete rolebinding -n karmada-es-%s <name>", name, reasons.Some(strangers), name)
	}
}

// renewing are the first patch versions of Karmada whose agents renew their certificate, by minor version.
var renewing = map[uint]string{16: "1.16.4", 17: "1.17.1"}

// checkAgents names cells in pull mode whose karmada-agent never renews its certificate (karmada-io/karmada#7275). The hub does
// not have the versions of agents: they are upgraded with Karmada.
func checkAgents(f *findings, karmada *version.Version, clusters []unstructured.Unstructured) {
	var pull []string
	for i := range clusters {
		if mode, _, _ := unstructured.NestedString(clusters[i].Object, "spec", "syncMode"); mode == "Pull" {
			pull = append(pull, clusters[i].GetName())
		}
	}
	if karmada == nil || karmada.Major() != 1 || len(pull) == 0 {
		return
	}
	if fixed, listed := renewing[karmada.Minor()]; listed && karmada.LessThan(version.MustParseGeneric(fixed)) {
		f.warn("Karmada is %s, whose karmada-agents never renew their certificates: cells %s are lost when these expire; upgrade Karmada and "+
			"the agents to %s, or to 1.18.0 or newer", karmada, reasons.Some(pull), fixed)
	}
}

// checkNamespacesOfOthers refuses a namespace of the add-on on the hub that it did not create and in which others may write.
func (s *session) checkNamespacesOfOthers(ctx context.Context, f *findings) {
	known, err := readInventory(ctx, s.host, s.options.karmada.namespace)
	if err != nil {
		f.fail("%w", err)
		return
	}
	for _, name := range []string{
		hubNamespace, s.namespaceOf("agents", agentBinding.Namespace), s.namespaceOf("sessions", Name+"-sessions"),
	} {
		if known.lists(onHub, reference{"v1", "Namespace", "", name}) {
			continue
		}
		if err := s.hub.Get(ctx, client.ObjectKey{Name: name}, &corev1.Namespace{}); err != nil {
			if !apierrors.IsNotFound(err) {
				f.warn("namespace %s of the hub is not checked: %v", name, err)
			}
			continue
		}
		writers, err := reasons.Writers(ctx, s.hub, name, func(subject rbacv1.Subject) bool {
			own := subject.Kind == rbacv1.ServiceAccountKind && subject.Namespace == name
			return own || reasons.IsKarmada(subject) || strings.HasPrefix(subject.Name, "system:")
		})
		if err != nil {
			f.warn("who has rights in namespace %s of the hub is not checked: %v", name, err)
		} else if len(writers) > 0 {
			f.fail("others may write, or read Secrets, in namespace %s of the hub, which the add-on did not create and keeps its own state in: "+
				"RoleBindings %s; delete them: kubectl delete rolebinding -n %s <name>", name, reasons.Some(writers), name)
		}
	}
}

// namespaceOf returns a namespace of the values.
func (s *session) namespaceOf(part, otherwise string) string {
	if name, found, err := unstructured.NestedString(s.values, part, "namespace"); found && err == nil {
		return name
	}
	return otherwise
}
