// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/references/choice"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// data is the ConfigMap that the template of a Workload names, and the state of hub/references. Contents stand for
// their hashes. It has random numbers of its own: worlds without data are the same as before.
type data struct {
	*rand.Rand
	// content of the ConfigMap in the project.
	content string
	// snapshots are the contents that the hub has, and history the revisions of the Workload.
	snapshots map[string]bool
	history   []choice.Revision
	now       time.Time
	// changes is how many contents there were, and missed the first one that waited, for a hub with a mistake.
	changes int
	missed  string
	// violation is the rule that a choice has violated.
	violation error
}

// historyLimit is how many revisions the history has, beside the complete one.
const historyLimit = 3

var config = templates.DataObject{Kind: templates.KindConfigMap, Name: "config"}

func version(content string) v1alpha.DataVersion {
	return v1alpha.DataVersion{Kind: config.Kind, Name: config.Name, Hash: content}
}

// addData gives a world in three a ConfigMap.
func (w *world) addData(seed uint64) {
	if seed%3 != 0 {
		return
	}
	w.data = &data{
		Rand: rand.New(rand.NewPCG(seed, 2)), content: "good-data-0", snapshots: map[string]bool{"good-data-0": true}, now: time.Unix(1e9, 0),
	}
	w.workload.value.data = &v1alpha.WorkloadDataStatus{Objects: []v1alpha.DataVersion{version(w.data.content)}}
	w.record(w.workload.value)
}

// content is the content that the Workload is started with; "" without data.
func (v workload) content() string {
	if v.data == nil {
		return ""
	}
	return v.data.Objects[0].Hash
}

// started is the template with its data: what a revision is. hub/deployments gives it to the deployments.
func (v workload) started() string {
	if v.data == nil {
		return v.target
	}
	return v.target + "+" + v.content()
}

// contentOf is the content in a template with its data.
func contentOf(template string) string {
	_, content, _ := strings.Cut(template, "+")
	return content
}

// undo returns to the last complete revision. Its content is held while the project has the present one.
func (v *workload) undo(w *world) {
	var content string
	v.target, content, _ = strings.Cut(v.complete, "+")
	if w.data == nil {
		return
	}
	if v.hold = nil; content != w.data.content {
		v.hold = &templates.Hold{Held: content, Newest: w.data.content}
	}
}

// record adds the revision of a Workload to its history, as hub/deployments does before the first step and before it creates a deployment.
func (w *world) record(v workload) {
	if w.data == nil {
		return
	}
	at := slices.IndexFunc(w.data.history, func(r choice.Revision) bool { return r.Data[0].Hash == v.content() })
	if at >= 0 {
		w.data.history = slices.Delete(w.data.history, at, at+1)
	}
	w.data.changes++
	w.data.history = append(w.data.history, choice.Revision{
		Workload: types.UID("web"), Number: int64(w.data.changes), Data: []v1alpha.DataVersion{version(v.content())},
	})
	for len(w.data.history) > historyLimit {
		oldest := slices.IndexFunc(w.data.history, func(r choice.Revision) bool { return r.Data[0].Hash != contentOf(w.workload.value.complete) })
		w.data.history = slices.Delete(w.data.history, oldest, oldest+1)
	}
}

// stepData lets time pass, changes the content, and lets a replica reconcile the data.
func (w *world) stepData() error {
	if w.data == nil {
		return nil
	}
	w.data.now = w.data.now.Add(time.Duration(w.data.IntN(10)) * time.Second)
	switch n := w.data.IntN(40); {
	case n == 0:
		w.data.changes++
		w.data.content = fmt.Sprintf("%s-data-%d", []string{"good", "good", "broken"}[w.data.IntN(3)], w.data.changes)
	case n == 1:
		next := w.workload.value
		next.undo(w)
		w.workload = stored[workload]{value: next, version: w.workload.version + 1}
	case n < 12:
		r := w.replicas[0]
		if n == 2 {
			r = w.replicas[1]
		}
		w.chooseData(r)
	}
	return w.checkData()
}

// chooseData is hub/references: it writes the snapshot, deletes the ones that nothing needs, and then writes the
// choice.
func (w *world) chooseData(r *replica) {
	if w.data == nil || r.workload.value.data == nil {
		return
	}
	before := r.workload
	state := choice.State{
		Objects: []choice.Object{{DataObject: config, Newest: w.data.content}}, Before: before.value.data, Now: w.data.now,
		HasSnapshot: func(v v1alpha.DataVersion) bool { return w.data.snapshots[v.Hash] },
		Rolling:     before.value.complete != before.value.started(), MaxBytes: 1,
	}
	if hold := before.value.hold; hold != nil {
		state.Holds = map[templates.DataObject]templates.Hold{config: *hold}
	}
	chosen := w.misChoose(state)
	content := chosen.Data.Objects[0].Hash
	if w.broken != "a content is named before its snapshot" && !w.writeSnapshot(content) {
		return
	}
	w.collectSnapshots(r, content)
	if w.killed() || w.workload.version != before.version {
		return
	}
	w.judgeChoice(&state, &chosen)
	next := w.workload.value
	if next.data = chosen.Data; fmt.Sprint(next.data) != fmt.Sprint(before.value.data) {
		w.workload = stored[workload]{value: next, version: w.workload.version + 1}
		r.workload = w.workload
	}
	if !w.killed() {
		w.writeSnapshot(content)
	}
}

