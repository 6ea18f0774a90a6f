// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// parse reads Instances from words like "web-0:A+" (template A, Ready), "web-1:A-" (not Ready), "web-2:A+x" (being
// deleted), "web-3:A+e" (of an earlier Workload), "web-4:A+u" (Ready for too short a time).
func parse(t *testing.T, words string) []v1alpha.Instance {
	t.Helper()
	var result []v1alpha.Instance
	for word := range strings.FieldsSeq(words) {
		name, state, found := strings.Cut(word, ":")
		if !found || len(state) < 2 {
			t.Fatalf("%q is no Instance", word)
		}
		instance := v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1alpha.LabelWorkloadUID: "now"}}}
		if strings.HasSuffix(state, "e") {
			instance.Labels[v1alpha.LabelWorkloadUID] = "earlier"
		}
		instance.Spec.Controller = &v1alpha.InstanceController{TemplateHash: state[:1]}
		status := metav1.ConditionFalse
		if state[1] == '+' {
			status = metav1.ConditionTrue
		}
		instance.Status.Conditions = []metav1.Condition{{Type: v1alpha.ConditionReady, Status: status}}
		if strings.HasSuffix(state, "u") {
			instance.Status.Conditions = append(instance.Status.Conditions,
				metav1.Condition{Type: v1alpha.ConditionAvailable, Status: metav1.ConditionFalse})
		}
		if strings.HasSuffix(state, "x") {
			now := metav1.NewTime(time.Unix(0, 0))
			instance.DeletionTimestamp = &now
		}
		result = append(result, instance)
	}
	return result
}

type planCase struct {
	replicas int
	// indices that are wanted, if not all below replicas.
	indices   []int
	instances string
	// held are the names that quota does not let start.
	held []string
	// lapsed are the names that may become Ready again by themselves.
	lapsed []string
	// suspended reports that the project is suspended.
	suspended bool
	// unavailable is how many may be; 0: the default.
	unavailable int
	// partition is the lowest index that gets template B; the others get A.
	partition int
	// overridden reports that template B is template A with an override, and batch how many it may replace at once.
	overridden bool
	batch      int
	wantCreate []int
	wantRemove []string
}

func (c *planCase) hashAt(index int) string {
	if index < c.partition {
		return "A"
	}
	return "B"
}

func (c *planCase) wanted() []int {
	indices := c.indices
	for i := range c.replicas {
		indices = append(indices, i)
	}
	return indices
}

func checkPlans(t *testing.T, parallel bool, tests map[string]planCase) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			unavailable := test.unavailable
			if unavailable == 0 {
				unavailable = (*v1alpha.WorkloadRollout)(nil).Unavailable(len(test.wanted()))
			}
			got := makePlan(&target{
				name: "web", indices: test.wanted(), hashAt: test.hashAt,
				kept: func(index int) bool { return index < test.partition }, workload: "now", parallel: parallel, suspended: test.suspended,
				maxUnavailable: unavailable,
				sentAtOnce:     func(*v1alpha.Instance) bool { return test.overridden }, batch: test.batch,
				lapse: func(instance *v1alpha.Instance) time.Duration {
					if slices.Contains(test.lapsed, instance.Name) {
						return time.Second
					}
					return 0
				},
				startable: func(name string) bool { return !slices.Contains(test.held, name) },
			}, parse(t, test.instances))
			var removed []string
			for _, instance := range got.remove {
				removed = append(removed, instance.Name)
			}
			slices.Sort(removed)
			if waits := len(test.lapsed) > 0; (got.again > 0) != waits {
				t.Errorf("it plans again after %v", got.again)
			}
			if !slices.Equal(got.create, test.wantCreate) || !slices.Equal(removed, test.wantRemove) {
				t.Errorf("create %v, remove %v; want %v and %v", got.create, removed, test.wantCreate, test.wantRemove)
			}
		})
	}
}

