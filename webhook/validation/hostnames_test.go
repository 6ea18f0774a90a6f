// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

func named(hostnames ...string) func(*v1alpha.Workload) {
	return exposed(func(w *v1alpha.Workload) {
		served(v1alpha.ServicePort{Port: 80})(w)
		w.Spec.Service.Hostnames = hostnames
	})
}

func names(t *testing.T) *Names {
	t.Helper()
	rules, err := naming.ParseHostnames("{workload}.{project}.apps.example.com", []string{"shop=shop.example"})
	if err != nil {
		t.Fatal(err)
	}
	return &Names{Rules: rules, TTL: 30 * time.Second}
}

// TestHostnames: each name that a project may not have is refused with its field, unless it is stored already.
func TestHostnames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		hostnames, stored []string
		want              []string
	}{
		"allowed":               {[]string{"shop.example", "www.shop.example"}, nil, nil},
		"another domain":        {[]string{"www.shop.example", "blog.example"}, nil, []string{"[1] Invalid value: must be in a domain"}},
		"a name of the pattern": {[]string{"web.blog.apps.example.com"}, nil, []string{"[0] Invalid value: names in apps.example.com are given"}},
		"twice":                 {[]string{"www.shop.example", "www.shop.example"}, nil, []string{"[1] Duplicate value"}},
		"no name": {[]string{"", "*.shop.example"}, nil, []string{
			"[0] Invalid value: must be a DNS name", "[1] Invalid value: must be a DNS name",
		}},
		"stored":                   {[]string{"blog.example"}, []string{"blog.example"}, nil},
		"stored beside another":    {[]string{"news.example", "blog.example"}, []string{"blog.example"}, []string{"[0] Invalid value"}},
		"a text that is too large": {[]string{strings.Repeat("a", 100_000)}, nil, []string{"[0] Invalid value"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			workload := sandbox()
			named(test.hostnames...)(workload)
			var before *v1alpha.Workload
			if test.stored != nil {
				before = sandbox()
				named(test.stored...)(before)
			}
			problems := names(t).Hostnames("shop", workload, before)
			for i, problem := range problems {
				text := fmt.Sprintf("%s %s: %s", strings.TrimPrefix(problem.Field, "spec.service.hostnames"), problem.Type, problem.Detail)
				if i >= len(test.want) || !strings.HasPrefix(text, test.want[i]) || len(problem.Error()) > 1000 {
					t.Errorf("problem %.300s, want %q", text, test.want)
				}
			}
			if len(problems) != len(test.want) {
				t.Errorf("%d problems, want %q", len(problems), test.want)
			}
		})
	}
	if problems := names(t).Hostnames("blog", func() *v1alpha.Workload {
		w := sandbox()
		named("www.shop.example")(w)
		return w
	}(), nil); len(problems) != 1 || !strings.Contains(problems[0].Detail, "allows no domain for project blog") {
		t.Errorf("another project: %v", problems)
	}
}

// TestHostnamesNeedALoadBalancer: names without addresses are refused, and more names than the schema allows.
func TestHostnamesNeedALoadBalancer(t *testing.T) {
	many := slices.Repeat([]string{"www.shop.example"}, maxHostnames+1)
	checkRules(t, []rule{
		{"names", nil, named("www.shop.example"), nil},
		{"too many", nil, named(many...), []string{"spec.service.hostnames " + tooMany}},
		{
			"names without a load balancer", nil, func(w *v1alpha.Workload) {
				named("www.shop.example")(w)
				w.Spec.Service.Exposure = ""
			}, []string{"spec.service.hostnames " + invalid},
		},
	})
}

// TestShortDrains: a drain that ends before resolvers forget the addresses has a warning.
func TestShortDrains(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[int32]bool{0: true, 39: true, 40: false, 3600: false} {
		workload := sandbox()
		named()(workload)
		workload.Spec.Service.DrainSeconds = &seconds
		if got := names(t).Warnings(workload); (len(got) > 0) != want {
			t.Errorf("drainSeconds %d: %q", seconds, got)
		}
		if got := (&Names{}).Warnings(workload); len(got) > 0 {
			t.Errorf("without names: %q", got)
		}
	}
	workload := sandbox()
	named()(workload)
	if got := names(t).Warnings(workload); len(got) > 0 {
		t.Errorf("without drainSeconds: %q", got)
	}
}

// TestNamesOfARoute: a Workload at a Gateway needs a name that no other project can have, and no name that one can.
func TestNamesOfARoute(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pattern   string
		hostnames []string
		want      string
	}{
		"the pattern":                  {"{workload}.{project}.apps.example.com", nil, ""},
		"a domain of the project":      {"", []string{"www.shop.example"}, ""},
		"no name":                      {"", nil, "spec.service.exposure"},
		"a pattern without a project":  {"{workload}.apps.example.com", nil, "spec.service.exposure"},
		"a domain of another one, too": {"{workload}.{project}.apps.example.com", []string{"www.both.example"}, "spec.service.hostnames[0]"},
		"a domain of another project":  {"{workload}.{project}.apps.example.com", []string{"www.books.example"}, "spec.service.hostnames[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules, err := naming.ParseHostnames(test.pattern, []string{
				"shop=shop.example", "shop=both.example", "books=both.example", "books=books.example",
			})
			if err != nil {
				t.Fatal(err)
			}
			workload := sandbox()
			named(test.hostnames...)(workload)
			workload.Spec.Service.Exposure = v1alpha.ServiceExposureGateway
			var fields []string
			for _, problem := range (&Names{Rules: rules}).Hostnames("shop", workload, nil) {
				fields = append(fields, problem.Field)
			}
			if got := strings.Join(fields, " "); got != test.want {
				t.Errorf("problems of %q, want %q", got, test.want)
			}
			// Other changes of a stored Workload pass.
			if problems := (&Names{Rules: rules}).Hostnames("shop", workload, workload); len(problems) > 0 {
				t.Errorf("the stored Workload has %v", problems)
			}
		})
	}
}
