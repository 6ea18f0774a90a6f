// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/randfill"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// Random cases are biased towards likely errors: few names, so that they collide, and generations that are too low or
// too high.
var (
	someNames = []string{"", "a", "b", "settings", "keys", "é", "web"}
	someCells = []string{"a", "b", "c", "dfw-10", "dfw-9"}
	someTypes = []string{
		v1alpha.ConditionReportValid, v1alpha.ConditionAvailable, v1alpha.ConditionProgressing,
		v1alpha.ConditionReplicasReady, "example.com/Blessed", "",
	}
	someStatuses    = []metav1.ConditionStatus{"True", "False", "Unknown", "", "true"}
	someReplicas    = []int32{0, 1, 2, 3, 5, 1000, -1, 2147483647, -2147483648}
	someGenerations = []string{"0", "1", "3", "4", "+4", "-1", "007", "", "x", "1.0", " 1", "0x1", "99999999999999999999"}
	someTimes       = []string{
		"2026-01-01T00:00:00Z", "2024-02-29T23:59:59+14:00", "2000-03-01T00:00:00+00:01", "1999-12-31T23:59:59-00:30",
		"2026-07-01T12:00:00.123456Z", "1970-01-01T00:00:00.5+01:00", "0001-01-01T00:00:00Z", "1900-02-28T23:00:00-02:00",
	}
	// Up to 1Pi, as admission bounds what containers ask for: no sum exceeds 64 bits. Beyond 2^63 the sums of Go and of
	// Karmada's library for Lua differ, since they cap them in different formats.
	someQuantities = []any{
		"0", "1", "2", "100m", "250m", "0.5", ".5", "5.", "+5", "-1", " 1 ", "1.5Gi", "1Gi", "1536Mi", "1Ki", "512", "1048576k", "1000", "1024",
		"1e3", "1E6", "12e-1", "1P", "1Pi", "1n", "1500u", "0.0000000001", "1125899906842624", "1125899906842623999m",
		"1e-9", "1e15", "0.1Ki", "0Gi", json.Number("0"), json.Number("2"), json.Number("0.5"), json.Number("2147483648"),
		json.Number("4503599627370496"),
	}
	// moreQuantities may be recorded of an instance type, which admission does not see.
	moreQuantities = []any{"1E", "2Ei", "9223372036854775807", "9223372036854775808", "99999999999999999999", "1e40"}
	noTimes        = []any{
		"yesterday", "", "2023-02-29T00:00:00Z", "2026-01-01", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00", 7,
	}
	noQuantities = []any{
		"", "abc", "1Q", "1e", "--1", "1e41", "1e-41", "1E+999999999999999999999", strings.Repeat("9", 65), true,
		[]any{"1"},
		map[string]any{"a": "1"},
	}
)

// generator generates random cases. The same seed generates the same cases.
type generator struct {
	*rand.Rand
	filler *randfill.Filler
	// wholeLists keeps null and empty objects out of lists.
	wholeLists bool
}

func newGenerator(seed int64) *generator {
	source := rand.NewSource(seed)
	g := &generator{Rand: rand.New(source)}
	g.filler = randfill.New().RandSource(source).NilChance(0.3).NumElements(0, 3).Funcs(
		func(s *string, _ randfill.Continue) { *s = pick(g, someNames) },
		func(u *types.UID, _ randfill.Continue) { *u = "uid" },
		func(name *corev1.ResourceName, _ randfill.Continue) {
			*name = pick(g, []corev1.ResourceName{"cpu", "memory", "example.com/gpu"})
		},
		func(policy *corev1.ContainerRestartPolicy, _ randfill.Continue) {
			*policy = pick(g, []corev1.ContainerRestartPolicy{"", "Always", "Always", "Never"})
		},
		func(i *int32, _ randfill.Continue) { *i = pick(g, someReplicas) },
		func(i *int64, _ randfill.Continue) { *i = int64(g.Intn(6)) },
		g.fillMeta, g.fillCondition, g.fillAssignment,
	)
	return g
}

func pick[T any](g *generator, from []T) T { return from[g.Intn(len(from))] }

// one is true with a probability of one in in.
func (g *generator) one(in int) bool { return g.Intn(in) == 0 }

func (g *generator) fillMeta(m *metav1.ObjectMeta, _ randfill.Continue) {
	m.Name, m.Namespace, m.Generation = "web", pick(g, []string{"", "ns", "ns-1"}), int64(g.Intn(6))
	if !g.one(3) {
		m.Annotations = map[string]string{"other": "x", "app.kubernetes.io/name": "a: b.c"}
	}
	if g.one(2) {
		m.Labels = map[string]string{"topology.datum.net/city-code": "dfw", v1alpha.LabelDeploymentUID: pick(g, []string{"", "a", "uid-1"})}
		m.Annotations = map[string]string{workv1alpha2.ResourceTemplateGenerationAnnotationKey: pick(g, someGenerations)}
	}
}

