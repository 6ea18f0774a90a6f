// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Clean removes the characters of a text that a terminal obeys: control characters, among them the ones from U+0080 to
// U+009F, and characters that change the direction of text. Line ends and tabs stay.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
}

func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// escape replaces control characters by their escapes in JSON and YAML: the data stays the same, and a terminal does
// not obey it.
func escape(text string) string {
	if !strings.ContainsFunc(text, isControl) && utf8.ValidString(text) {
		return text
	}
	var escaped strings.Builder
	for _, r := range text {
		if isControl(r) {
			fmt.Fprintf(&escaped, `\u%04x`, r)
		} else {
			escaped.WriteRune(r)
		}
	}
	return escaped.String()
}

// CleanWriter returns a writer of text for people, and cleans the text. It is safe for concurrent use.
func CleanWriter(out io.Writer) io.Writer { return &mapped{out: out, change: Clean} }

// EscapeWriter returns a writer of JSON, YAML and other data, and escapes control characters. It is safe for
// concurrent use.
func EscapeWriter(out io.Writer) io.Writer { return &mapped{out: out, change: escape} }

// mapped changes what is written to it.
type mapped struct {
	out    io.Writer
	change func(string) string

	mu sync.Mutex
	// begun is the begin of a character whose other bytes were not written yet.
	begun []byte
}

// Write writes the complete characters.
func (m *mapped) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := append(m.begun, p...)
	complete := len(all)
	for back := 1; back < utf8.UTFMax && back <= len(all); back++ {
		if start := len(all) - back; utf8.RuneStart(all[start]) {
			if !utf8.FullRune(all[start:]) {
				complete = start
			}
			break
		}
	}
	m.begun = append([]byte(nil), all[complete:]...)
	// A byte that is no character is a control character to some terminals.
	if _, err := io.WriteString(m.out, m.change(strings.ToValidUTF8(string(all[:complete]), "\uFFFD"))); err != nil {
		return 0, err
	}
	return len(p), nil
}
