// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import "testing"

// TestTextIsKept: a text of a ConfigMap has the same bytes after the conversion, wherever it is in the file: a crontab
// without its last line end, for example, is ignored.
func TestTextIsKept(t *testing.T) {
	user := deployment("", "", "", ", envFrom: [{configMapRef: {name: conf}}]")
	for name, test := range map[string]struct{ in, want string }{
		"in the middle":   {"data:\n  a: |\n    one\n    two\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: conf}\n", "one\ntwo\n"},
		"at the end":      {"kind: ConfigMap\napiVersion: v1\nmetadata: {name: conf}\ndata:\n  a: |\n    one\n    two\n", "one\ntwo\n"},
		"with all lines":  {"kind: ConfigMap\napiVersion: v1\nmetadata: {name: conf}\ndata:\n  a: |+\n    one\n\n\n", "one\n\n\n"},
		"without its end": {"kind: ConfigMap\napiVersion: v1\nmetadata: {name: conf}\ndata:\n  a: |-\n    one\n", "one"},
		"folded":          {"kind: ConfigMap\napiVersion: v1\nmetadata: {name: conf}\ndata:\n  a: >\n    one\n    two\n", "one two\n"},
		"an indented document": {
			"  kind: ConfigMap\n  apiVersion: v1\n  metadata: {name: conf}\n  data: {a: one}\n", "one",
		},
		"Windows": {"\ufeffkind: ConfigMap\r\napiVersion: v1\r\nmetadata: {name: conf}\r\ndata:\r\n  a: |\r\n    one\r\n", "one\n"},
		"JSON": {
			"\n  {\"kind\": \"ConfigMap\", \"apiVersion\": \"v1\", \"metadata\": {\"name\": \"conf\"}, \"data\": {\"a\": \" one\\n\"}}\n",
			" one\n",
		},
	} {
		for order, in := range map[string]string{"first": test.in + "---\n" + user, "last": user + "\n---\n" + test.in} {
			result, err := manifestsOf(in)
			if err != nil || len(result.Problems) > 0 || len(result.Objects) != 2 {
				t.Errorf("%s, %s: %v, %v, %d objects", name, order, err, result.Problems, len(result.Objects))
				continue
			}
			object, isTree := result.Objects[0].(map[string]any)
			if data, _ := object["data"].(map[string]any); !isTree || data["a"] != test.want {
				t.Errorf("%s, %s: the text is %q, want %q", name, order, data["a"], test.want)
			}
		}
	}
}