// writeSnapshot writes the snapshot of a content, which the project must still have. It returns whether there is one.
func (w *world) writeSnapshot(content string) bool {
	if !w.data.snapshots[content] && w.data.content != content {
		return false
	}
	w.data.snapshots[content] = true
	return true
}

// misChoose is choice.Choose, or what a hub with a mistake does.
func (w *world) misChoose(state choice.State) choice.Result {
	switch w.broken {
	case "every change is taken":
		before := *state.Before
		before.TakenTime, state.Before = nil, &before
	case "an undo ends with its rollout":
		if !state.Rolling {
			state.Holds = nil
		}
	case "an earlier content is taken":
		if w.data.missed != "" {
			state.Objects[0].Newest = w.data.missed
		}
	}
	result := choice.Choose(&state)
	if w.data.missed = ""; len(result.Waits) > 0 && w.broken == "an earlier content is taken" {
		w.data.missed = state.Objects[0].Newest
		w.data.snapshots[w.data.missed] = true
	}
	return result
}

// judgeChoice compares a choice that is written with the rules.
func (w *world) judgeChoice(state *choice.State, chosen *choice.Result) {
	before, after := state.Before.Objects[0].Hash, chosen.Data.Objects[0].Hash
	hold := w.workload.value.hold
	held := hold != nil && hold.Newest == w.data.content
	switch {
	case len(chosen.Gone) > 0:
		w.data.violation = fmt.Errorf("the content %s of an undo is gone", chosen.Gone[0].Hash)
	case held && after != hold.Held:
		w.data.violation = fmt.Errorf("an undo holds %s until %s is corrected, and %s is taken", hold.Held, w.data.content, after)
	case !held && after != before:
		w.judgeChange(after)
	}
}

// judgeChange compares a content that is taken with the rules.
func (w *world) judgeChange(content string) {
	last := w.workload.value.data.TakenTime
	switch {
	case content != w.data.content:
		w.data.violation = fmt.Errorf("%s is taken, and the project has %s", content, w.data.content)
	case last != nil && w.data.now.Sub(last.Time) < choice.FirstInterval*time.Second:
		w.data.violation = errors.New("two changes are taken within the interval")
	}
}

// collectSnapshots reads the choice and the history from the API server, and deletes the snapshots that neither a
// deployment, nor the choice, nor the history needs, as a replica sees them.
func (w *world) collectSnapshots(r *replica, chosen string) {
	needed := map[string]bool{chosen: true}
	if w.broken != "what is chosen is read from a cache" {
		needed[w.workload.value.content()] = true
	}
	include := func(s spec) {
		needed[contentOf(s.template)] = true
		if s.partition != nil && w.broken != "the snapshot of a partition is deleted" {
			needed[contentOf(s.partition.Template)] = true
		}
	}
	for _, city := range names(r.deployments) {
		include(r.deployments[city].value.spec)
	}
	history := slices.Clone(w.data.history)
	for i := range history {
		history[i].Complete = history[i].Data[0].Hash == contentOf(r.workload.value.complete)
	}
	if w.broken == "the snapshots of the history are deleted" || w.broken == "the snapshot of a partition is deleted" {
		history = nil
	}
	left := choice.Snapshots[string]{Bytes: map[string]int{}, Of: func(v v1alpha.DataVersion) []string { return []string{v.Hash} }}
	for content := range w.data.snapshots {
		if !needed[content] {
			left.Bytes[content] = 1
		}
	}
	choice.Keep(history, left, func(content string, _ types.UID) { needed[content] = true })
	for _, content := range names(w.data.snapshots) {
		if !needed[content] {
			delete(w.data.snapshots, content)
		}
	}
}

// checkData returns a violation of a choice, or a snapshot that an Instance may need, that is missing and that the
// project cannot give any more.
func (w *world) checkData() error {
	if w.data == nil {
		return nil
	}
	if w.data.violation != nil {
		return w.data.violation
	}
	needed := map[string]string{w.workload.value.content(): "the Workload"}
	for _, city := range names(w.deployments) {
		s := w.deployments[city].value.spec
		needed[contentOf(s.template)] = city
		if s.partition != nil {
			needed[contentOf(s.partition.Template)] = city
		}
	}
	for _, content := range names(needed) {
		if !w.data.snapshots[content] && content != w.data.content {
			return fmt.Errorf("%s needs %s, of which there is no snapshot", needed[content], content)
		}
	}
	return nil
}

// lastData is the content at the end, which resolves an undo.
func (w *world) lastData(v *workload) {
	if w.data == nil {
		return
	}
	w.data.content, v.hold = "good-data-last", nil
}

// passTime lets every interval pass.
func (w *world) passTime() {
	if w.data != nil {
		w.data.now = w.data.now.Add(choice.LastInterval * time.Second)
	}
}

// newestData reports whether the Workload is started with the content of the project.
func (w *world) newestData() bool {
	return w.data == nil || w.workload.value.content() == w.data.content
}
