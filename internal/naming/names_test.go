// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package naming_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

func TestDeploymentName(t *testing.T) {
	long := strings.Repeat("w", 63)
	cases := map[string]struct {
		workload, placement, city string
		want                      string
	}{
		"joined, city in lower case": {workload: "web", placement: "main", city: "DFW", want: "web-main-dfw"},
		"long names are cut":         {workload: long, placement: "main", city: "DFW"},
		"a cut does not end in -":    {workload: strings.Repeat("w", 49) + "-----", placement: "main", city: "DFW"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := naming.DeploymentName(c.workload, c.placement, c.city)
			if c.want != "" && got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if problems := validation.IsDNS1123Label(got); len(problems) > 0 {
				t.Errorf("%q is no DNS label: %v", got, problems)
			}
		})
	}
	if naming.DeploymentName(long, "a", "DFW") == naming.DeploymentName(long, "b", "DFW") {
		t.Error("different placements got the same name")
	}
}

func TestInstanceIndex(t *testing.T) {
	cases := map[string]struct {
		name   string
		want   int
		wantOK bool
	}{
		"first":                   {name: "web-0", want: 0, wantOK: true},
		"thousandth":              {name: "web-999", want: 999, wantOK: true},
		"another deployment's":    {name: "db-0"},
		"longer deployment name":  {name: "web-main-0"},
		"no index":                {name: "web-"},
		"leading zero":            {name: "web-01"},
		"negative":                {name: "web--1"},
		"plus sign":               {name: "web-+1"},
		"the deployment's itself": {name: "web"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := naming.InstanceIndex("web", c.name)
			if got != c.want || ok != c.wantOK {
				t.Errorf("got %d, %t, want %d, %t", got, ok, c.want, c.wantOK)
			}
		})
	}
}

func TestProjectLabel(t *testing.T) {
	for project, want := range map[string]string{"north": "cluster-north", "org/north": "cluster-org_north"} {
		if got := naming.ProjectLabel(project); got != want {
			t.Errorf("label of %q is %q, want %q", project, got, want)
		}
	}
	if got := naming.ProjectLabel(strings.Repeat("p", 60)); len(validation.IsValidLabelValue(got)) > 0 {
		t.Errorf("%q is no label value", got)
	}
}

// TestHubNamespace: every pair of a project and a namespace has a name of its own, which is valid and is recognized.
func TestHubNamespace(t *testing.T) {
	const project, namespace = "130b7a3d-36d3-400b-b657-f9f6804a7191", "83b43b77-d31f-4063-834c-d75e010dfdf2"
	names := map[string]bool{}
	for _, name := range []string{
		naming.HubNamespace(project, namespace), naming.HubNamespace(namespace, project), naming.HubNamespace(project+"/", namespace),
	} {
		if names[name] || !naming.IsHubNamespace(name) || len(validation.IsDNS1123Label(name)) > 0 {
			t.Errorf("%s is not unique, not valid or not recognized", name)
		}
		names[name] = true
	}
	if want := "ns-131f89bd-23f2-dc9c-4f7c-b89c034d784a"; naming.HubNamespace(project, namespace) != want {
		t.Errorf("got %s, want %s: the names of hub namespaces must not change from one version to the next",
			naming.HubNamespace(project, namespace), want)
	}
	for _, name := range []string{"victim", "ns-1", "ns-" + namespace + "-2", "default"} {
		if naming.IsHubNamespace(name) {
			t.Errorf("%s counts as the name of a hub namespace", name)
		}
	}
}

func TestNetworkLabel(t *testing.T) {
	long, at := strings.Repeat("n", 253), strings.Repeat("n", 58)
	if got := naming.NetworkLabel("shop", "red"); got != "shop.red" {
		t.Errorf("got %q", got)
	}
	seen := map[string]string{}
	for _, network := range [][2]string{
		{"shop", "red"},
		{"shop", "a.b"},
		{"shop.a", "b"},
		{"shop", long},
		{"shop", long[1:]},
		{"bank", long},
		{"shop", at},
		{"shop", at + "n"},
		{strings.Repeat("s", 63), "red"},
		{"shop", "RED"},
		{"shop", "a b"},
		{"shop", ""},
		{"", "shop"},
		{"shop", "a/b"},
		// A network with the name of another's hash.
		{"shop", strings.TrimPrefix(naming.NetworkLabel("shop", long), "shop.")},
	} {
		label, name := naming.NetworkLabel(network[0], network[1]), network[0]+"/"+network[1]
		if messages := validation.IsValidLabelValue(label); len(messages) > 0 || label == "" {
			t.Errorf("%s: %q is no label value: %v", name, label, messages)
		}
		if earlier, found := seen[label]; found {
			t.Errorf("%s and %s have the same label %q", earlier, name, label)
		}
		seen[label] = name
	}
	d := &v1alpha.WorkloadDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns-1"}}
	spec := &v1alpha.InstanceSpec{}
	if got := naming.InstanceNetworkLabel(d, spec); got != "" {
		t.Errorf("without an interface, got %q", got)
	}
	spec.NetworkInterfaces = []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "red"}}}
	if got := naming.InstanceNetworkLabel(d, spec); got != "ns-1.red" {
		t.Errorf("without a project, got %q", got)
	}
	d.Labels = map[string]string{v1alpha.LabelProjectNamespace: "shop"}
	if got := naming.InstanceNetworkLabel(d, spec); got != "shop.red" {
		t.Errorf("by default, got %q", got)
	}
	spec.NetworkInterfaces[0].Network.Namespace = "bank"
	if got := naming.InstanceNetworkLabel(d, spec); got != "bank.red" {
		t.Errorf("with a namespace, got %q", got)
	}
}
