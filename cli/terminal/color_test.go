// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// marked shows colours as words.
var marked = strings.NewReplacer("\x1b[1m", "<bold>", "\x1b[31m", "<red>", "\x1b[32m", "<green>", "\x1b[33m", "<yellow>", "\x1b[0m", "</>")

func TestPainter(t *testing.T) {
	for text, want := range map[string]string{
		"DFW  web  2/2 Ready  Available\nORD  web  1/2 Ready": "DFW  web  <green>2/2 Ready</>  Available\n" +
			"ORD  web  <yellow>1/2 Ready</>",
		"web-0  Ready      10.0.0.1":               "web-0  <green>Ready</>      10.0.0.1",
		"web-1  not Ready  ImagePullBackOff":       "web-1  <red>not Ready</>  ImagePullBackOff",
		"Workload  waiting  deleting  gone":        "Workload  <yellow>waiting</>  <yellow>deleting</>  <red>gone</>",
		"web   0/3   DFW":                          "web   <red>0/3</>   DFW",
		"web   0/0   DFW":                          "web   <green>0/0</>   DFW",
		"│  -> consumer: change the image":         "│  <bold>-> consumer:</> change the image",
		"! not updated since 12:00:00Z: no answer": "<red>! not updated since 12:00:00Z: no answer</>",
		"1 of 2 Instances are Ready, 1/2":          "1 of 2 Instances are Ready, 1/2",
		"Unknown":                                  "<red>Unknown</>",
	} {
		var out strings.Builder
		p := &Painter{Out: &out, On: true}
		if n, err := p.Write([]byte(text)); n != len(text) || err != nil || marked.Replace(out.String()) != want {
			t.Errorf("%q: %d, %v, %q, want %q", text, n, err, marked.Replace(out.String()), want)
		}
		out.Reset()
		p.On = false
		if _, err := p.Write([]byte(text)); err != nil || out.String() != text {
			t.Errorf("without colour: %q, %v", out.String(), err)
		}
	}
	closed, failing := errors.New("closed"), &Painter{On: true}
	failing.Out = writerFunc(func([]byte) (int, error) { return 0, closed })
	if _, err := failing.Write([]byte("Ready")); !errors.Is(err, closed) {
		t.Errorf("an error of the output is lost: %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestHasColor: a pipe has no colour unless the user asks for it.
func TestHasColor(t *testing.T) {
	reader, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = reader.Close(), pipe.Close() })
	for choice, want := range map[string]bool{ColorAuto: false, ColorAlways: true, ColorNever: false} {
		if has, err := HasColor(choice, pipe); has != want || err != nil {
			t.Errorf("%s: %v, %v", choice, has, err)
		}
	}
	if _, err := HasColor("on", pipe); err == nil || !strings.Contains(err.Error(), "auto, always, never") {
		t.Errorf("an unknown choice is answered with %v", err)
	}
}
