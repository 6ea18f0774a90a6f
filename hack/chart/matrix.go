// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// The table of what parties may do is between these lines of the page on security.
const (
	beginMatrix = "<!-- begin: matrix, generated from testenv/matrix/matrix.yaml -->\n"
	endMatrix   = "<!-- end: matrix -->\n"
)

// verbs are the verbs of testenv/matrix, in its order.
var verbs = []string{"create", "update", "patch", "delete", "deletecollection", "status", "finalizers"}

// security is the part of testenv/matrix that the page shows: a generator imports nothing of the tests.
type security struct {
	Parties map[string]string `json:"parties"`
	Rows    []struct {
		Kind      string            `json:"kind"`
		Namespace string            `json:"namespace"`
		Name      string            `json:"name"`
		Outcomes  map[string]string `json:"outcomes"`
		Harmless  map[string]string `json:"harmless"`
		Content   map[string]any    `json:"content"`
	} `json:"rows"`
}

// places are the words of the page for the variables of the matrix.
var places = strings.NewReplacer("karmada-es-${cell}", "`karmada-es-*` of another cell", "karmada-es-${own}", "`karmada-es-*` of its cell",
	"${hub}", "a hub namespace", "${project}", "a project", "${free}", "another namespace", "${agents}", "the namespace of the agents",
	"${cell}", "another cell", "${own}", "its own cell")

// writeMatrix writes the table into a page: what each party may do on the hub, and what refuses the rest. Refusals by RBAC alone are
// omitted.
func writeMatrix(file string) error {
	content, err := os.ReadFile("testenv/matrix/matrix.yaml")
	if err != nil {
		return err
	}
	table := security{}
	if err := yaml.Unmarshal(content, &table); err != nil {
		return fmt.Errorf("parse testenv/matrix/matrix.yaml: %w", err)
	}
	page, err := os.ReadFile(file) //nolint:gosec // It is the page on security.
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(page, []byte(beginMatrix))
	_, after, closed := bytes.Cut(rest, []byte(endMatrix))
	if !ok || !closed {
		return fmt.Errorf("%s: the lines %q and %q must be there: the table is written between them", file, beginMatrix, endMatrix)
	}
	var text strings.Builder
	for _, party := range slices.Sorted(maps.Keys(table.Parties)) {
		fmt.Fprintf(&text, "\n**%s**: %s.\n", party, table.Parties[party])
		lines := table.linesOf(party)
		if len(lines) == 0 {
			text.WriteString("RBAC refuses every write of the matrix.\n")
			continue
		}
		text.WriteString("\n| object on the hub | may | refused by | why it does no harm, or what is left |\n| --- | --- | --- | --- |\n")
		text.WriteString(strings.Join(lines, ""))
	}
	written := string(before) + beginMatrix + text.String() + endMatrix + string(after)
	return os.WriteFile(file, []byte(written), 0o600) //nolint:gosec // It is the page on security.
}

// linesOf are the lines of a party.
func (s *security) linesOf(party string) []string {
	var lines []string
	for _, row := range s.Rows {
		words := strings.Fields(row.Outcomes[party])
		if len(words) == 1 {
			words = slices.Repeat(words, len(verbs))
		}
		var may []string
		refusing := map[string]bool{}
		for i, word := range words {
			switch word {
			case "allowed":
				may = append(may, verbs[i])
			case "none", "rbac":
			default:
				for policy := range strings.SplitSeq(word, "|") {
					refusing["`karmada-compute-"+policy+"`"] = true
				}
			}
		}
		if len(may) == 0 && len(refusing) == 0 {
			continue
		}
		place := row.Namespace
		switch {
		case place == "" && strings.HasPrefix(row.Name, "${"), strings.HasPrefix(row.Name, "karmada-es-"):
			place = row.Name
		case place == "":
			place = ""
		case !strings.Contains(place, "$"):
			place = "`" + place + "/" + strings.ReplaceAll(row.Name, "matrix", "*") + "`"
		}
		object := strings.TrimSuffix(row.Kind+", "+places.Replace(place), ", ")
		if row.Content["source"] != nil {
			object += ", in the name of the add-on"
		}
		lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s |\n", object, cmp.Or(strings.Join(may, ", "), "nothing"),
			cmp.Or(strings.Join(slices.Sorted(maps.Keys(refusing)), ", "), "RBAC"), row.Harmless[party]))
	}
	return lines
}
