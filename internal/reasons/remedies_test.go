// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// TestEveryReasonHasARemedy reads the sources: every constant that is a reason, and every reason that is set without
// one.
func TestEveryReasonHasARemedy(t *testing.T) {
	found := 0
	for _, folder := range []string{"api", "cell", "hub", "internal", "interpreter", "milo", "policies", "webhook"} {
		for _, path := range sources(t, filepath.Join("..", "..", folder)) {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(node ast.Node) bool {
				reason, ok := reasonOf(node)
				if !ok {
					return true
				}
				found++
				if !slices.ContainsFunc(remedies, func(r Remedy) bool { return r.Reason == reason }) {
					t.Errorf("%s: reason %s is not in the table of remedies", path, reason)
				}
				return true
			})
		}
	}
	if found < len(remedies)/2 {
		t.Errorf("only %d reasons were found in the sources, and the table has %d", found, len(remedies))
	}
}

func sources(t *testing.T, folder string) []string {
	t.Helper()
	var paths []string
	if err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			paths = append(paths, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return paths
}

// reasonOf is the reason that a constant of the API defines, or that a condition's literal contains.
func reasonOf(node ast.Node) (string, bool) {
	switch node := node.(type) {
	case *ast.ValueSpec:
		if len(node.Values) == 1 && strings.HasPrefix(node.Names[0].Name, "Reason") {
			return text(node.Values[0])
		}
	case *ast.CompositeLit:
		if selector, ok := node.Type.(*ast.SelectorExpr); !ok || !strings.HasSuffix(selector.Sel.Name, "Condition") {
			return "", false
		}
		for _, element := range node.Elts {
			field, ok := element.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			if key, ok := field.Key.(*ast.Ident); ok && key.Name == "Reason" {
				return text(field.Value)
			}
		}
	case *ast.AssignStmt:
		if selector, ok := node.Lhs[0].(*ast.SelectorExpr); ok && selector.Sel.Name == "Reason" {
			return text(node.Rhs[0])
		}
	}
	return "", false
}

func text(expression ast.Expr) (string, bool) {
	literal, ok := expression.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(literal.Value)
	return value, err == nil && value != ""
}

// TestRemedies: every remedy is complete, and no condition has two remedies for one reason.
func TestRemedies(t *testing.T) {
	seen := map[string]bool{}
	for _, remedy := range All() {
		if problem := incomplete(&remedy); problem != "" {
			t.Errorf("%s: %s", remedy.Reason, problem)
		}
		if len(remedy.Conditions) == 0 {
			t.Errorf("no condition has reason %s", remedy.Reason)
		}
		for _, condition := range remedy.Conditions {
			key := condition + "/" + remedy.Reason
			if seen[key] {
				t.Errorf("two remedies for reason %s of %s", remedy.Reason, condition)
			}
			seen[key] = true
			if got, ok := Of(condition, remedy.Reason); !ok || got.Do != remedy.Do {
				t.Errorf("%s: got %+v", key, got)
			}
		}
	}
	if got, ok := Of(v1alpha.ConditionReady, "Nonsense"); ok {
		t.Errorf("a remedy for nonsense: %+v", got)
	}
}

// incomplete reports missing parts of a remedy: a reason has a rank and a normal duration, and a state that may last
// too long has an Actor who acts then.
func incomplete(r *Remedy) string {
	if r.Rank < RankWell || r.Rank > RankCause {
		return "it has no rank"
	}
	if (r.Rank == RankWell) != (r.Normal == Forever) {
		return "exactly the reasons that report no fault may last forever"
	}
	late := r.Late != Action{}
	switch {
	case r.Rank == RankWell:
		return unless(r.Actor == ActorNobody && !late, "a consumer or an operator must act although no fault is reported")
	case r.Normal == 0:
		return unless(isAct(r.Action) && !late,
			"it is never normal, so a consumer or an operator must act at once, and nothing is left for later")
	default:
		return unless(r.Actor == ActorNobody && r.Do != "" && isAct(r.Late),
			"it is normal at first, so nobody acts, and a consumer or an operator must when it lasts too long")
	}
}

func isAct(a Action) bool {
	return (a.Actor == ActorConsumer || a.Actor == ActorOperator) && a.Do != ""
}

func unless(ok bool, message string) string {
	if ok {
		return ""
	}
	return message
}

func TestIncompleteRemedies(t *testing.T) {
	act, wait := Action{ActorConsumer, "act"}, Action{ActorNobody, "wait"}
	for name, r := range map[string]Remedy{
		"without a rank":            {Action: act},
		"without a duration":        {Rank: RankStep, Action: wait},
		"without an end":            {Rank: RankStep, Normal: 1, Action: wait},
		"an end that nobody brings": {Rank: RankStep, Normal: 1, Action: wait, Late: wait},
		"well for a while":          {Rank: RankWell, Normal: 1, Action: Action{Actor: ActorNobody}},
	} {
		if incomplete(&r) == "" {
			t.Errorf("%s, it counts as complete", name)
		}
	}
}

func TestAfter(t *testing.T) {
	passing := Remedy{Normal: 10, Action: Action{ActorNobody, "wait"}, Late: Action{ActorOperator, "act"}}
	for lasted, want := range map[time.Duration]string{0: "wait", 10: "wait", 11: "act", -5: "wait"} {
		if got := passing.After(lasted); got.Do != want {
			t.Errorf("after %d: %+v, want %s", lasted, got, want)
		}
	}
	urgent := Remedy{Action: Action{ActorConsumer, "act"}}
	if got := urgent.After(1); got != urgent.Action {
		t.Errorf("got %+v", got)
	}
}

// TestCompare: of several objects, or several findings about one, the reason that a person must act on first is shown.
func TestCompare(t *testing.T) {
	for what, ordered := range map[string][]string{
		"Instances": {
			v1alpha.ReasonRuntimeClassNotServed, v1alpha.ReasonConfigurationError, v1alpha.ReasonCellQuotaExceeded, v1alpha.ReasonPodRefused,
			v1alpha.ReasonNodeLost, v1alpha.ReasonImageUnavailable, v1alpha.ReasonEvicted, v1alpha.ReasonInstanceCrashing,
			v1alpha.ReasonUnschedulable, v1alpha.ReasonProvisioning, "NotInTheTable",
		},
		"data": {
			v1alpha.ReasonSnapshotGone, v1alpha.ReasonSourceNotFound, v1alpha.ReasonSourceTooLarge, v1alpha.ReasonSourceRefused,
			v1alpha.ReasonSourceUnauthorized, v1alpha.ReasonResolving,
		},
		"names": {
			v1alpha.ReasonNamesNotServed, v1alpha.ReasonNamesNotWritten, v1alpha.ReasonNameTaken, v1alpha.ReasonNameNotAllowed,
			v1alpha.ReasonCityLeftOut, v1alpha.ReasonNamesPending, v1alpha.ReasonNoCityServes, v1alpha.ReasonNamesProgrammed,
		},
	} {
		for i := range len(ordered) - 1 {
			if Compare(ordered[i], ordered[i+1]) >= 0 {
				t.Errorf("%s: %s is not before %s", what, ordered[i], ordered[i+1])
			}
		}
	}
}