func (g *generator) fillCondition(condition *metav1.Condition, _ randfill.Continue) {
	condition.Type, condition.Status = pick(g, someTypes), pick(g, someStatuses)
	condition.Reason, condition.Message = pick(g, someNames), g.message()
	condition.ObservedGeneration = int64(g.Intn(3))
}

// message often has about the longest allowed length, and characters of one to four bytes.
func (g *generator) message() string {
	if g.one(2) {
		return pick(g, []string{"", "all well", ": ", "ends with: ", "<&>\"\\\n"})
	}
	var message strings.Builder
	for length := 500 + g.Intn(20); message.Len() < length; {
		message.WriteString(pick(g, []string{"a", "é", "ÿ", "…", "😀", "aaaaaaaaaaaaaaaa"}))
	}
	return message.String()
}

func (g *generator) fillAssignment(assignment *v1alpha.WorkloadDeploymentAssignment, _ randfill.Continue) {
	for range g.Intn(6) {
		cell := v1alpha.CellAssignment{Name: pick(g, someCells)}
		for range g.Intn(4) {
			first := int32(g.Intn(6))
			cell.Indices = append(cell.Indices, v1alpha.IndexRange{First: first, Last: first + int32(g.Intn(7)) - 1})
		}
		assignment.Cells = append(assignment.Cells, cell)
	}
}

// deployment is a WorkloadDeployment as an API server may store it, with some members that it would not.
func (g *generator) deployment(t testing.TB, operation configv1alpha1.InterpreterOperation) json.RawMessage {
	t.Helper()
	var object v1alpha.WorkloadDeployment
	g.filler.Fill(&object)
	if operation == configv1alpha1.InterpreterOperationInterpretHealth && g.one(2) {
		g.recover(&object)
	}
	// Karmada drops members of lists that a script has emptied by their positions, one after the other in random order,
	// and so drops others; and it takes an empty list for an empty object where another list at the same path has one. An
	// API server stores neither.
	g.wholeLists = operation == configv1alpha1.InterpreterOperationReviseReplica || operation == configv1alpha1.InterpreterOperationRetain
	tree, _ := g.warp(asTree(t, object), "", false).(map[string]any)
	// Members that only some operations read are invalid only in the cases of these: the functions of the others never get
	// them.
	garbled := map[configv1alpha1.InterpreterOperation]string{
		configv1alpha1.InterpreterOperationInterpretReplica: "runtime",
		configv1alpha1.InterpreterOperationInterpretStatus:  "status",
	}
	if member := garbled[operation]; member != "" && g.one(6) {
		g.garble(tree, member)
	}
	tree["apiVersion"], tree["kind"] = v1alpha.GroupVersion.String(), "WorkloadDeployment"
	return encoded(t, tree)
}

// recover turns the object into a deployment that is healthy, or nearly so.
func (g *generator) recover(object *v1alpha.WorkloadDeployment) {
	object.Status.ObservedGeneration = object.Generation
	object.Status.DesiredReplicas, object.Status.ReadyReplicas = 2, int32(g.Intn(4))
	available := metav1.Condition{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionTrue}
	object.Status.Conditions = slices.Insert(object.Status.Conditions, g.Intn(len(object.Status.Conditions)+1), available)
}

// items are the reports of cells: some missing, some invalid.
func (g *generator) items(t testing.TB) []workv1alpha2.AggregatedStatusItem {
	t.Helper()
	var items []workv1alpha2.AggregatedStatusItem
	cells := slices.Clone(someCells)
	g.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	for _, cell := range cells[:g.Intn(len(cells))] {
		item := workv1alpha2.AggregatedStatusItem{ClusterName: cell, Applied: g.one(2)}
		switch {
		case g.one(5):
		case g.one(10):
			item.Status = &runtime.RawExtension{Raw: []byte(pick(g, []string{`null`, `7`, `"all is well"`, `true`, `["x"]`, `{}`}))}
		default:
			var status wire.ReflectedStatus
			g.filler.Fill(&status)
			tree := map[string]any{"status": g.warp(asTree(t, status), "", false)}
			if g.one(15) {
				g.garble(tree, "status")
			}
			if g.one(2) {
				tree["status"] = g.spoil(tree["status"])
			}
			item.Status = &runtime.RawExtension{Raw: encoded(t, tree["status"])}
		}
		items = append(items, item)
	}
	return items
}

// asTree is a value as maps, lists and scalars, with numbers as they are written.
func asTree(t testing.TB, value any) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(encoded(t, value))))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		t.Fatal(fmt.Errorf("decode what was encoded: %w", err))
	}
	return tree
}
