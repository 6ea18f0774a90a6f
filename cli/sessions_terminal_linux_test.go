// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/client-go/tools/remotecommand"
)

// pseudoTerminal is a terminal whose user is a test.
type pseudoTerminal struct {
	*testing.T
	// user is the side of the user, and command the side of the command.
	user, command *os.File
	// shown has the output that the user sees.
	shown *buffer
}

func newTerminal(t *testing.T) *pseudoTerminal {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pseudoTerminal{T: t, user: user, shown: &buffer{}}
	number := 0
	p.control(user, func(fd int) (err error) {
		if number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN); err != nil {
			return err
		}
		return unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	})
	if p.command, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		_, _ = io.Copy(p.shown, user) // the end of a terminal is an error
	}()
	t.Cleanup(func() {
		_, _ = p.user.Close(), p.command.Close()
		<-shown
	})
	return p
}

// control calls a function with the descriptor of a side. Fd would make reads that block, which no Close ends.
func (p *pseudoTerminal) control(side *os.File, do func(fd int) error) {
	p.Helper()
	raw, err := side.SyscallConn()
	if err != nil {
		p.Fatal(err)
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil || failed != nil {
		p.Fatal(err, failed)
	}
}

// resize changes the size of the window.
func (p *pseudoTerminal) resize(columns, rows uint16) {
	p.Helper()
	p.control(p.user, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows})
	})
}

// modes are the local modes of the terminal.
func (p *pseudoTerminal) modes() (modes uint32) {
	p.Helper()
	p.control(p.user, func(fd int) error {
		state, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			modes = state.Lflag
		}
		return err
	})
	return modes
}

// received holds the input of a container from a terminal.
type received struct {
	query string
	sizes chan remotecommand.TerminalSize
	keys  chan string
}

// ServeHTTP answers for a container that reads four keys.
func (c *received) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.query = r.URL.RawQuery
	streams, connection := openCommand(w, r)
	if streams == nil {
		return
	}
	defer func() { _ = connection.Close() }()
	go func() {
		for decoder := json.NewDecoder(streams[4]); ; {
			var size remotecommand.TerminalSize
			if decoder.Decode(&size) != nil {
				return
			}
			c.sizes <- size
		}
	}()
	fmt.Fprint(streams[1], "ready\n")
	keys := make([]byte, 4)
	_, _ = io.ReadFull(streams[0], keys)
	c.keys <- string(keys)
	succeed(streams)
}

// awaitSize waits until the container has a size. Until then it repeats the signal of the kernel, which goes to the
// foreground of the terminal, where tests are not.
func (c *received) awaitSize(t *testing.T, columns, rows uint16) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case size := <-c.sizes:
			if size.Width == columns && size.Height == rows {
				return
			}
		case <-ticker.C:
			if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
				t.Fatal(err)
			}
		case <-ctx.Done():
			t.Fatalf("the container does not get the size %dx%d", columns, rows)
		}
	}
}

// TestTerminal verifies that a command in a terminal gets the size of the window and its changes, and every key
// unchanged, and that the terminal is restored at its end.
func TestTerminal(t *testing.T) {
	f := newFixture(t)
	f.reachable()
	container := &received{sizes: make(chan remotecommand.TerminalSize, 100), keys: make(chan string, 1)}
	f.serveSessions(container)
	terminal := newTerminal(t)
	terminal.resize(77, 33)
	before := terminal.modes()
	ended := make(chan result, 1)
	go func() {
		ended <- f.call(call{config: f.Config(), terminal: terminal.command}, "exec", "web-texas-dfw-0", "-it", "--", "sh")
	}()
	container.awaitSize(t, 77, 33)
	terminal.resize(100, 40)
	container.awaitSize(t, 100, 40)
	f.printed(terminal.shown, regexp.MustCompile("ready\n"))
	// A terminal that is not raw would interrupt this process, end the input, and change the end of the line.
	const keys = "\x03\x04a\r"
	if _, err := terminal.user.WriteString(keys); err != nil {
		t.Fatal(err)
	}
	if got := <-container.keys; got != keys {
		t.Errorf("the container gets %q", got)
	}
	if r := <-ended; r.code != 0 || r.err != nil {
		t.Errorf("exit code %d, %v", r.code, r.err)
	}
	if after := terminal.modes(); after != before {
		t.Errorf("the terminal had modes %#x, and has %#x", before, after)
	}
	if !strings.Contains(container.query, "tty=true") || !strings.Contains(container.query, "stderr=false") {
		t.Errorf("the cell is asked for %s", container.query)
	}
}
