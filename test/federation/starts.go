// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// start is the time from the launch of a process until it was ready, or had failed to become so.
type start struct {
	Begin, End time.Time
}

// startsFile holds the starts of a process, one JSON object each. It is a file because Milo's process starts
// kube-apiservers too.
func (f *Federation) startsFile(name string) string {
	return filepath.Join(f.folder, "log", name+".starts")
}

// noteStart records a start that ends now.
func (f *Federation) noteStart(name string, begin time.Time) (err error) {
	file, err := os.OpenFile(f.startsFile(name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("record the start of %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return json.NewEncoder(file).Encode(start{Begin: begin, End: time.Now()})
}

// starts returns the recorded starts of a process, oldest first.
func (f *Federation) starts(name string) ([]start, error) {
	file, err := os.Open(f.startsFile(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read from
	var starts []start
	for decoder := json.NewDecoder(file); ; {
		var s start
		if err := decoder.Decode(&s); errors.Is(err, io.EOF) {
			return starts, nil
		} else if err != nil {
			return nil, fmt.Errorf("starts of %s: %w", name, err)
		}
		starts = append(starts, s)
	}
}

// during reports whether a time is within the start.
func (s start) during(t time.Time) bool { return !t.Before(s.Begin) && !t.After(s.End) }
