// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"time"
)

// Options are the inputs of a plan. Equal options give equal plans.
type Options struct {
	// Seed determines all random values.
	Seed uint64
	// Duration is how long Workloads are changed and processes are killed.
	Duration time.Duration
	// Interval is the average time from one fault to the next.
	Interval time.Duration
	// Pace is the average time from one operation to the next, once the first Workloads are created.
	Pace time.Duration
	// Workloads is the maximum number of Workloads at a time.
	Workloads int
	// Projects of the Workloads.
	Projects []string
	// Cities are the cities that placements may name.
	Cities []string
	// Processes are the processes that may be killed.
	Processes []string
}

// Bounds of a plan.
const (
	// A process stays down for a time between leastDown and mostDown.
	leastDown, mostDown = 2 * time.Second, 8 * time.Second
	// mostReplicas is the largest scale of a placement.
	mostReplicas = 3
	// The first Workloads are created within a sixth of the time, and within a minute.
	creationShare, creationTime = 6, time.Minute
)

func (o Options) validate() error {
	var errs []error
	for what, wrong := range map[string]bool{
		"duration": o.Duration <= 0, "interval": o.Interval <= 0, "pace": o.Pace <= 0, "number of Workloads": o.Workloads <= 0,
		"list of projects": len(o.Projects) == 0, "list of cities": len(o.Cities) == 0, "list of processes": len(o.Processes) == 0,
	} {
		if wrong {
			errs = append(errs, fmt.Errorf("the %s is not set", what))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// Plan holds the events of a soak.
type Plan struct {
	// Operations of the consumer, by time.
	Operations []Operation
	// Faults by time. The next one begins when the last process is up again, which may be late.
	Faults []Fault
}

// Fault is a process that is killed with SIGKILL.
type Fault struct {
	// At is the time since the start.
	At time.Duration
	// Process is killed.
	Process string
	// Down is the time until the process is started again.
	Down time.Duration
}

// Verb is a consumer's action on a Workload.
type Verb string

// Verbs.
const (
	Create  Verb = "create"
	Scale   Verb = "scale"
	Rollout Verb = "roll out"
	Move    Verb = "move"
	Delete  Verb = "delete"
)

// Name is a Workload in the soak's namespace of a project.
type Name struct{ Project, Workload string }

// Operation is an action of a consumer.
type Operation struct {
	// At is the time since the start. Operations on one Workload happen one after the other.
	At   time.Duration
	Verb Verb
	Name
	// Wanted is the Workload after the operation; nil after a deletion.
	Wanted *Wanted
}

// Wanted is a Workload as its consumer wants it.
type Wanted struct {
	Image      string
	Placements []Placement
}

// Placement is one placement of a Workload.
type Placement struct {
	Name     string
	Cities   []string
	Replicas int
}

// NewPlan returns the plan of a soak.
func NewPlan(o Options) (Plan, error) {
	if err := o.validate(); err != nil {
		return Plan{}, fmt.Errorf("plan a soak: %w", err)
	}
	// Two streams of numbers: the operations do not depend on the killed processes.
	return Plan{Operations: planOperations(o, newRandom(o.Seed, 1)), Faults: planFaults(o, newRandom(o.Seed, 2))}, nil
}

func newRandom(seed, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream)) //nolint:gosec // it must be repeatable, and protects nothing
}

// around returns a time between half and one and a half of an average.
func around(average time.Duration, random *rand.Rand) time.Duration {
	return average/2 + time.Duration(random.Int64N(int64(average)))
}

func planFaults(o Options, random *rand.Rand) []Fault {
	processes := slices.Sorted(slices.Values(o.Processes))
	var faults []Fault
	for at := around(o.Interval, random); at < o.Duration; at += around(o.Interval, random) {
		faults = append(faults, Fault{
			At: at, Process: processes[random.IntN(len(processes))], Down: leastDown + time.Duration(random.Int64N(int64(mostDown-leastDown))),
		})
	}
	return faults
}

// planner holds the state after the operations so far.
type planner struct {
	options Options
	random  *rand.Rand
	names   []Name
	wanted  map[Name]*Wanted
	images  int
}

func planOperations(o Options, random *rand.Rand) []Operation {
	o.Projects = slices.Sorted(slices.Values(o.Projects))
	p := &planner{options: o, random: random, wanted: map[Name]*Wanted{}}
	var operations []Operation
	first := min(o.Duration/creationShare, creationTime) / time.Duration(o.Workloads)
	at := time.Duration(0)
	for i := range o.Workloads {
		name := Name{Project: o.Projects[i%len(o.Projects)], Workload: fmt.Sprintf("w-%d", i)}
		p.names = append(p.names, name)
		operations = append(operations, p.next(at, name))
		at += first
	}
	for at += around(o.Pace, random); at < o.Duration; at += around(o.Pace, random) {
		name := p.names[random.IntN(len(p.names))]
		// Many Workloads are recreated as soon as they are deleted: objects with the same names and other UIDs follow each
		// other closely.
		if last := operations[len(operations)-1]; last.Verb == Delete && random.IntN(2) == 0 {
			name = last.Name
		}
		operations = append(operations, p.next(at, name))
	}
	return operations
}

// next plans an operation on a Workload: a Workload that does not exist is created; otherwise it is mostly scaled.
func (p *planner) next(at time.Duration, name Name) Operation {
	was := p.wanted[name]
	if was == nil {
		p.wanted[name] = &Wanted{Image: p.image(), Placements: p.placements()}
		return Operation{At: at, Verb: Create, Name: name, Wanted: p.wanted[name]}
	}
	wanted := &Wanted{Image: was.Image, Placements: slices.Clone(was.Placements)}
	operation := Operation{At: at, Name: name, Wanted: wanted}
	switch chance := p.random.IntN(100); {
	case chance < 45:
		operation.Verb = Scale
		i := p.random.IntN(len(wanted.Placements))
		// Another number of replicas than before.
		wanted.Placements[i].Replicas = 1 + (wanted.Placements[i].Replicas+p.random.IntN(mostReplicas-1))%mostReplicas
	case chance < 60:
		operation.Verb = Rollout
		wanted.Image = p.image()
	case chance < 70:
		operation.Verb = Move
		wanted.Placements = p.placements()
	default:
		operation.Verb = Delete
		operation.Wanted = nil
	}
	p.wanted[name] = operation.Wanted
	return operation
}

// image returns an image that no Workload has had.
func (p *planner) image() string {
	p.images++
	return fmt.Sprintf("docker.io/library/nginx:1.%d", p.images)
}

// placements returns one or two placements, each in one or two cities.
func (p *planner) placements() []Placement {
	placements := make([]Placement, 1+p.random.IntN(2))
	for i := range placements {
		cities := slices.Clone(p.options.Cities)
		p.random.Shuffle(len(cities), func(a, b int) { cities[a], cities[b] = cities[b], cities[a] })
		cities = cities[:1+p.random.IntN(min(2, len(cities)))]
		slices.Sort(cities)
		placements[i] = Placement{Name: fmt.Sprintf("p%d", i), Cities: cities, Replicas: 1 + p.random.IntN(mostReplicas)}
	}
	return placements
}

// Match returns the known processes that the patterns select, in order. A pattern is a pattern of path.Match. A pattern
// that selects no process is an error.
func Match(patterns, known []string) ([]string, error) {
	var selected []string
	for _, pattern := range patterns {
		found := false
		for _, name := range known {
			matches, err := path.Match(pattern, name)
			if err != nil {
				return nil, fmt.Errorf("pattern %q of processes: %w", pattern, err)
			}
			if matches {
				selected, found = append(selected, name), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no process is named %q; there are %v", pattern, known)
		}
	}
	slices.Sort(selected)
	return slices.Compact(selected), nil
}
