// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/budget"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv/golden"
	"github.com/karmada-compute/karmada-compute/testenv/simulated"
)

// TestSequences runs the files of testdata/sequences. Each begins with a sentence about the rule that it shows. A line with > is a
// command (commands has their meaning), and the lines below it follow from it, round by round, until nothing is written: the plan
// as `kubectl compute rollout plan` prints it, the writes, and the Instances with the newest template. UPDATE=1 writes the files.
func TestSequences(t *testing.T) { golden.Sequences(t, play) }

// sequence is a Workload whose changes and rounds are written down.
type sequence struct {
	*fixture
	cells *cell
	text  strings.Builder
	round int
	// numbers are the numbers of the images by the hashes of their templates.
	numbers map[string]string
}

// play runs the commands of a file and returns the file as it should be.
func play(t *testing.T, file string) string {
	t.Helper()
	f := newFixture(t, "DFW ORD SEA")
	f.requeues = true
	s := &sequence{fixture: f, cells: f.cell(), numbers: map[string]string{}}
	for line := range strings.Lines(file) {
		switch line = strings.TrimRight(line, "\n"); {
		case strings.HasPrefix(line, "#"):
			fmt.Fprintln(&s.text, line)
		case strings.HasPrefix(line, "> "):
			fmt.Fprintf(&s.text, "\n%s\n", line)
			name, of, _ := strings.Cut(strings.TrimPrefix(line, "> "), " ")
			command := commands[name]
			if command == nil {
				t.Fatalf("there is no command %s", name)
			}
			command(t, s, of)
			s.settle(t)
		}
	}
	return s.text.String()
}

// commands change one thing each.
var commands = map[string]func(t *testing.T, s *sequence, of string){
	// create DFW=2 ORD=2: a Workload with one placement for each number of Instances.
	"create": func(t *testing.T, s *sequence, of string) {
		t.Helper()
		s.workload(t, "main DFW")
		s.number(t)
		change(t, s.fixture, s.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Placements = placementsFor(t, of) })
	},
	// place DFW=2: the Workload names these cities.
	"place": func(t *testing.T, s *sequence, of string) {
		t.Helper()
		change(t, s.fixture, s.readWorkload(t), func(w *v1alpha.Workload) { w.Spec.Placements = placementsFor(t, of) })
	},
	// image 2: the Workload gets this version of its image.
	"image": func(t *testing.T, s *sequence, of string) {
		t.Helper()
		s.image(t, "registry.example/app:"+of)
		s.number(t)
	},
	// spec {...}: a JSON merge patch of the spec.
	"spec": func(t *testing.T, s *sequence, of string) {
		t.Helper()
		change(t, s.fixture, s.readWorkload(t), func(w *v1alpha.Workload) { merge(t, &w.Spec, of) })
	},
	// resume: the user resumes a rollout that has paused.
	"resume": func(t *testing.T, s *sequence, _ string) {
		t.Helper()
		change(t, s.fixture, s.readWorkload(t), func(w *v1alpha.Workload) {
			w.Annotations = map[string]string{v1alpha.AnnotationRolloutResumed: w.Status.Rollout.TemplateHash}
		})
	},
	// broken: Instances with the newest template do not become Available.
	"broken": func(t *testing.T, s *sequence, _ string) {
		t.Helper()
		s.cells.Broken = append(s.cells.Broken, simulated.Hash(t, &s.readWorkload(t).Spec.Template))
	},
	// metrics 12: an autoscaler decides how many Instances each city has, at most this many; "load DFW=12 ORD=2": it wants this many.
	"metrics": func(t *testing.T, s *sequence, of string) {
		t.Helper()
		change(t, s.fixture, s.readWorkload(t), func(w *v1alpha.Workload) {
			for i := range w.Spec.Placements {
				merge(t, &w.Spec.Placements[i].ScaleSettings,
					`{"metrics":[{"resource":{"name":"cpu","target":{"averageUtilization":60}}}],"maxReplicas":`+of+`}`)
			}
		})
	},
	"load": func(t *testing.T, s *sequence, of string) {
		t.Helper()
		s.cells.Load = map[string]int32{}
		for _, placement := range placementsFor(t, of) {
			for _, city := range placement.CityCodes {
				s.cells.Load[city] = placement.ScaleSettings.MinReplicas
			}
		}
	},
	// full quota: additional Instances wait for it; "full the cell": the cells cannot have them.
	"full": func(_ *testing.T, s *sequence, of string) { s.cells.Full = of },
	// override mirror: an override policy has changed the template in all cells at once.
	"override": func(_ *testing.T, s *sequence, of string) { s.cells.overriding(of, false) },
	// serving DFW=203.0.113.7 ORD=: clients reach the city at the address, or not any more.
	"serving": func(t *testing.T, s *sequence, of string) {
		t.Helper()
		for word := range strings.FieldsSeq(of) {
			city, address, serves := strings.Cut(word, "=")
			changeStatus(t, s.fixture, s.readDeployment(t, "web-main-"+strings.ToLower(city)), func(d *v1alpha.WorkloadDeployment) {
				d.Status.Endpoints = []v1alpha.CityEndpoint{at(city, serves && address != "", 0, strings.Fields(address)...)}
			})
		}
	},
	// answers 203.0.113.7: the addresses that are stored for the names of the Workload.
	"answers": func(_ *testing.T, s *sequence, of string) { s.addresses = &answers{addresses: strings.Fields(of)} },
	// wait 30s.
	"wait": func(t *testing.T, s *sequence, of string) {
		t.Helper()
		d, err := time.ParseDuration(of)
		if err != nil {
			t.Fatal(err)
		}
		s.clock.SetTime(s.clock.Now().Add(d))
	},
	// delete: the Workload is deleted.
	"delete": func(t *testing.T, s *sequence, _ string) { t.Helper(); remove(t, s.fixture, s.readWorkload(t)) },
}

