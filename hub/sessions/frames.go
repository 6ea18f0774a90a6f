// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
)

const (
	// errorChannel is the first byte of a message in which an API server reports the outcome of a command.
	errorChannel = remotecommand.StreamErr
	// maxOutcome bounds the stored part of such messages.
	maxOutcome = 4 << 10
	// Of a frame of WebSocket (RFC 6455, 5.2).
	opcodeBits, controlBit    = 0x0f, 0x08
	maskBit, lengthBits       = 0x80, 0x7f
	length16, length64        = 126, 127
	headerStart, headerLength = 2, 14
)

// frames follows the frames of one direction of a WebSocket connection. It counts the bytes of data, without pings, and
// keeps the start of the messages of the error channel. Its memory does not depend on the data.
type frames struct {
	header [headerLength]byte
	// have is how many bytes of the header of the frame are known, and left how many of its payload follow.
	have int
	left uint64
	// control: the frame is no data. first: the first byte of its message follows.
	control, first bool
	// channel is the first byte of the message.
	channel byte
	outcome []byte
}

// follow follows the next bytes, and returns how many of them are data.
func (f *frames) follow(p []byte) (data int) {
	for len(p) > 0 {
		if f.left == 0 {
			taken := copy(f.header[f.have:f.need()], p)
			f.have, p = f.have+taken, p[taken:]
			if f.have == f.need() {
				f.begin()
			}
			continue
		}
		taken := int(min(f.left, uint64(len(p)))) //nolint:gosec // not more than len(p)
		if !f.control {
			data += taken
			f.keep(p[:taken])
		}
		f.left, p = f.left-uint64(taken), p[taken:]
	}
	return data
}

// need returns the known length of the header of the frame, in bytes.
func (f *frames) need() int {
	if f.have < headerStart {
		return headerStart
	}
	need := headerStart
	switch f.header[1] & lengthBits {
	case length16:
		need += 2
	case length64:
		need += 8
	}
	if f.header[1]&maskBit != 0 {
		need += 4
	}
	return need
}

// begin begins the payload of a frame whose header is known.
func (f *frames) begin() {
	switch length := f.header[1] & lengthBits; length {
	case length16:
		f.left = uint64(binary.BigEndian.Uint16(f.header[headerStart:]))
	case length64:
		f.left = binary.BigEndian.Uint64(f.header[headerStart:])
	default:
		f.left = uint64(length)
	}
	opcode := f.header[0] & opcodeBits
	f.control = opcode&controlBit != 0
	if !f.control && opcode != 0 {
		f.first = true
	}
	f.have = 0
}

// keep keeps the start of messages of the error channel. Only what servers send is not masked.
func (f *frames) keep(p []byte) {
	if f.first {
		f.channel, f.first, p = p[0], false, p[1:]
	}
	if f.channel == errorChannel {
		f.outcome = append(f.outcome, p[:min(len(p), maxOutcome-len(f.outcome))]...)
	}
}

// outcomeOf returns the outcome of a command: its exit code, or a message why it could not be run. Neither: the stream
// has no outcome.
func outcomeOf(encoded []byte) (code *int32, failure string) {
	status := &metav1.Status{}
	if len(encoded) == 0 || json.Unmarshal(encoded, status) != nil {
		return nil, ""
	}
	if status.Status == metav1.StatusSuccess {
		return new(int32(0)), ""
	}
	if status.Reason == remotecommand.NonZeroExitCodeReason && status.Details != nil {
		for _, cause := range status.Details.Causes {
			number, err := strconv.ParseInt(cause.Message, 10, 32)
			if cause.Type == remotecommand.ExitCodeCauseType && err == nil && number <= math.MaxUint8 {
				return new(int32(number)), ""
			}
		}
	}
	if status.Message == "" {
		return nil, "the cell gives no reason"
	}
	return nil, status.Message
}
