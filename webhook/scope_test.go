// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// TestNamespacesScope: the namespace of the request is the project, whatever the user or the object claims.
func TestNamespacesScope(t *testing.T) {
	scope := Namespaces{Eligible: func(name string) bool { return !strings.HasPrefix(name, "kube-") }}
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Namespace: "team-a"}}
	request.UserInfo.Extra = map[string]authenticationv1.ExtraValue{extraParentName: {"north"}}
	if project, err := scope.Of(request); err != nil || project != "team-a" {
		t.Errorf("the project is %q, %v", project, err)
	}
	request.Namespace = "kube-system"
	if _, err := scope.Of(request); err == nil || !strings.Contains(err.Error(), v1alpha.LabelNamespaceProject) {
		t.Errorf("in kube-system: %v", err)
	}
	if missing := scope.Missing("team-a"); !strings.Contains(missing, v1alpha.LabelNamespaceProject+"=true") {
		t.Errorf("%q does not name the label", missing)
	}
	own, foreign := onNetwork("team-a"), onNetwork("team-b")
	if problems := scope.Problems("team-a", own); len(problems) > 0 {
		t.Errorf("a network of its own: %v", problems)
	}
	if problems := scope.Problems("team-a", foreign); len(problems) != 1 ||
		!strings.Contains(problems[0].Field, "networkInterfaces[0].network") {
		t.Errorf("a network of another namespace: %v", problems)
	}
	if problems := (Milo{}).Problems("team-a", foreign); len(problems) > 0 {
		t.Errorf("at Milo: %v", problems)
	}
}

// onNetwork is a Workload that names a network of a namespace.
func onNetwork(namespace string) *v1alpha.Workload {
	w := &v1alpha.Workload{}
	w.Spec.Template.Spec.NetworkInterfaces = []v1alpha.InstanceNetworkInterface{
		{Network: v1alpha.NetworkReference{Namespace: namespace, Name: "default"}},
	}
	return w
}

// TestNamespacesConfiguration: hub namespaces, and operators' objects there, are not reviewed; everything else is as at
// Milo.
func TestNamespacesConfiguration(t *testing.T) {
	content, err := NamespacesConfiguration()
	if err != nil {
		t.Fatal(err)
	}
	var got, atMilo admissionregistrationv1.ValidatingWebhookConfiguration
	if err := yaml.UnmarshalStrict(content, &got); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(Configuration, &atMilo); err != nil {
		t.Fatal(err)
	}
	last := len(got.Webhooks) - 1
	if last != len(atMilo.Webhooks) || *got.Webhooks[last].ClientConfig.Service.Path != NamespacePath {
		t.Fatalf("%d webhooks, %d at Milo, and the last is not that of namespaces", last+1, len(atMilo.Webhooks))
	}
	got.Webhooks = got.Webhooks[:last]
	var reviewed []string
	for i := range got.Webhooks {
		hook := &got.Webhooks[i]
		if first := hook.MatchConditions[0].Expression; first != "!request.namespace.matches('"+hubNamespaces+"')" {
			t.Errorf("%s begins with %s", hook.Name, first)
		}
		if !slices.Equal(hook.MatchConditions[1:], atMilo.Webhooks[i].MatchConditions) {
			t.Errorf("%s has other conditions than at Milo", hook.Name)
		}
		for _, rule := range hook.Rules {
			reviewed = append(reviewed, rule.Resources...)
		}
	}
	for _, resource := range []string{"workloads", "workloaddeployments", "instances", "instanceslices", "instancesessions"} {
		if !slices.Contains(reviewed, resource) {
			t.Errorf("%s are not reviewed", resource)
		}
	}
	if slices.Contains(reviewed, "instancetypes") {
		t.Error("operators cannot write InstanceTypes")
	}
}

// TestHubNamespacesAreKnownByName: the pattern of the configuration matches exactly the names that the add-on gives.
func TestHubNamespacesAreKnownByName(t *testing.T) {
	pattern := regexp.MustCompile(hubNamespaces)
	for _, name := range []string{
		naming.HubNamespace("project", "namespace"), "ns-a", "team-a", "xns-83b43b77-d31f-4063-834c-d75e010dfdf2",
	} {
		if pattern.MatchString(name) != naming.IsHubNamespace(name) {
			t.Errorf("%s: the pattern says %t", name, pattern.MatchString(name))
		}
	}
}
