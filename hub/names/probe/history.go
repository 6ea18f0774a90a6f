// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import "time"

// Answer is the state of an address, as far as this replica knows.
type Answer int

const (
	// Pending is an address that has not answered this replica yet, which has not asked it often enough to wait no more.
	Pending Answer = iota
	// Unknown is an address that has never answered this replica, that it must not ask, or for which a proxy answers. Nothing can be
	// concluded: maybe the replica cannot reach addresses.
	Unknown
	// Answers is an address that answers, or has not failed often enough.
	Answers
	// Lost is an address that answered and has failed fall times in a row while others answered.
	Lost
)

// weights order answers: the one of several addresses with the largest weight is the answer of all.
var weights = [...]int{Answers: 3, Pending: 2, Unknown: 1, Lost: 0}

// fall is the number of failures after which an address is Lost, and rise the number of answers after which it is not any more.
const fall, rise = 3, 2

// outcome is the result of one question.
type outcome int

const (
	// notAsked is a question that did not leave the replica, such as of a name that does not resolve. It changes nothing.
	notAsked outcome = iota
	failed
	// unproven is an answer that a proxy may have given. What was known before proves nothing any more, either: the address may have died
	// since.
	unproven
	answered
)

// history is the result of the questions to an address.
type history struct {
	answer Answer
	// failures and answers are the ones in a row. witnessed counts the failures before which another address has answered: without such
	// a witness, the fault may be the replica's own.
	failures, witnessed, answers int
	// since is when an address that had answered was lost, or a lost one answered again; zero: neither has been seen.
	since time.Time
}

// after returns the history after another question. witnessed: another address has answered since the question before.
func (h history) after(result outcome, witnessed bool, now time.Time) history {
	next := h.counted(result, witnessed)
	if next.answer == Pending && next.failures >= fall {
		next.answer = Unknown
	}
	if (h.answer == Answers || h.answer == Lost) && h.answer != next.answer {
		next.since = now
	}
	return next
}

// counted is the history with the result of another question.
func (h history) counted(result outcome, witnessed bool) history {
	switch result {
	case notAsked:
		if h.answer == Pending {
			h.failures++
		}
	case unproven:
		h = history{answer: Unknown, failures: fall}
	case answered:
		h.failures, h.witnessed, h.answers = 0, 0, h.answers+1
		if h.answer != Lost || h.answers >= rise {
			h.answer = Answers
		}
	case failed:
		h.failures, h.answers = h.failures+1, 0
		if witnessed {
			h.witnessed++
		}
		if h.answer == Answers && h.witnessed >= fall {
			h.answer = Lost
		}
	}
	return h
}

// recorded returns the history of a name after another question for its record. Lost begins with the first answer without any of its
// addresses. No answer changes nothing.
func (h history) recorded(result outcome, now time.Time) history {
	next := Lost
	if result == answered {
		next = Answers
	}
	if result != notAsked && h.answer != next {
		h.answer, h.since = next, now
	}
	return h
}

// changes reports whether the next questions may change the answer. Failures without a witness are the replica's own after a while:
// more questions do not help.
func (h history) changes() bool {
	isFailing := h.failures > 0 && (h.answer == Pending || h.answer == Answers && h.failures < 2*fall)
	return isFailing || h.answer == Lost && h.answers > 0
}
