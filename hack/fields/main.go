// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command fields writes the reference of what becomes of each field of a Kubernetes workload in a Workload, from the
// types of Kubernetes and the table of cli/convert/podfields.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/karmada-compute/karmada-compute/cli/convert/podfields"
)

const reference = "docs/reference/template-fields.md"

const head = `# Fields of Kubernetes in a Workload

Generated from the types of Kubernetes and the code: every field of a Pod, a container, a Deployment and a StatefulSet, and where a Workload has it.

- A field with a path is honoured. It has the name, the default and the meaning that it has in Kubernetes, unless the last column says otherwise.
- A field without a path is not in the API, or is refused by admission. With strict validation of fields, as kubectl asks for, API servers refuse an
  unknown field by its name; ` + "`kubectl compute convert`" +
	` lists it with the text of the last column. Values in parentheses are the same in every cell:
  convert does not list them.
- Types that are not here are used unchanged, such as the sources of a ConfigMap volume.
`

func main() {
	if err := os.WriteFile(reference, []byte(page()), 0o644); err != nil { //nolint:gosec // not a secret
		fmt.Fprintln(os.Stderr, "fields:", err)
		os.Exit(1)
	}
}

func page() string {
	out := &strings.Builder{}
	out.WriteString(head)
	for i := range podfields.Tables {
		table := &podfields.Tables[i]
		fmt.Fprintf(out, "\n## %s\n\n| field | in a Workload | remark |\n| --- | --- | --- |\n", table.Type.Name())
		for _, field := range podfields.FieldsOf(table.Type) {
			entry := table.Fields[field.Name]
			path := "–"
			if entry.Honoured() {
				path = "`" + entry.Path + "`"
			}
			fmt.Fprintf(out, "| `%s` | %s | %s |\n", field.Name, path, remark(&entry))
		}
	}
	return out.String()
}

// remark is the text of an entry, with the values that every cell has.
func remark(entry *podfields.Entry) string {
	var same []string
	for _, value := range entry.Same {
		// The values are constants of Kubernetes, which can be encoded.
		encoded, _ := json.Marshal(value)
		same = append(same, "`"+strings.ReplaceAll(string(encoded), `"`, "")+"`")
	}
	text := entry.Text
	if len(same) > 0 {
		text += " (" + strings.Join(same, ", ") + ")"
	}
	return text
}
