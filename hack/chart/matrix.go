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

// The table of what parties may do on a plane is between these lines of the page on security, with the name of the plane.
const (
	beginMatrix = "<!-- begin: matrix of plane %s, generated from testenv/matrix/matrix.yaml -->\n"
	endMatrix   = "<!-- end: matrix of plane %s -->\n"
)

// hubPlane is the plane of parties and rows that name none, as in testenv/matrix.
const hubPlane = "hub"

// planes are the planes of testenv/matrix, with the heads of their first columns.
var planes = map[string]string{hubPlane: "object on the hub", "project": "object in a project", "cell": "object in a cell"}

// verbs are the verbs of testenv/matrix, in its order.
var verbs = []string{"create", "update", "patch", "delete", "deletecollection", "status", "finalizers"}

// security is the part of testenv/matrix that the page shows: a generator imports nothing of the tests.
type security struct {
	Parties map[string]struct {
		Plane string `json:"plane"`
		About string `json:"about"`
	} `json:"parties"`
	Rows []securityRow `json:"rows"`
}

type securityRow struct {
	Plane     string            `json:"plane"`
	Kind      string            `json:"kind"`
	Namespace string            `json:"namespace"`
	Name      string            `json:"name"`
	About     string            `json:"about"`
	Outcomes  map[string]string `json:"outcomes"`
	Harmless  map[string]string `json:"harmless"`
}

// places are the words of the page for the variables of the matrix.
var places = strings.NewReplacer("karmada-es-${cell}", "`karmada-es-*` of another cell", "karmada-es-${own}", "`karmada-es-*` of its cell",
	"${hub}", "a hub namespace", "${project}", "a project", "${free}", "another namespace", "${agents}", "the namespace of the agents",
	"${cell}", "another cell", "${own}", "its own cell")

// writeMatrix writes the table of each plane into a page: what each party may do, and what refuses the rest. Refusals by RBAC
// alone are omitted.
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
	for plane := range planes {
		begin, end := fmt.Sprintf(beginMatrix, plane), fmt.Sprintf(endMatrix, plane)
		before, rest, ok := bytes.Cut(page, []byte(begin))
		_, after, closed := bytes.Cut(rest, []byte(end))
		if !ok || !closed {
			return fmt.Errorf("%s: the lines %q and %q must be there: the table is written between them", file, begin, end)
		}
		page = []byte(string(before) + begin + table.textOf(plane) + end + string(after))
	}
	return os.WriteFile(file, page, 0o600) //nolint:gosec // It is the page on security.
}

// textOf is the text of a plane.
func (s *security) textOf(plane string) string {
	var text strings.Builder
	for _, party := range slices.Sorted(maps.Keys(s.Parties)) {
		if cmp.Or(s.Parties[party].Plane, hubPlane) != plane {
			continue
		}
		fmt.Fprintf(&text, "\n**%s**: %s.\n", party, s.Parties[party].About)
		lines := s.linesOf(party, plane)
		if len(lines) == 0 {
			text.WriteString("RBAC refuses every write of the matrix.\n")
			continue
		}
		fmt.Fprintf(&text, "\n| %s | may | refused by | why it does no harm, or what is left |\n| --- | --- | --- | --- |\n", planes[plane])
		text.WriteString(strings.Join(lines, ""))
	}
	return text.String()
}

// linesOf are the lines of a party. Objects with the same answers and reason have one line.
func (s *security) linesOf(party, plane string) []string {
	var answers []string
	objects := map[string][]string{}
	for i := range s.Rows {
		row := &s.Rows[i]
		if cmp.Or(row.Plane, hubPlane) != plane {
			continue
		}
		may, refusing := row.answersTo(party)
		if may == "" && refusing == "" {
			continue
		}
		answer := fmt.Sprintf("%s | %s | %s", cmp.Or(may, "nothing"), cmp.Or(refusing, "RBAC"), row.Harmless[party])
		if may == allVerbs {
			answer = fmt.Sprintf("%s | | %s", may, row.Harmless[party])
		}
		if objects[answer] == nil {
			answers = append(answers, answer)
		}
		if object := row.object(); !slices.Contains(objects[answer], object) {
			objects[answer] = append(objects[answer], object)
		}
	}
	var lines []string
	for _, answer := range answers {
		lines = append(lines, fmt.Sprintf("| %s | %s |\n", strings.Join(objects[answer], "; "), answer))
	}
	return lines
}

const allVerbs = "all verbs"

// answersTo are the verbs that a party may use, and the policies that refuse others.
func (r *securityRow) answersTo(party string) (may, refusing string) {
	words := strings.Fields(r.Outcomes[party])
	if len(words) == 1 {
		words = slices.Repeat(words, len(verbs))
	}
	var allowed []string
	policies, refused := map[string]bool{}, false
	for i, word := range words {
		switch word {
		case "allowed":
			allowed = append(allowed, verbs[i])
		case "none":
		case "rbac":
			refused = true
		default:
			for policy := range strings.SplitSeq(word, "|") {
				policies["`karmada-compute-"+policy+"`"] = true
			}
		}
	}
	refusing = strings.Join(slices.Sorted(maps.Keys(policies)), ", ")
	if len(allowed) > 0 && refusing == "" && !refused {
		return allVerbs, ""
	}
	return strings.Join(allowed, ", "), refusing
}

// object names the object of a row.
func (r *securityRow) object() string {
	place := r.Namespace
	switch {
	case r.Plane == "project":
		place = "" // it is the plane itself
	case place == "" && strings.HasPrefix(r.Name, "${"), strings.HasPrefix(r.Name, "karmada-es-"):
		place = r.Name
	case place != "" && !strings.Contains(place, "$"):
		place = "`" + place + "/" + strings.ReplaceAll(r.Name, "matrix", "*") + "`"
	}
	details := slices.DeleteFunc([]string{r.Kind, places.Replace(place), r.About}, func(detail string) bool { return detail == "" })
	return strings.Join(details, ", ")
}
