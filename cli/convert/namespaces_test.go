// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestNamespaces: an object without a namespace is in the one of --namespace, and data is found in its own namespace
// alone.
func TestNamespaces(t *testing.T) {
	const data = "{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}}\n---\n"
	web := deployment(", namespace: prod", "", "", ", envFrom: [{configMapRef: {name: conf}}]")
	in := options
	in.Namespace = "prod"
	result, err := Manifests([]Input{{Name: "a", Reader: strings.NewReader(data)}, {Name: "b", Reader: strings.NewReader(web)}}, in)
	if err != nil || len(result.Losses) > 0 || !strings.Contains(printed(t, result), "name: conf\n  namespace: prod") {
		t.Errorf("%v, lost %v:\n%s", err, result.Losses, printed(t, result))
	}
	other, err := Manifests([]Input{{Name: "b", Reader: strings.NewReader(strings.ReplaceAll(web, "prod", "test") + "\n---\n" + web)}}, in)
	if err != nil || len(other.Objects) != 1 || len(other.Problems) != 1 ||
		!strings.Contains(other.Problems[0].Error(), "is in namespace test, and --namespace is prod") {
		t.Errorf("another namespace: %v, %v", err, other.Problems)
	}
	result, err = manifestsOf(data + web)
	if err != nil {
		t.Fatal(err)
	}
	checkKind(t, result, []string{
		"Namespace prod: must be one of the project", "is not in the input in namespace prod", "no converted object in its namespace",
	}, nil)
}

// TestProjectNamespace: all objects move to one namespace. Names of Services in others become short, and what has one name is renamed
// or refused.
func TestProjectNamespace(t *testing.T) {
	const data = "{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, data: {URL: 'http://api.back'}}\n---\n"
	const stranger = "ConfigMap conf: data[URL]: names api.back, which no Service of the input has, and no cell knows"
	user := ", envFrom: [{configMapRef: {name: conf}}]"
	in := func(namespace, text string) string {
		text = strings.ReplaceAll(text, "name: conf}, data", "name: conf, namespace: "+namespace+"}, data")
		return strings.ReplaceAll(text, "metadata: {name: web", "metadata: {namespace: "+namespace+", name: web") + "\n---\n"
	}
	api := strings.ReplaceAll(in("back", deployment("", "", "", "")+service("web", onePort)), "web", "api")
	for name, c := range map[string]struct {
		in        string
		lost, out []string
		problem   string
	}{
		"one namespace, and objects without": {
			in: data + in("front", deployment("", "", "", user)), lost: []string{stranger},
			out: []string{"name: conf\n  namespace: team", "name: web\n  namespace: team"},
		},
		"two namespaces": {
			in: in("front", data+deployment("", "", "", user)) + api + in("back", deployment("", "", "", "")),
			lost: []string{
				"ConfigMap conf: data[URL]: names api.back: its namespace has another name in a cell; write api",
				"another object has become Workload web; it is web-2 here",
			},
			out: []string{"name: conf\n  namespace: team", "name: web-2\n  namespace: team"},
		},
		"equal data": {in: in("front", data+deployment("", "", "", user)) + in("back", data+deployment("", "", "", user)), lost: []string{
			stranger, stranger, "another object has become Workload web",
		}},
		"other data": {
			in: in("front", data+deployment("", "", "", user)) +
				in("back", strings.Replace(data, "http://", "ftp://", 1)+deployment("", "", "", user)),
			lost:    []string{stranger, "another object has become Workload web"},
			problem: "another ConfigMap conf moves to namespace team, too; rename one",
		},
	} {
		t.Run(name, func(t *testing.T) {
			moved := options
			moved.ProjectNamespace = "team"
			result, err := Manifests([]Input{{Name: "a", Reader: strings.NewReader(c.in)}}, moved)
			if problem := fmt.Sprint(errors.Join(result.Problems...)); err != nil || !strings.Contains(problem, cmp.Or(c.problem, "<nil>")) {
				t.Fatal(err, problem)
			}
			checkKind(t, result, c.lost, c.out)
			if text := printed(t, result); strings.Contains(text, "namespace: front") || strings.Contains(text, "namespace: back") {
				t.Errorf("an object stays in\n%s", text)
			}
		})
	}
	result, err := manifestsOf("{apiVersion: v1, kind: Namespace, metadata: {name: prod, " +
		"labels: {compute.datumapis.com/project: 'true'}}}\n---\n" +
		deployment(", namespace: prod", "", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	checkKind(t, result, []string{"Namespace prod: is not converted: the project has its namespaces"}, nil)
}
