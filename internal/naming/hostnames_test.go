// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"strings"
	"testing"
)

func parsed(t testing.TB, pattern string, domains ...string) Hostnames {
	t.Helper()
	rules, err := ParseHostnames(pattern, domains)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// TestRefusal: a project gets names in its own domains only, and no name that the pattern may give to another Workload.
func TestRefusal(t *testing.T) {
	t.Parallel()
	rules := parsed(t, "{workload}.{project}.apps.example.com", "shop=shop.example", "shop=example.com", "blog=blog.example")
	long := strings.Repeat("a", 63)
	for name, want := range map[string]string{
		"shop.example":                   "",
		"www.shop.example":               "",
		"example.com":                    "",
		"shop.example.":                  "must be a DNS name",
		"":                               "must be a DNS name",
		"Shop.example":                   "must be a DNS name",
		"*.shop.example":                 "must be a DNS name",
		"a..shop.example":                "must be a DNS name",
		long + "a.shop.example":          "must be a DNS name",
		long + ".shop.example":           "",
		strings.Repeat(long+".", 4) + "": "must be a DNS name",
		"203.0.113.7":                    "must be a DNS name",
		"blog.example":                   "in a domain that the operator allows for project shop",
		"evilshop.example":               "in a domain that the operator allows for project shop",
		"example":                        "in a domain that the operator allows for project shop",
		"apps.example.com":               "given by the operator's pattern",
		"web.blog.apps.example.com":      "given by the operator's pattern",
		"web.shop.apps.example.com":      "given by the operator's pattern",
		"evilapps.example.com":           "",
	} {
		if got := rules.Refusal("shop", name); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := rules.Refusal("nobody", "www.shop.example"); !strings.Contains(got, "allows no domain for project nobody") {
		t.Errorf("another project: %q", got)
	}
}

// TestByPattern: names that are no DNS names are refused, not shortened: a shortened name might be another Workload's.
func TestByPattern(t *testing.T) {
	t.Parallel()
	rules := parsed(t, "{workload}-{namespace}.{project}.apps.example.com")
	of := HostnameOf{Workload: "web", Namespace: "default", Project: "shop"}
	if got := rules.ByPattern(of); got != "web-default.shop.apps.example.com" || rules.PatternRefusal(of) != "" {
		t.Errorf("got %q, %q", got, rules.PatternRefusal(of))
	}
	for _, project := range []string{"org/shop", "Shop", strings.Repeat("a", 64), "{workload}"} {
		of.Project = project
		if rules.PatternRefusal(of) == "" {
			t.Errorf("project %q gets %q", project, rules.ByPattern(of))
		}
	}
}

// TestRulesOfOperators: mistakes are refused at the start.
func TestRulesOfOperators(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"{project}.apps.example.com":         "must contain {workload}",
		"{workload}.{city}.apps.example.com": "instead of {city}",
		"{workload}":                         "ends with a domain",
		"{workload}.example":                 "ends with a domain",
		"{workload}.{project}":               "ends with a domain",
		"{workload}.Apps.example.com":        "ends with a domain",
		"{workload}..example.com":            "ends with a domain",
		"*.{workload}.example.com":           "ends with a domain",
	} {
		if _, err := ParseHostnames(pattern, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", pattern, err, want)
		}
	}
	for domain, want := range map[string]string{
		"shop.example":          "is no PROJECT=DOMAIN",
		"=shop.example":         "is no PROJECT=DOMAIN",
		"shop=":                 "use a DNS name in lower case",
		"shop=*.shop.example":   "use a DNS name in lower case",
		"shop=apps.example.com": "the pattern gives the names",
	} {
		if _, err := ParseHostnames("{workload}.apps.example.com", []string{domain}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", domain, err, want)
		}
	}
	if rules := parsed(t, ""); rules.Any() || rules.Refusal("shop", "shop.example") == "" {
		t.Error("without rules there is a name")
	}
}

// TestExclusive: names that a Workload of another project could have are not routed.
func TestExclusive(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pattern string
		asked   []string
		want    string
	}{
		"the project is a label":         {"{workload}.{project}.apps.example.com", nil, "web.shop.apps.example.com"},
		"the project is the last part":   {"{workload}-{project}.apps.example.com", nil, "web-shop.apps.example.com"},
		"the project is the first part":  {"{project}-{workload}.apps.example.com", nil, "shop-web.apps.example.com"},
		"the project is inside of one":   {"{workload}-{project}-{namespace}.apps.example.com", nil, ""},
		"no dash before the project":     {"{workload}x{project}.apps.example.com", nil, ""},
		"the pattern lacks the project":  {"{workload}.apps.example.com", nil, ""},
		"a domain of the project":        {"", []string{"www.shop.example.com"}, "www.shop.example.com"},
		"a domain of two projects":       {"", []string{"www.both.example.com"}, ""},
		"a domain inside of another one": {"", []string{"x.inner.shop.example.com", "y.shop.example.com"}, "y.shop.example.com"},
		"a domain of another project":    {"", []string{"www.books.example.com"}, ""},
		"no domain":                      {"", []string{"www.example.org"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := parsed(t, test.pattern, "shop=shop.example.com", "shop=both.example.com", "books=both.example.com",
				"books=books.example.com", "books=inner.shop.example.com")
			of := HostnameOf{Workload: "web", Namespace: "default", Project: "shop"}
			if got := strings.Join(rules.Exclusive(of, test.asked), " "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestADashInAProject: with a pattern of dashes, the name of a project with one could be the name of another project's Workload.
func TestADashInAProject(t *testing.T) {
	t.Parallel()
	names := map[string]string{}
	rules := parsed(t, "{workload}-{project}.apps.example.com")
	for _, of := range []HostnameOf{{"web", "default", "a-b"}, {"web-a", "default", "b"}, {"a", "default", "b"}, {"a", "default", "b-b"}} {
		for _, name := range rules.Exclusive(of, nil) {
			if other := names[name]; other != "" {
				t.Errorf("%s is routed for projects %s and %s", name, other, of.Project)
			}
			names[name] = of.Project
		}
	}
	if len(names) != 2 {
		t.Errorf("%d names are routed, want the ones of project b: %v", len(names), names)
	}
}

// FuzzRefusal: no name is allowed that is outside of the domains of its project, or in the domain of the pattern.
func FuzzRefusal(f *testing.F) {
	rules := parsed(f, "{workload}.{project}.apps.example.com", "shop=shop.example", "shop=example.com")
	f.Add("www.shop.example")
	f.Add("web.shop.apps.example.com")
	f.Fuzz(func(t *testing.T, name string) {
		if rules.Refusal("shop", name) != "" {
			return
		}
		inside := strings.HasSuffix("."+name, ".shop.example") || strings.HasSuffix("."+name, ".example.com")
		if !inside || strings.HasSuffix("."+name, ".apps.example.com") || len(name) > 253 {
			t.Errorf("%q is allowed", name)
		}
	})
}
