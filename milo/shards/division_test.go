// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"slices"
	"strings"
	"testing"
)

func parsed(t *testing.T, text string, count int) division {
	t.Helper()
	d, err := parseDivision(text, count)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDivisionIsParsed(t *testing.T) {
	const text = `{"one":[0,2],"two":[1]}`
	d := parsed(t, text, 4)
	if !slices.Equal(d, division{"one", "two", "one", ""}) {
		t.Errorf("parsed %q", d)
	}
	if got := d.String(); got != text {
		t.Errorf("written as %s", got)
	}
	// Of a replica that has more shards: this replica does not have these shards.
	if d := parsed(t, `{"one":[0,7,-1]}`, 2); !slices.Equal(d, division{"one", ""}) {
		t.Errorf("parsed %q", d)
	}
	if d := parsed(t, "", 2); !slices.Equal(d, division{"", ""}) {
		t.Errorf("parsed %q", d)
	}
	for text, want := range map[string]string{`{"one":[0],"two":[0]}`: "both", `[`: "parse"} {
		if _, err := parseDivision(text, 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestBalance: the shards that a replica takes or releases.
func TestBalance(t *testing.T) {
	for name, test := range map[string]struct {
		before, self, want string
		running            []string
	}{
		"the first takes all":             {`{}`, "one", `{"one":[0,1,2,3,4]}`, []string{"one"}},
		"half for one that joins":         {`{"one":[0,1,2,3,4]}`, "one", `{"one":[0,1,2]}`, []string{"two", "one"}},
		"the one that joins waits":        {`{"one":[0,1,2,3,4]}`, "two", `{"one":[0,1,2,3,4]}`, []string{"one", "two"}},
		"and takes what is free":          {`{"one":[0,1,2]}`, "two", `{"one":[0,1,2],"two":[3,4]}`, []string{"one", "two"}},
		"even enough is left as it is":    {`{"one":[0,1],"two":[2,3,4]}`, "one", `{"one":[0,1],"two":[2,3,4]}`, []string{"one", "two"}},
		"also by the other one":           {`{"one":[0,1],"two":[2,3,4]}`, "two", `{"one":[0,1],"two":[2,3,4]}`, []string{"one", "two"}},
		"no more than the share is taken": {`{"one":[0]}`, "one", `{"one":[0,1,2]}`, []string{"one", "two"}},
		"more replicas than shards": {
			`{"a":[0],"b":[1],"c":[2],"d":[3],"e":[4]}`, "f", `{"a":[0],"b":[1],"c":[2],"d":[3],"e":[4]}`, []string{"a", "b", "c", "d", "e", "f"},
		},
	} {
		if got := parsed(t, test.before, 5).balanced(test.self, test.running).String(); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	gone := parsed(t, `{"one":[0],"two":[1]}`, 3).without(func(replica string) bool { return replica == "two" })
	if got := gone.String(); got != `{"two":[1]}` {
		t.Errorf("without a replica it is %s", got)
	}
}