func TestOrderedPlan(t *testing.T) {
	checkPlans(t, false, map[string]planCase{
		"none is replaced whose probes are slow for a moment": {
			replicas: 3, instances: "web-0:A- web-1:A- web-2:A+", lapsed: []string{"web-0", "web-1"},
		},
		"the first is made":                              {replicas: 3, wantCreate: []int{0}},
		"the next waits for the last":                    {replicas: 3, instances: "web-0:B-"},
		"the next is made when the last is Ready":        {replicas: 3, instances: "web-0:B+", wantCreate: []int{1}},
		"the next waits while the last is not Available": {replicas: 3, instances: "web-0:B+u"},
		"a gap is filled first":                          {replicas: 4, instances: "web-0:B+ web-2:B+", wantCreate: []int{1}},
		"a gap waits for what is below":                  {replicas: 3, instances: "web-0:B- web-2:B+"},
		"the lowest of its own is made":                  {indices: []int{2, 5}, wantCreate: []int{2}},
		"the next of its own follows":                    {indices: []int{2, 5}, instances: "web-2:B+", wantCreate: []int{5}},
		"an index of another cell is given up": {
			indices: []int{2, 5}, instances: "web-0:B+ web-2:B+ web-5:B+", wantRemove: []string{"web-0"},
		},
		"a name that is not free yet is waited for": {replicas: 2, instances: "web-0:B+x web-1:B+"},
		"nothing to do":                  {replicas: 2, instances: "web-0:B+ web-1:B+"},
		"nothing desired, nothing there": {},

		"suspended, nothing is made or replaced": {replicas: 3, suspended: true, instances: "web-0:A- web-1:B-"},
		"suspended, what other cells may wait for is left": {
			indices: []int{5}, suspended: true, instances: "web-0:B- web-1:B-x web-5:A-", wantRemove: []string{"web-0"},
		},

		"scale down from the highest, in numbers": {
			replicas: 9, instances: "web-0:B+ web-9:B+ web-10:B+", wantCreate: []int{1}, wantRemove: []string{"web-10"},
		},
		"scale down one at a time":           {replicas: 1, instances: "web-0:B+ web-1:B+ web-2:B+x"},
		"scale down when the last is gone":   {replicas: 1, instances: "web-0:B+ web-1:B+", wantRemove: []string{"web-1"}},
		"scale down does not wait for Ready": {replicas: 1, instances: "web-0:B- web-1:B-", wantRemove: []string{"web-1"}},
		"scale down to nothing":              {instances: "web-0:B+", wantRemove: []string{"web-0"}},
		"scale down comes before the roll":   {replicas: 1, instances: "web-0:A+ web-1:A+", wantRemove: []string{"web-1"}},
		"the roll waits for the scale down":  {replicas: 1, instances: "web-0:A+ web-1:A+x"},

		"a partition keeps the lower ones": {replicas: 3, partition: 2, instances: "web-0:A+ web-1:A+ web-2:B+"},
		"a partition lets the higher ones roll": {
			replicas: 3, partition: 2, instances: "web-0:A+ web-1:A+ web-2:A+", wantRemove: []string{"web-2"},
		},
		"below a partition a Ready one stays": {replicas: 3, partition: 3, instances: "web-0:A+ web-1:C+ web-2:B+"},
		"below a partition another one is replaced": {
			replicas: 3, partition: 3, instances: "web-0:A+ web-1:B- web-2:B+", wantRemove: []string{"web-1"},
		},
		"below a partition the earlier one is created": {replicas: 2, partition: 2, instances: "web-0:A+", wantCreate: []int{1}},

		"roll from the highest":                {replicas: 3, instances: "web-0:A+ web-1:A+ web-2:A+", wantRemove: []string{"web-2"}},
		"the roll waits while one is deleted":  {replicas: 3, instances: "web-0:A+ web-1:A+ web-2:A+x"},
		"the roll makes what it removed":       {replicas: 3, instances: "web-0:A+ web-1:A+", wantCreate: []int{2}},
		"the roll waits for Ready":             {replicas: 3, instances: "web-0:A+ web-1:A+ web-2:B-"},
		"the roll waits for Available":         {replicas: 3, instances: "web-0:A+ web-1:A+ web-2:B+u"},
		"the roll goes on downwards":           {replicas: 3, instances: "web-0:A+ web-1:A+ web-2:B+", wantRemove: []string{"web-1"}},
		"the roll waits for one below, too":    {replicas: 3, instances: "web-0:B- web-1:A+ web-2:A+"},
		"one of an earlier Workload is rolled": {replicas: 2, instances: "web-0:B+ web-1:B+e", wantRemove: []string{"web-1"}},
		"a template changed back rolls back":   {replicas: 3, instances: "web-0:B+ web-1:B+ web-2:A+", wantRemove: []string{"web-2"}},
		"a broken roll stops":                  {replicas: 2, instances: "web-0:A+ web-1:B-"},
		"a fix replaces what is broken":        {replicas: 2, instances: "web-0:B+ web-1:A-", wantRemove: []string{"web-1"}},
		"a fix replaces a broken one anywhere": {replicas: 3, instances: "web-0:A- web-1:A+ web-2:A+", wantRemove: []string{"web-0"}},
		"a fix replaces all broken ones at once": {
			replicas: 3, instances: "web-0:A- web-1:A- web-2:A-", wantRemove: []string{"web-0", "web-1", "web-2"},
		},
		"a fix replaces a first one that never ran": {replicas: 3, instances: "web-0:A-", wantRemove: []string{"web-0"}},
		"a fix does not wait for the scale down":    {replicas: 1, instances: "web-0:A- web-1:A+x", wantRemove: []string{"web-0"}},
		"a broken one being deleted is left":        {replicas: 1, instances: "web-0:A-x"},

		"one that quota holds does not hold up the roll": {
			replicas: 3, instances: "web-0:A+ web-1:A+ web-2:B-", held: []string{"web-2"}, wantRemove: []string{"web-1"},
		},
		"one whose successor would be held is not taken down": {
			replicas: 2, instances: "web-0:A+ web-1:A+", held: []string{"web-1"}, wantRemove: []string{"web-0"},
		},
		"a withdrawn quota takes nothing down": {replicas: 2, instances: "web-0:A+ web-1:A+", held: []string{"web-0", "web-1"}},

		"names of others are removed and do not count": {
			replicas: 1, instances: "web-00:B+ web-x:B+ other-0:B+ web-:B+x", wantCreate: []int{0},
			wantRemove: []string{"other-0", "web-00", "web-x"},
		},
	})
}

