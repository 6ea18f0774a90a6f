// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }

var errAway = errors.New("Milo is away")

// milo is a Milo with an identity and projects.
type milo struct {
	identity types.UID
	has      map[types.UID]bool
	err      error
}

func (m *milo) Knows(_ string, uid types.UID) bool          { return m.has[uid] }
func (m *milo) Identity(context.Context) (types.UID, error) { return m.identity, m.err }

// fixture is a hub with projects. The tests count over the whole hub, so they do not run in parallel.
type fixture struct {
	*planes.Planes
	t     *testing.T
	milo  *milo
	clock *testingclock.FakeClock
	brake *Brake
}

// newFixture creates a hub with count projects, and a Milo that has the projects from number missing on.
func newFixture(t *testing.T, count, missing int) *fixture {
	t.Helper()
	f := &fixture{Planes: planes.New(t), t: t, milo: &milo{identity: "milo", has: map[types.UID]bool{}}}
	f.LiftLimits()
	f.clock = testingclock.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	f.brake = f.replica()
	for i := range count {
		f.add(i)
		f.milo.has[f.uid(i)] = i >= missing
	}
	return f
}

// replica returns the Brake of another replica.
func (f *fixture) replica() *Brake {
	return NewBrake(BrakeOptions{Milo: f.milo, Plane: "Milo", Hub: f.Hub, APIReader: f.HubAPI, Namespace: f.Namespace.Name, Clock: f.clock})
}

func (f *fixture) uid(project int) types.UID {
	return types.UID(fmt.Sprintf("%s-%d", f.Namespace.Name, project))
}

func (f *fixture) namespace(project int) *corev1.Namespace {
	from := projects.Origin{Project: fmt.Sprintf("project-%d", project), ProjectUID: f.uid(project), Namespace: "default"}
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("hub-%s-%d", f.Namespace.Name, project), Labels: from.Labels(), Annotations: from.Annotations(),
	}}
}

// add adds a project with a copy to the hub.
func (f *fixture) add(project int) {
	f.t.Helper()
	namespace := planes.Create(f.t, f.Planes, f.namespace(project))
	copied := f.Deployment("web", "DFW")
	copied.Namespace = namespace.Name
	planes.Create(f.t, f.Planes, copied)
	f.t.Cleanup(func() {
		// A namespace that is being deleted is not counted in the next test.
		if err := f.Client.Delete(context.Background(), namespace); err != nil {
			f.t.Error(err)
		}
	})
}

func (f *fixture) record() *corev1.ConfigMap {
	f.t.Helper()
	return planes.Get(f.t, f.Planes, f.Namespace.Name, v1alpha.MiloRecordName, &corev1.ConfigMap{})
}

// recorded records the present Milo on the hub.
func (f *fixture) recorded() *fixture {
	f.t.Helper()
	planes.Create(f.t, f.Planes, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: v1alpha.MiloRecordName}, Data: map[string]string{keyIdentity: "milo"},
	})
	return f
}

func (f *fixture) wantHeld(want string) {
	f.t.Helper()
	reason, err := f.brake.Held(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	if (reason == "") != (want == "") || !strings.Contains(reason, want) {
		f.t.Errorf("it holds because %q, want %q", reason, want)
	}
}

// TestMassLoss: one project may be missing, or a tenth of many projects.
func TestMassLoss(t *testing.T) {
	for _, test := range []struct {
		all, missing int
		want         string
	}{
		{0, 0, ""},
		{1, 1, ""},
		{2, 1, ""},
		{2, 2, "2 of the 2 projects"},
		{3, 2, "2 of the 3 projects"},
		{8, 8, "8 of the 8 projects"},
		{20, 2, ""},
		{20, 3, "3 of the 20 projects"},
	} {
		t.Run(fmt.Sprintf("%d of %d", test.missing, test.all), func(t *testing.T) {
			newFixture(t, test.all, test.missing).recorded().wantHeld(test.want)
		})
	}
}

// TestAnEmptiedMilo: whatever number of projects the hub has, a Milo that has lost its storage proves nothing, on any
// replica, and neither do the projects that it gets later.
func TestAnEmptiedMilo(t *testing.T) {
	for _, all := range []int{0, 1, 2, 8} {
		t.Run(fmt.Sprintf("%d projects", all), func(t *testing.T) {
			f := newFixture(t, all, all).recorded()
			f.milo.identity = "emptied"
			const why = "the UID of its namespace default is emptied and was milo"
			f.wantHeld(why)
			f.brake = f.replica()
			f.wantHeld(why)
			for i := range 3 {
				f.add(100 + i)
				f.milo.has[f.uid(100+i)] = true
			}
			f.wantHeld(why)
			f.milo.identity = "milo"
			for i := range all {
				f.milo.has[f.uid(i)] = true
			}
			f.wantHeld("")
		})
	}
}

// TestMiloWasNotRecorded: Milo is recorded when it has a project of the hub, whose UID no other Milo has. Without one
// it proves nothing.
func TestMiloWasNotRecorded(t *testing.T) {
	tests := map[string]struct {
		all, missing int
		wantHeld     string
		wantIdentity string
	}{
		"it has a project of the hub": {all: 2, missing: 1, wantIdentity: "milo"},
		"the hub has no project":      {wantIdentity: "milo"},
		"it has none of one":          {all: 1, missing: 1, wantHeld: "its identity was not recorded"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, test.all, test.missing)
			f.wantHeld(test.wantHeld)
			f.wantHeld(test.wantHeld)
			if got := f.record().Data[keyIdentity]; got != test.wantIdentity {
				t.Errorf("recorded is %q, want %q", got, test.wantIdentity)
			}
		})
	}
}

