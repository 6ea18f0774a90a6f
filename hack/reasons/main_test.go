// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"testing"

	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// halfSentence matches the rest of "says that A, and that B" after its beginning was removed.
var halfSentence = regexp.MustCompile(`,? (and|or) that `)

// TestMeaningsAreSentences: the reference has a sentence on every reason.
func TestMeaningsAreSentences(t *testing.T) {
	t.Chdir("../..")
	meanings, err := readMeanings()
	if err != nil {
		t.Fatal(err)
	}
	for _, remedy := range reasons.All() {
		meaning := meanings[remedy.Reason]
		if meaning == "" {
			t.Errorf("nothing says what %s means", remedy.Reason)
		}
		if halfSentence.MatchString(meaning) {
			t.Errorf("the meaning of %s is no sentence: %s", remedy.Reason, meaning)
		}
	}
}
