// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// endDelay is how long a child may take to end before it is killed.
const endDelay = 5 * time.Second

// child is a process of this binary that runs a hidden subcommand. It reports in lines on its standard output, gets commands
// in lines on its standard input, and ends when that is closed. So nothing is left running when this process is killed.
type child struct {
	name  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	stop  context.CancelFunc
	once  sync.Once
	err   error
}

// startChild starts a hidden subcommand. env is added to the environment. The child ends when ctx does.
func startChild(ctx context.Context, errOut io.Writer, env []string, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program, to start it again: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, self, args...) //nolint:gosec // This program, with its own arguments.
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = errOut
	cmd.WaitDelay = endDelay
	c := &child{name: args[0], cmd: cmd, stop: stop, lines: make(chan string, 1)}
	out, err := c.start()
	if err != nil {
		stop()
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	go func() {
		defer close(c.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			c.lines <- scanner.Text()
		}
	}()
	return c, nil
}

func (c *child) start() (io.Reader, error) {
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return out, c.cmd.Start()
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// errEnded says that a child ended before the expected line.
var errEnded = errors.New("it ended too early; what it wrote is above")

// expect waits for a line that begins with a word, and returns the rest. Other lines are passed to other, if it is not nil.
func (c *child) expect(ctx context.Context, word string, other func(line string)) (string, error) {
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case line, ok := <-c.lines:
			if !ok {
				return "", fmt.Errorf("%s: %w", c.name, errEnded)
			}
			if first, rest, _ := strings.Cut(line, " "); first == word {
				return rest, nil
			}
			if other != nil {
				other(line)
			}
		}
	}
}

// tell sends a line.
func (c *child) tell(line string) error {
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		return fmt.Errorf("%s: %w: %w", c.name, errEnded, err)
	}
	return nil
}

// end closes the input of the child, and kills it if it does not end. It may be called again.
func (c *child) end() error {
	c.once.Do(func() {
		kill := time.AfterFunc(endDelay, c.stop)
		defer kill.Stop()
		defer c.stop()
		c.err = c.in.Close()
		// The child must not block on a line that is not read.
		for range c.lines {
			continue
		}
		var exit *exec.ExitError
		if err := c.cmd.Wait(); err != nil && !errors.As(err, &exit) {
			c.err = errors.Join(c.err, fmt.Errorf("end %s: %w", c.name, err))
		}
	})
	return c.err
}

// kill ends the child at once.
func (c *child) kill() error {
	c.stop()
	err := c.end()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// parent runs in the child. It returns the parent's lines, and a context that ends with the parent.
func parent(ctx context.Context, in io.Reader) (context.Context, <-chan string, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	lines := make(chan string)
	go func() {
		defer cancel()
		for scanner := bufio.NewScanner(in); scanner.Scan(); {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, lines, cancel
}
