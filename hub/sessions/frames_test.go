// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// Opcodes and the bit of the last frame of a message.
const (
	more, text, binaryData, ping, last = 0x00, 0x01, 0x02, 0x09, 0x80
)

// frame returns a frame of a server.
func frame(first byte, payload string) []byte {
	encoded := []byte{first}
	switch n := len(payload); {
	case n < length16:
		encoded = append(encoded, byte(n))
	case n <= 0xffff:
		encoded = binary.BigEndian.AppendUint16(append(encoded, length16), uint16(n))
	default:
		encoded = binary.BigEndian.AppendUint64(append(encoded, length64), uint64(n))
	}
	return append(encoded, payload...)
}

const failure7 = `{"status":"Failure","reason":"NonZeroExitCode","message":"exit 7","details":{"causes":[{"reason":"ExitCode","message":"7"}]}}`

func TestFrames(t *testing.T) {
	for name, c := range map[string]struct {
		sent    []byte
		data    int
		outcome string
	}{
		"output":     {sent: frame(last|binaryData, "\x01hello"), data: 6},
		"pings":      {sent: append(frame(last|ping, "1234"), frame(last|ping, "")...)},
		"an outcome": {sent: frame(last|binaryData, "\x03"+failure7), data: 1 + len(failure7), outcome: failure7},
		"in two frames": {
			sent: bytes.Join([][]byte{frame(binaryData, "\x03ab"), frame(last|ping, "x"), frame(last|more, "cd")}, nil), data: 5, outcome: "abcd",
		},
		"long frames": {
			sent: append(frame(last|binaryData, "\x01"+strings.Repeat("a", 300)), frame(last|binaryData, "\x03b")...), data: 303, outcome: "b",
		},
		"huge frames": {
			sent: append(frame(last|binaryData, "\x01"+strings.Repeat("a", 70000)), frame(last|text, "\x03b")...), data: 70003, outcome: "b",
		},
		"too long": {
			sent: frame(last|binaryData, "\x03"+strings.Repeat("a", 3*maxOutcome)), data: 1 + 3*maxOutcome, outcome: strings.Repeat("a", maxOutcome),
		},
	} {
		for _, piece := range []int{1, 3, 1 << 20} {
			f, data := &frames{}, 0
			for rest := c.sent; len(rest) > 0; {
				n := min(piece, len(rest))
				data += f.follow(rest[:n])
				rest = rest[n:]
			}
			if data != c.data || string(f.outcome) != c.outcome {
				t.Errorf("%s in pieces of %d: %d bytes of data, outcome %q", name, piece, data, f.outcome)
			}
		}
	}
}

func TestOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		sent, failure string
		code          int32
	}{
		"success": {sent: `{"status":"Success"}`},
		"a code":  {sent: failure7, code: 7},
		"not started": {
			sent: `{"status":"Failure","reason":"InternalError","message":"no such program"}`, failure: "no such program", code: -1,
		},
		"no reason":     {sent: `{"status":"Failure"}`, failure: "the cell gives no reason", code: -1},
		"a wrong code":  {sent: strings.Replace(failure7, `"7"`, `"-9999999999"`, 1), failure: "exit 7", code: -1},
		"nothing":       {code: -1},
		"no JSON":       {sent: "{", code: -1},
		"another thing": {sent: `[1]`, code: -1},
	} {
		code, failure := outcomeOf([]byte(c.sent))
		if failure != c.failure || (code == nil) != (c.code == -1) || code != nil && *code != c.code {
			t.Errorf("%s: %v, %q", name, code, failure)
		}
	}
}

// FuzzFrames verifies that the bytes of a cell or a client are parsed identically in any pieces, and that no more of
// them is kept than the maximum of an outcome.
func FuzzFrames(f *testing.F) {
	for _, seed := range [][]byte{
		nil, frame(last|binaryData, "\x03"+failure7), frame(last|ping, "1"),
		{0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4, 3},
		{0x02, 0x7e, 0xff, 0xff, 3},
		{0x82, 0x80, 1, 2, 3, 4},
		[]byte("hello"),
	} {
		f.Add(seed, uint8(3))
	}
	f.Fuzz(func(t *testing.T, sent []byte, piece uint8) {
		whole, parts := &frames{}, &frames{}
		want, got := whole.follow(sent), 0
		for rest := sent; len(rest) > 0; {
			n := min(int(piece)%64+1, len(rest))
			got += parts.follow(rest[:n])
			rest = rest[n:]
		}
		if got != want || got > len(sent) || !bytes.Equal(whole.outcome, parts.outcome) || len(whole.outcome) > maxOutcome {
			t.Fatalf("%d bytes of data at once, %d in pieces, outcomes %q and %q", want, got, whole.outcome, parts.outcome)
		}
		_, _ = outcomeOf(whole.outcome)
	})
}
