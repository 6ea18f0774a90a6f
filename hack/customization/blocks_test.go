// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"
)

func TestReached(t *testing.T) {
	const lua = `-- License.

local limit = 7

local unused = 8

-- below needs limit, but not unused, member or word.
local function below(of)
  return of.member < limit and "word" ~= of
end

local member = 9

local word = 10

local function idle()
  return below
end

function Run(of)
  return below(of)
end
`
	all := blocks(lua)
	want := []string{all[0], all[2], all[6]}
	if got := reached(all); len(all) != 7 || !slices.Equal(got, want) {
		t.Errorf("reached %q of %q", got, all)
	}
}
