// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"fmt"
	"strings"
)

// Count is a number with its noun and verb, for messages: "1 Instance is", "2 Instances are".
func Count[T ~int | ~int32](n T, single, many string) string {
	if n == 1 {
		return "1 " + single
	}
	return fmt.Sprintf("%d %s", n, many)
}

// shownNames is the maximum number of names in a message.
const shownNames = 5

// Some joins the first names, and the number of the others.
func Some(names []string) string {
	text := strings.Join(names[:min(shownNames, len(names))], ", ")
	if more := len(names) - shownNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Shorten truncates a message that is longer than limit, in bytes, between two characters.
func Shorten(message string, limit int) string {
	const ellipsis = "…"
	if len(message) <= limit {
		return message
	}
	return strings.ToValidUTF8(message[:limit-len(ellipsis)], "") + ellipsis
}
