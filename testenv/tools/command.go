// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// flags are the common flags of all go commands. With -trimpath, tool modules and checkouts share compiled packages.
	flags = "-mod=readonly -buildvcs=false -trimpath"
	// collect is GOGC of the compilers: collecting garbage less often saves a third of their time. limit is their
	// GOMEMLIMIT, which bounds the additional memory.
	collect, limit = "400", "2GiB"
)

// command returns a go command that runs in folder.
func command(ctx context.Context, folder string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOFLAGS="+flags, "GOWORK=off", "GOGC="+collect, "GOMEMLIMIT="+limit)
	// The kernel interrupts the command when this process is killed; otherwise it would compile for minutes more.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT}
	cmd.WaitDelay = 5 * time.Second // compilers started by a killed go command keep its output open
	return cmd
}

// output runs a go command and returns its trimmed output.
func output(ctx context.Context, folder string, args ...string) (string, error) {
	cmd := command(ctx, folder, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return "", failure(cmd, err, errOut.String())
	}
	return strings.TrimSpace(out.String()), nil
}

func failure(cmd *exec.Cmd, err error, output string) error {
	return fmt.Errorf("%s in %s: %w\n%s", strings.Join(cmd.Args, " "), cmd.Dir, err, output)
}

// compilation is a go build that counts downloaded modules and compiled packages.
type compilation struct {
	// module is the folder of the module, and folder the folder of the binaries.
	module, folder string
	// tags are build tags, separated by commas, and variables are flags of the linker.
	tags, variables string

	packages []string

	downloaded, compiled atomic.Int64
	// total is the number of packages in the build, 0 while it is unknown.
	total atomic.Int64
}

// String describes the progress.
func (c *compilation) String() string {
	switch compiled, total := c.compiled.Load(), c.total.Load(); {
	case compiled > 0 && total >= compiled:
		return fmt.Sprintf("%d of %d packages compiled", compiled, total)
	case compiled > 0:
		return fmt.Sprintf("%d packages compiled", compiled)
	default:
		return fmt.Sprintf("%d modules downloaded", c.downloaded.Load())
	}
}

// run builds the main packages into the folder.
func (c *compilation) run(ctx context.Context) error {
	go c.count(ctx)
	args := []string{"build", "-v", "-tags", c.tags, "-ldflags", "-s -w" + c.variables, "-o", c.folder + string(filepath.Separator)}
	cmd := command(ctx, c.module, slices.Concat(args, vendored(c.module), c.packages)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return failure(cmd, err, "")
	}
	said, readErr := c.follow(stderr)
	if err := errors.Join(cmd.Wait(), readErr); err != nil {
		return failure(cmd, err, said)
	}
	return nil
}

// follow counts downloads and compiled packages in the output of go build -v and returns the other lines, which are
// errors.
func (c *compilation) follow(stderr io.Reader) (string, error) {
	var rest strings.Builder
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "go: downloading "):
			c.downloaded.Add(1)
		case !strings.ContainsAny(line, " :#\t"):
			c.compiled.Add(1) // -v prints the path of each package
		default:
			rest.WriteString(line + "\n")
		}
	}
	return rest.String(), lines.Err()
}

// count sets total. It ignores errors: total is only shown as progress.
func (c *compilation) count(ctx context.Context) {
	listed, err := output(ctx, c.module, slices.Concat([]string{"list", "-tags", c.tags, "-deps"}, vendored(c.module), c.packages)...)
	if err == nil {
		c.total.Store(int64(strings.Count(listed, "\n") + 1))
	}
}
