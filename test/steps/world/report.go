// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cucumber/godog"
	"github.com/prometheus/procfs"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const (
	// ShownObjects and shownText limit the report of a failed scenario. A file has all of it.
	ShownObjects = 8
	shownText    = 600
	// answerTime bounds requests to a plane that may be the cause of a failure.
	answerTime = 5 * time.Second
)

// Report holds the results of the scenarios. It is safe for concurrent use.
type Report struct {
	out io.Writer

	mu       sync.Mutex // guards what follows
	passed   int
	failures []string
}

// NewReport returns a report that is written as it grows.
func NewReport(out io.Writer) *Report { return &Report{out: out} }

// run is one run of a scenario.
type run struct {
	name, folder string
	began        time.Time
	// broken is the first failed step.
	broken string
}

func newRun(sc *godog.Scenario, folder string) *run {
	return &run{name: filepath.Base(sc.Uri) + ": " + sc.Name, folder: folder, began: time.Now()}
}

// ended writes the result of a run in one line.
func (w *World) ended(run *run, err error) {
	result := "ok  "
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case errors.Is(err, godog.ErrSkip):
		result = "skip"
	case err != nil:
		result = "FAIL"
	default:
		w.passed++
	}
	fmt.Fprintf(w.Out, "%s %6.1fs  %s\n", result, time.Since(run.began).Seconds(), run.name)
	w.scenarios++
}

// failed records a failure and the scenario's objects.
func (r *Report) failed(run *run, err error, objects []found) {
	var text strings.Builder
	fmt.Fprintf(&text, "FAILED after %s: %s\n", time.Since(run.began).Round(time.Second), run.name)
	fmt.Fprintf(&text, "  expected: %s\n", cmp.Or(run.broken, "everything is put right at the end"))
	fmt.Fprintf(&text, "  found:    %s\n", Shorten(err.Error()))
	slices.SortStableFunc(objects, func(a, b found) int { return cmp.Compare(len(b.problems), len(a.problems)) })
	for i := range min(len(objects), ShownObjects) {
		fmt.Fprintf(&text, "    %s\n", objects[i])
	}
	if more := len(objects) - ShownObjects; more > 0 {
		fmt.Fprintf(&text, "    and %d more\n", more)
	}
	if len(objects) > 0 {
		file, err := keep(run, objects)
		if err != nil {
			file = fmt.Sprintf("not kept: %v", err)
		}
		fmt.Fprintf(&text, "  objects:  %s\n", file)
	}
	fmt.Fprintf(&text, "  logs:     %s\n", filepath.Join(run.folder, "log"))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, text.String())
}

// keep writes objects into a file of the federation's folder.
func keep(run *run, objects []found) (string, error) {
	folder := filepath.Join(run.folder, "failed")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", err
	}
	var content bytes.Buffer
	for i := range objects {
		objects[i].object.SetManagedFields(nil)
		text, err := yaml.Marshal(objects[i].object.Object)
		if err != nil {
			return "", fmt.Errorf("write %s: %w", objects[i], err)
		}
		fmt.Fprintf(&content, "--- # %s\n%s", objects[i].plane, text)
	}
	name := regexp.MustCompile(`[^a-zA-Z0-9]+`).ReplaceAllString(run.name, "-") + run.began.Format("-150405")
	file := filepath.Join(folder, name+".yaml")
	return file, os.WriteFile(file, content.Bytes(), 0o600)
}

// Failed returns an error if any scenario failed.
func (r *Report) Failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failures) == 0 {
		return nil
	}
	return fmt.Errorf("%d failures, %d scenarios passed", len(r.failures), r.passed)
}

// Summary writes each failure with the expectation, the found objects and the location of further details.
func (r *Report) Summary() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, failure := range r.failures {
		fmt.Fprintf(r.out, "\n%s", failure)
	}
	fmt.Fprintf(r.out, "\n%d scenarios passed, %d failures\n", r.passed, len(r.failures))
}

// timed runs scenarios and writes their duration and the CPU use of the machine.
func (w *World) timed(selection Selection, part func()) {
	began := time.Now()
	working, all := busy()
	part()
	workedNow, allNow := busy()
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(w.Out, "%s: %d scenarios in %s, CPU %.0f%% busy\n",
		selection.Name, w.scenarios, time.Since(began).Round(time.Second), 100*(workedNow-working)/max(1, allNow-all))
	w.scenarios = 0
}

// found is an object that a failed scenario left, with its conditions that are not True.
type found struct {
	plane    string
	object   unstructured.Unstructured
	problems []string
}

// String returns one line.
func (f found) String() string {
	state := "ok"
	if len(f.problems) > 0 {
		state = Shorten(strings.Join(f.problems, "; "))
	}
	if phase, ok, err := unstructured.NestedString(f.object.Object, "status", "phase"); ok && err == nil {
		state = phase
	}
	return fmt.Sprintf("%-13s %s/%s  %s", f.plane, strings.ToLower(f.object.GetKind()), f.object.GetName(), state)
}

// objects returns the objects of the scenario, in every plane that answers.
func (s *Scenario) objects(ctx context.Context) []found {
	kinds := map[string][]string{}
	for project := range s.HubNamespaces {
		kinds["project/"+project] = []string{"workloads", "workloaddeployments", "instances"}
		kinds["hub"] = []string{"workloaddeployments", "propagationpolicies", "resourcebindings"}
		for _, cell := range s.Cells() {
			kinds["cell/"+cell] = []string{"workloaddeployments", "instances", "pods"}
		}
	}
	var all []found
	for project := range s.HubNamespaces {
		at := s.In(project)
		for plane, resources := range kinds {
			if strings.HasPrefix(plane, "project/") && plane != "project/"+project {
				continue
			}
			for _, resource := range resources {
				asking, cancel := context.WithTimeout(ctx, answerTime)
				objects, err := at.List(asking, plane, resource)
				cancel()
				if err != nil {
					fmt.Fprintf(s.Out, "%s: %s: %v\n", plane, resource, err)
				}
				for i := range objects {
					all = append(all, found{plane, objects[i], problemsOf(&objects[i])})
				}
			}
		}
	}
	return all
}

// problemsOf returns the conditions of an object that are not True.
func problemsOf(object *unstructured.Unstructured) []string {
	var problems []string
	for _, condition := range ConditionsOf(object) {
		if condition.Status != "True" && condition.Type != "Progressing" {
			problems = append(problems, fmt.Sprintf("%s=%s (%s: %s)", condition.Type, condition.Status, condition.Reason, condition.Message))
		}
	}
	return problems
}

// Shorten shortens a text for a report.
func Shorten(text string) string {
	text = strings.ReplaceAll(text, "\n", "; ")
	if len(text) > shownText {
		return text[:shownText] + " …"
	}
	return text
}

// busy returns for how many seconds the cores of this machine were busy and, including idle time, the total; or 0.
func busy() (working, all float64) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, 0
	}
	stat, err := proc.Stat()
	if err != nil {
		return 0, 0
	}
	c := stat.CPUTotal
	working = c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal
	return working, working + c.Idle + c.Iowait
}
