// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"testing"
	"time"
)

// TestHistory: a line of questions, and what is known after each of them. + is an answer, - a failure, x a failure without a witness,
// p an answer that a proxy
// may have given, and . a question that was not asked. U is Unknown, A Answers and L Lost.
func TestHistory(t *testing.T) {
	for name, test := range map[string]struct {
		before          Answer
		questions, want string
	}{
		"it never answers":                              {Unknown, "----------", "UUUUUUUUUU"},
		"it is asked three times first":                 {Pending, "----", "PPUU"},
		"without an answer of others":                   {Pending, "xx+", "PPA"},
		"its name does not resolve at first":            {Pending, "....", "PPUU"},
		"its first answer counts":                       {Unknown, "--+", "UUA"},
		"three failures in a row":                       {Answers, "---", "AAL"},
		"an answer between them":                        {Answers, "--+--+---", "AAAAAAAAL"},
		"no question left the replica":                  {Answers, "......", "AAAAAA"},
		"questions that were not asked, between":        {Answers, "-.-.-", "AAAAL"},
		"the replica alone":                             {Answers, "xxxxxxxxxx", "AAAAAAAAAA"},
		"the network returns, one question is too late": {Answers, "-xxxxxx-+", "AAAAAAAAA"},
		"others answer, and it does not":                {Answers, "-xxx--", "AAAAAL"},
		"two answers bring it back":                     {Answers, "---+-++", "AALLLLA"},
		"it flaps while it is lost":                     {Answers, "---+-+-+-", "AALLLLLLL"},
		"a stored record says that it is lost":          {Lost, "--+..+", "LLLLLA"},
		"a proxy answers from the begin":                {Pending, "ppp", "UUU"},
		"a proxy comes between":                         {Answers, "+p--p", "AUUUU"},
		"a proxy answers for one that is lost":          {Lost, "-p", "LU"},
		"a proxy goes":                                  {Unknown, "pp+---", "UUAAAL"},
		"after its return it has three failures again":  {Lost, "++--+---", "LAAAAAAL"},
	} {
		t.Run(name, func(t *testing.T) {
			h, got, begin := history{answer: test.before}, "", time.Now()
			for i, question := range test.questions {
				now, before := begin.Add(time.Duration(i)*time.Second), h
				switch question {
				case '+':
					h = h.after(answered, true, now)
				case '-', 'x':
					h = h.after(failed, question == '-', now)
				case 'p':
					h = h.after(unproven, true, now)
				default:
					h = h.after(notAsked, true, now)
				}
				got += string("PUAL"[h.answer])
				if changed := before.answer > Unknown && before.answer != h.answer; changed != (h.since.Equal(now) && !h.since.Equal(before.since)) {
					t.Errorf("question %d: the answer was %d, is %d, since %s", i, before.answer, h.answer, h.since)
				}
			}
			if got != test.want {
				t.Errorf("%s gives %s, want %s", test.questions, got, test.want)
			}
		})
	}
}