// placementsFor parses "DFW=2 ORD=2": cities with the same number of Instances have one placement.
func placementsFor(t *testing.T, of string) []v1alpha.WorkloadPlacement {
	t.Helper()
	var result []v1alpha.WorkloadPlacement
	for word := range strings.FieldsSeq(of) {
		city, count, _ := strings.Cut(word, "=")
		replicas, err := strconv.ParseInt(count, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(result, func(p v1alpha.WorkloadPlacement) bool { return p.ScaleSettings.MinReplicas == int32(replicas) })
		if at < 0 {
			names := []string{"main", "more", "most"}
			at = len(result)
			result = append(result, v1alpha.WorkloadPlacement{
				Name: names[at], ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: int32(replicas)},
			})
		}
		result[at].CityCodes = append(result[at].CityCodes, city)
	}
	return result
}

func merge(t *testing.T, into any, patch string) {
	t.Helper()
	before, err := json.Marshal(into)
	if err != nil {
		t.Fatal(err)
	}
	after, err := jsonpatch.MergePatch(before, []byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(after, into); err != nil {
		t.Fatal(err)
	}
}

// number remembers which version of the image the newest template has.
func (s *sequence) number(t *testing.T) {
	t.Helper()
	template := &s.readWorkload(t).Spec.Template
	_, version, _ := strings.Cut(template.Spec.Runtime.Sandbox.Containers[0].Image, ":")
	s.numbers[simulated.Hash(t, template)] = version
}

// settle lets cells and controller act until nothing is written, and writes down each round.
func (s *sequence) settle(t *testing.T) {
	t.Helper()
	for range 40 {
		s.cells.run(t)
		writes := s.mustReconcile(t)
		s.withdraw(t)
		if len(writes) == 0 {
			s.showConditions(t)
			return
		}
		s.round++
		fmt.Fprintf(&s.text, "%d\n", s.round)
		s.showPlan()
		for _, write := range writes {
			s.showWrite(t, write)
		}
	}
	t.Fatalf("it does not settle:\n%s", s.text.String())
}

// showPlan shows the turn of each city.
func (s *sequence) showPlan() {
	outlook := s.planned.Outlook()
	for i, turn := range outlook.Steps.Turns {
		city := &outlook.State.Cities[i]
		updated := 0
		for _, instance := range city.Instances {
			if instance.Updated && city.Template == outlook.State.Target {
				updated++
			}
		}
		fmt.Fprintf(&s.text, "  plan   %s %d/%d %s: %s\n", city.Code, updated, city.Desired, turn.Reason, s.readable(turn.Message))
	}
	for _, of := range outlook.Created {
		fmt.Fprintf(&s.text, "  plan   %s is created\n", of.City)
	}
	for _, of := range outlook.Removed {
		fmt.Fprintf(&s.text, "  plan   %s is not wanted\n", of.City)
	}
}

// showWrite shows a write and what it has left.
func (s *sequence) showWrite(t *testing.T, write string) {
	t.Helper()
	words := strings.Fields(write)
	if words[0] == "choose" {
		for _, note := range s.planned.Writes[0].Notes {
			fmt.Fprintf(&s.text, "  event  %s: %s\n", note.Reason, note.Message)
		}
	}
	if len(words) < 3 || !slices.Contains(s.namesOf(v1alpha.KindWorkloadDeployment), words[2]) {
		fmt.Fprintf(&s.text, "  write  %s\n", write)
		return
	}
	fmt.Fprintf(&s.text, "  write  %s: %s\n", write, s.describe(t, s.readDeployment(t, words[2])))
}

// describe shows the fields by which a deployment directs its cells.
func (s *sequence) describe(t *testing.T, d *v1alpha.WorkloadDeployment) string {
	t.Helper()
	parts := []string{fmt.Sprintf("%d x image %s", d.Spec.ScaleSettings.MinReplicas, s.imageOf(t, &d.Spec.Template))}
	if p := d.Spec.Partition; p != nil {
		given := fmt.Sprintf("below index %d", p.Index)
		if len(p.Indices) > 0 {
			given = "all but index " + naming.Format(naming.OfRanges(p.Indices))
		}
		parts = append(parts, given+" image "+s.imageOf(t, &p.Template))
	}
	if d.Spec.Surge > 0 {
		parts = append(parts, fmt.Sprintf("%d more", d.Spec.Surge))
	}
	switch f := d.Spec.Floor; {
	case f == nil:
	case f.MinAvailable == budget.Everything:
		parts = append(parts, "floor all")
	default:
		parts = append(parts, fmt.Sprintf("floor %d", f.MinAvailable))
	}
	if r := d.Spec.Rollout; r != nil && r.MaxUnavailable != nil {
		parts = append(parts, "unavailable at most "+r.MaxUnavailable.String())
	}
	if r := d.Spec.Rollout; r != nil && r.Paused {
		parts = append(parts, "paused")
	}
	for _, turn := range d.Spec.Overrides {
		parts = append(parts, fmt.Sprintf("turn of cell %s for %s", turn.Cell, turn.TemplateHash))
	}
	if d.Spec.Service.Exposed() {
		parts = append(parts, string(d.Spec.Service.Exposure))
	}
	for _, record := range []string{v1alpha.AnnotationTrafficLeaves, v1alpha.AnnotationNamesLeft} {
		if value := d.Annotations[record]; value != "" {
			_, name, _ := strings.Cut(record, "/")
			parts = append(parts, name+" "+value)
		}
	}
	if !d.DeletionTimestamp.IsZero() {
		parts = append(parts, "deleted")
	}
	return strings.Join(parts, ", ")
}

func (s *sequence) imageOf(t *testing.T, template *v1alpha.InstanceTemplateSpec) string {
	t.Helper()
	return s.numbers[simulated.Hash(t, template)]
}

// readable replaces hashes by the versions of images.
func (s *sequence) readable(text string) string {
	for hash, version := range s.numbers {
		text = strings.ReplaceAll(text, hash, "of image "+version)
	}
	return text
}

// showConditions shows what the Workload says when nothing is left to write.
func (s *sequence) showConditions(t *testing.T) {
	t.Helper()
	if !slices.Contains(s.namesOf(v1alpha.KindWorkload), "web") {
		fmt.Fprintln(&s.text, "at the end there is no Workload")
		return
	}
	w := s.readWorkload(t)
	for _, c := range w.Status.RecordOf("main") {
		fmt.Fprintln(&s.text, describeRecord(&c))
	}
	fmt.Fprintf(&s.text, "at the end %s", s.cells.state(t))
	if r := w.Status.Rollout; r != nil {
		fmt.Fprint(&s.text, strings.TrimRight(fmt.Sprintf(", %s %s", r.Phase, s.readable(r.Message)), " "))
	}
	fmt.Fprintln(&s.text)
	if p := meta.FindStatusCondition(w.Status.Conditions, v1alpha.ConditionProgressing); p != nil && p.Reason == v1alpha.ReasonTrafficLeaves {
		fmt.Fprintf(&s.text, "  %s\n", p.Message)
	}
	for _, e := range w.Status.Endpoints {
		fmt.Fprintln(&s.text, strings.TrimRight(fmt.Sprintf("  clients %s serving: %t %s", e.City, e.Serving, e.Reason), " "))
	}
}