// TestAnOperatorReleases the brake: the release expires, and after it the present Milo is the recorded one.
func TestAnOperatorReleases(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		until   string
		release bool
	}{
		"for an hour":       {until: now.Add(time.Hour).Format(time.RFC3339), release: true},
		"for a day":         {until: now.Add(24 * time.Hour).Format(time.RFC3339), release: true},
		"until a past time": {until: now.Add(-time.Second).Format(time.RFC3339)},
		"for a year":        {until: now.Add(365 * 24 * time.Hour).Format(time.RFC3339)},
		"with no time":      {until: "true"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 3, 3).recorded()
			f.milo.identity = "emptied"
			planes.Change(t, f.Planes, f.record(), func(c *corev1.ConfigMap) {
				c.Annotations = map[string]string{v1alpha.AnnotationWithdrawUntil: test.until}
			})
			if !test.release {
				f.wantHeld("emptied")
				return
			}
			f.wantHeld("")
			f.clock.Step(25 * time.Hour)
			f.wantHeld("3 of the 3 projects")
			if got := f.record().Data[keyIdentity]; got != "emptied" {
				t.Errorf("recorded is %q", got)
			}
		})
	}
}

// TestWhatIsNoLoss: projects that an operator has decided about, and projects without a copy, are not counted.
func TestWhatIsNoLoss(t *testing.T) {
	tests := map[string]func(*fixture){
		"kept": func(f *fixture) {
			planes.Change(f.t, f.Planes, f.namespace(0), func(n *corev1.Namespace) { n.Annotations[v1alpha.AnnotationKeep] = "true" })
		},
		"withdrawn already": func(f *fixture) {
			copied := f.Deployment("web", "DFW")
			copied.Namespace = f.namespace(0).Name
			planes.Delete(f.t, f.Planes, copied)
		},
	}
	for name, decide := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 2, 2).recorded()
			f.wantHeld("2 of the 2 projects")
			decide(f)
			f.wantHeld("")
		})
	}
}

// TestWithoutAnAnswer: a failed question proves nothing.
func TestWithoutAnAnswer(t *testing.T) {
	tests := map[string]func(*fixture){
		"of Milo": func(f *fixture) { f.milo.err = errAway },
		"of the record": func(f *fixture) {
			f.HubAPI.Once("get", "ConfigMap", func() error { return errAway })
		},
		"of the hub": func(f *fixture) {
			f.Hub.Once("list", "NamespaceList", func() error { return errAway })
		},
	}
	for name, fail := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1, 0).recorded()
			fail(f)
			if _, err := f.brake.Held(t.Context()); !errors.Is(err, errAway) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestStart records Milo's identity when it is proved, without a decision to take, and writes nothing after that.
func TestStart(t *testing.T) {
	f := newFixture(t, 1, 1)
	ended := make(chan error, 1)
	go func() { ended <- f.brake.Start(t.Context()) }()
	for f.clock.Waiters() == 0 {
		select {
		case err := <-ended:
			t.Fatalf("it ended although Milo has no project of the hub: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	f.milo.has[f.uid(0)] = true
	f.clock.Step(recordRetry)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := f.record().Data[keyIdentity]; got != "milo" {
		t.Errorf("recorded is %q", got)
	}
	f.Hub.Calls()
	if err := f.replica().Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.wantHeld("")
	if writes := f.Hub.Writes(); len(writes) > 0 {
		t.Errorf("what is recorded is written: %v", writes)
	}
}

// existence is the answer of Milo's root about a project.
type existence struct {
	uid types.UID
	err error
}

func (existence) Owns(naming.ShardKey) bool { return true }
func (e existence) Lookup(context.Context, string) (types.UID, bool, error) {
	return e.uid, e.uid != "", e.err
}

// released is a brake that holds no deletion.
type released struct{}

func (released) Held(context.Context) (string, error) { return "", nil }

// TestVerdictOnAProject: a project exists if Milo's root has it with its UID.
func TestVerdictOnAProject(t *testing.T) {
	for name, test := range map[string]struct {
		existence existence
		want      Verdict
	}{
		"it exists": {existence{uid: "1"}, Wanted}, "it was recreated": {existence{uid: "2"}, Gone}, "it is gone": {existence{}, Gone},
		"no answer": {existence{err: errAway}, Unknown},
	} {
		answer, err := New(Options{Milo: test.existence, Brake: released{}}).Verdict(t.Context(), Key{Project: "north", ProjectUID: "1"})
		if answer.Verdict != test.want || !errors.Is(err, test.existence.err) {
			t.Errorf("%s: %v, %v", name, answer, err)
		}
	}
}

// emptied is a Milo that loses its storage after the first question.
type emptied struct{ asked int }

func (*emptied) Owns(naming.ShardKey) bool { return true }

func (e *emptied) Lookup(context.Context, string) (types.UID, bool, error) {
	e.asked++
	return planes.ProjectUID, e.asked == 1, nil
}

// TestMiloIsEmptiedBetweenTwoQuestions verifies that a project's "not found" proves nothing unless the root has the
// project afterwards.
func TestMiloIsEmptiedBetweenTwoQuestions(t *testing.T) {
	p := planes.New(t)
	owners := New(Options{Projects: p, Milo: &emptied{}, Brake: holding{}})
	answer, err := owners.Verdict(t.Context(), Key{
		Project: planes.ProjectName.String(), ProjectUID: planes.ProjectUID, HubNamespace: p.HubNamespace,
		Deployment: types.NamespacedName{Namespace: p.Namespace.Name, Name: "web"},
	})
	if err != nil || answer.Verdict != Unknown || answer.Held == "" {
		t.Errorf("got %+v, %v", answer, err)
	}
}

// holding is a brake that holds every deletion.
type holding struct{}

func (holding) Held(context.Context) (string, error) { return "Milo has lost its storage", nil }
