// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
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
			got := v1alpha.DeploymentName(c.workload, c.placement, c.city)
			if c.want != "" && got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if problems := validation.IsDNS1123Label(got); len(problems) > 0 {
				t.Errorf("%q is no DNS label: %v", got, problems)
			}
		})
	}
	if v1alpha.DeploymentName(long, "a", "DFW") == v1alpha.DeploymentName(long, "b", "DFW") {
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
			got, ok := v1alpha.InstanceIndex("web", c.name)
			if got != c.want || ok != c.wantOK {
				t.Errorf("got %d, %t, want %d, %t", got, ok, c.want, c.wantOK)
			}
		})
	}
}

func TestProjectLabel(t *testing.T) {
	for project, want := range map[string]string{"north": "cluster-north", "org/north": "cluster-org_north"} {
		if got := v1alpha.ProjectLabel(project); got != want {
			t.Errorf("label of %q is %q, want %q", project, got, want)
		}
	}
	if got := v1alpha.ProjectLabel(strings.Repeat("p", 60)); len(validation.IsValidLabelValue(got)) > 0 {
		t.Errorf("%q is no label value", got)
	}
}

func TestDesiredReplicas(t *testing.T) {
	cases := map[string]struct {
		spec v1alpha.WorkloadDeploymentSpec
		want int32
	}{
		"minReplicas":      {spec: spec(2, nil, nil), want: 2},
		"asked for":        {spec: spec(2, ptr.To[int32](5), ptr.To[int32](4)), want: 4},
		"not below min":    {spec: spec(2, ptr.To[int32](5), ptr.To[int32](0)), want: 2},
		"not above max":    {spec: spec(2, ptr.To[int32](5), ptr.To[int32](9)), want: 5},
		"no max, not more": {spec: spec(2, nil, ptr.To[int32](9)), want: 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.spec.DesiredReplicas(); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func spec(least int32, most, replicas *int32) v1alpha.WorkloadDeploymentSpec {
	return v1alpha.WorkloadDeploymentSpec{
		Replicas:      replicas,
		ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: least, MaxReplicas: most},
	}
}

func TestTemplateHash(t *testing.T) {
	base := func() *v1alpha.InstanceTemplateSpec {
		return &v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{Runtime: v1alpha.InstanceRuntimeSpec{
			Sandbox: &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "app", Image: "one"}}},
		}}}
	}
	hash := func(change func(*v1alpha.InstanceTemplateSpec)) string {
		template := base()
		change(template)
		result, err := v1alpha.TemplateHash(template)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	same := hash(func(*v1alpha.InstanceTemplateSpec) {})
	if got := hash(func(s *v1alpha.InstanceTemplateSpec) {
		s.Spec.Location = &v1alpha.LocationReference{Name: "dfw"}
		s.Spec.Controller = &v1alpha.InstanceController{TemplateHash: "x"}
	}); got != same {
		t.Error("what the add-on sets changes the hash")
	}
	ofType := func(name string) string {
		return hash(func(s *v1alpha.InstanceTemplateSpec) { s.Spec.Runtime.Resources.InstanceType = name })
	}
	if ofType("datumcloud/d1-standard-2") != ofType("datumcloud-d1-standard-2") || ofType("datumcloud/d1-standard-2") == ofType("datumcloud/d1-standard-4") {
		t.Error("the spelling of an instance type counts, or the type does not")
	}
	for name, change := range map[string]func(*v1alpha.InstanceTemplateSpec){
		"image": func(s *v1alpha.InstanceTemplateSpec) { s.Spec.Runtime.Sandbox.Containers[0].Image = "two" },
		"label": func(s *v1alpha.InstanceTemplateSpec) { s.Labels = map[string]string{"a": "b"} },
		"restartedAt": func(s *v1alpha.InstanceTemplateSpec) {
			s.Annotations = map[string]string{v1alpha.AnnotationRestartedAt: "now"}
		},
	} {
		if hash(change) == same {
			t.Errorf("a changed %s does not change the hash", name)
		}
	}
}

func TestShortenMessage(t *testing.T) {
	for name, message := range map[string]string{"short": "fits", "long": strings.Repeat("x", 600), "long, of wide runes": strings.Repeat("€", 600)} {
		t.Run(name, func(t *testing.T) {
			got := v1alpha.ShortenMessage(message, 512)
			if len(got) > 512 || !utf8.ValidString(got) || (len(message) <= 512 && got != message) {
				t.Errorf("got %d bytes: %q", len(got), got)
			}
		})
	}
}

// TestHubNamespace: every pair of a project and a namespace has a name of its own, which is valid and is recognized.
func TestHubNamespace(t *testing.T) {
	const project, namespace = "130b7a3d-36d3-400b-b657-f9f6804a7191", "83b43b77-d31f-4063-834c-d75e010dfdf2"
	names := map[string]bool{}
	for _, name := range []string{
		v1alpha.HubNamespace(project, namespace), v1alpha.HubNamespace(namespace, project), v1alpha.HubNamespace(project+"/", namespace),
		v1alpha.EarlierHubNamespace(namespace),
	} {
		if names[name] || !v1alpha.IsHubNamespace(name) || len(validation.IsDNS1123Label(name)) > 0 {
			t.Errorf("%s is not unique, not valid or not recognized", name)
		}
		names[name] = true
	}
	if want := "ns-131f89bd-23f2-dc9c-4f7c-b89c034d784a"; v1alpha.HubNamespace(project, namespace) != want {
		t.Errorf("got %s, want %s: the names of hub namespaces must not change from one version to the next", v1alpha.HubNamespace(project, namespace), want)
	}
	for _, name := range []string{"victim", "ns-1", "ns-" + namespace + "-2", "default"} {
		if v1alpha.IsHubNamespace(name) {
			t.Errorf("%s counts as the name of a hub namespace", name)
		}
	}
}

func TestNetworkLabel(t *testing.T) {
	long, at := strings.Repeat("n", 253), strings.Repeat("n", 58)
	if got := v1alpha.NetworkLabel("shop", "red"); got != "shop.red" {
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
		{"shop", strings.TrimPrefix(v1alpha.NetworkLabel("shop", long), "shop.")},
	} {
		label, name := v1alpha.NetworkLabel(network[0], network[1]), network[0]+"/"+network[1]
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
	if got := d.NetworkLabel(spec); got != "" {
		t.Errorf("without an interface, got %q", got)
	}
	spec.NetworkInterfaces = []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "red"}}}
	if got := d.NetworkLabel(spec); got != "ns-1.red" {
		t.Errorf("without a project, got %q", got)
	}
	d.Labels = map[string]string{v1alpha.LabelProjectNamespace: "shop"}
	if got := d.NetworkLabel(spec); got != "shop.red" {
		t.Errorf("by default, got %q", got)
	}
	spec.NetworkInterfaces[0].Network.Namespace = "bank"
	if got := d.NetworkLabel(spec); got != "bank.red" {
		t.Errorf("with a namespace, got %q", got)
	}
}

// TestCount: the noun and the verb follow the number.
func TestCount(t *testing.T) {
	for n, want := range map[int32]string{0: "0 Instances are", 1: "1 Instance is", 2: "2 Instances are"} {
		if got := v1alpha.Count(n, "Instance is", "Instances are"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