func TestParallelPlan(t *testing.T) {
	checkPlans(t, true, map[string]planCase{
		"none is replaced whose probes are slow for a moment, and no other one": {
			replicas: 4, instances: "web-0:A- web-1:A- web-2:A- web-3:A+", lapsed: []string{"web-0", "web-1", "web-2"}, unavailable: 2,
		},
		"a broken one is replaced beside one whose probes are slow": {
			replicas: 3, instances: "web-0:A- web-1:A- web-2:A+", lapsed: []string{"web-1"}, wantRemove: []string{"web-0"},
		},
		"all at once": {replicas: 3, wantCreate: []int{0, 1, 2}},
		"all gaps":    {replicas: 4, instances: "web-1:B- web-3:B-", wantCreate: []int{0, 2}},
		"all that are too many": {
			replicas: 1, instances: "web-0:B- web-1:B+ web-2:B+", wantRemove: []string{"web-1", "web-2"},
		},
		"all that are outdated": {
			replicas: 2, unavailable: 2, instances: "web-0:A+ web-1:A-", wantRemove: []string{"web-0", "web-1"},
		},
		"all of an earlier Workload": {
			replicas: 2, unavailable: 2, instances: "web-0:B+e web-1:B-e", wantRemove: []string{"web-0", "web-1"},
		},
		"one by one, from the highest": {replicas: 3, instances: "web-0:A+ web-1:A+ web-2:A+", wantRemove: []string{"web-2"}},
		"a quarter": {
			replicas: 8, instances: "web-0:A+ web-1:A+ web-2:A+ web-3:A+ web-4:A+ web-5:A+ web-6:A+ web-7:A+",
			wantRemove: []string{"web-6", "web-7"},
		},
		"the only one":                                     {replicas: 1, instances: "web-0:A+", wantRemove: []string{"web-0"}},
		"the next waits while one is deleted":              {replicas: 3, instances: "web-0:A+ web-1:A+ web-2:A+x"},
		"the next waits for the successor":                 {replicas: 3, instances: "web-0:A+ web-1:A+ web-2:B-"},
		"the next waits for the successor to be created":   {replicas: 3, instances: "web-0:A+ web-1:A+", wantCreate: []int{2}},
		"the next waits for one that is Ready too shortly": {replicas: 3, instances: "web-0:A+ web-1:A+ web-2:B+u"},
		"the next follows":                                 {replicas: 3, instances: "web-0:A+ web-1:A+ web-2:B+", wantRemove: []string{"web-1"}},
		"a broken roll stops":                              {replicas: 4, unavailable: 2, instances: "web-0:A+ web-1:A+ web-2:B- web-3:B-"},
		"a fix replaces all broken ones at once": {
			replicas: 4, instances: "web-0:A+ web-1:A- web-2:A- web-3:A-", wantRemove: []string{"web-1", "web-2", "web-3"},
		},
		"one that is Ready too shortly is replaced at once": {
			replicas: 2, instances: "web-0:A+u web-1:B-", wantRemove: []string{"web-0"},
		},
		"one that quota holds does not hold up the roll": {
			replicas: 3, instances: "web-0:A+ web-1:A+ web-2:B-", held: []string{"web-2"}, wantRemove: []string{"web-1"},
		},
		"surplus does not count": {replicas: 2, instances: "web-0:A+ web-1:A+ web-2:A-", wantRemove: []string{"web-1", "web-2"}},
		"one that serves is not taken down for one that would be held": {
			replicas: 2, instances: "web-0:A+ web-1:A-", held: []string{"web-0", "web-1"}, wantRemove: []string{"web-1"},
		},
		"what is deleted is left to end": {replicas: 2, instances: "web-0:A+x web-1:B+ web-2:B+x"},

		"an override begins with one": {
			replicas: 4, unavailable: 2, overridden: true, instances: "web-0:A+ web-1:A+ web-2:A+ web-3:A+", wantRemove: []string{"web-3"},
		},
		"an override waits for the first": {
			replicas: 4, unavailable: 2, overridden: true, instances: "web-0:A+ web-1:A+ web-2:A+ web-3:B-",
		},
		"an override goes on within its limit": {
			replicas: 4, unavailable: 2, overridden: true, instances: "web-0:A+ web-1:A+ web-2:A+ web-3:B+", wantRemove: []string{"web-1", "web-2"},
		},
		"an override goes on in batches": {
			replicas: 5, unavailable: 3, overridden: true, batch: 2, instances: "web-0:A+ web-1:A+ web-2:A+ web-3:A+ web-4:B+",
			wantRemove: []string{"web-2", "web-3"},
		},
		"an override waits for its batch": {
			replicas: 5, unavailable: 3, overridden: true, batch: 2, instances: "web-0:A+ web-1:A+ web-2:B- web-3:B+ web-4:B+",
		},
		"an override does not wait for one that quota holds": {
			replicas: 4, unavailable: 2, overridden: true, instances: "web-0:A+ web-1:A+ web-2:A+ web-3:B-", held: []string{"web-3"},
			wantRemove: []string{"web-2"},
		},
		"an override replaces what is broken at once": {
			replicas: 4, overridden: true, instances: "web-0:A+ web-1:A+ web-2:A- web-3:A-", wantRemove: []string{"web-2", "web-3"},
		},
		"an override is not known below the partition": {
			replicas: 4, unavailable: 2, overridden: true, partition: 2, instances: "web-0:A+ web-1:A+ web-2:A+ web-3:A+",
			wantRemove: []string{"web-3"},
		},
	})
}

func TestUnavailable(t *testing.T) {
	of := func(most intstr.IntOrString) *v1alpha.WorkloadRollout {
		return &v1alpha.WorkloadRollout{MaxUnavailable: &most}
	}
	for _, test := range []struct {
		rollout         *v1alpha.WorkloadRollout
		instances, want int
	}{
		{nil, 0, 1},
		{nil, 1, 1},
		{nil, 7, 1},
		{nil, 8, 2},
		{&v1alpha.WorkloadRollout{}, 100, 25},
		{of(intstr.FromInt32(3)), 100, 3},
		{of(intstr.FromString("100%")), 7, 7},
		{of(intstr.FromString("no percentage")), 7, 1},
		{of(intstr.FromInt32(-1)), 7, 1},
	} {
		if got := test.rollout.Unavailable(test.instances); got != test.want {
			t.Errorf("%v of %d: %d, want %d", test.rollout, test.instances, got, test.want)
		}
	}
}
