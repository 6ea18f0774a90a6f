// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Shell is bash. The blocks of a page run in it one after the other: variables of one block exist in the next.
type Shell struct {
	folder  string
	command *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Reader
}

// prologue records a failed command, as `set -e` does, but does not end the shell.
const prologue = `set -E -o pipefail; trap 'failed=$?' ERR` + "\n"

// kubeconfigs are the names that pages give to the kubeconfigs in variables.
var kubeconfigs = map[string]string{"HOST": "host.kubeconfig", "HUB": "hub.kubeconfig"}

// NewShell starts a shell in a separate folder, with additional variables. It ends with the context.
func NewShell(ctx context.Context, folder string, environment map[string]string) (*Shell, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	for variable, name := range kubeconfigs {
		if path := environment[variable]; path != "" {
			if err := os.Symlink(path, filepath.Join(folder, name)); err != nil && !os.IsExist(err) {
				return nil, err
			}
		}
	}
	s := &Shell{folder: folder, command: exec.CommandContext(ctx, "bash", "--noprofile", "--norc")}
	s.command.Dir, s.command.Env = folder, os.Environ()
	// The shell's child processes end with it.
	s.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.command.Cancel = s.kill
	s.command.WaitDelay = time.Second
	for name, value := range environment {
		s.command.Env = append(s.command.Env, name+"="+value)
	}
	var err error
	if s.in, err = s.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.answers = bufio.NewReader(out)
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	_, err = io.WriteString(s.in, prologue)
	return s, err
}

// kill ends the shell and its child processes.
func (s *Shell) kill() error { return syscall.Kill(-s.command.Process.Pid, syscall.SIGKILL) }

// Run runs commands and returns their output. The error reports that one of them failed. When the context ends before
// they do, so does the shell.
func (s *Shell) Run(ctx context.Context, commands string) (string, error) {
	// An error means that the shell has ended.
	defer context.AfterFunc(ctx, func() { _ = s.kill() })()
	script, output := filepath.Join(s.folder, ".commands"), filepath.Join(s.folder, ".output")
	if err := os.WriteFile(script, []byte(commands), 0o600); err != nil {
		return "", err
	}
	if _, err := io.WriteString(s.in, "failed=0; source ./.commands >.output 2>&1 </dev/null; echo $failed\n"); err != nil {
		return "", fmt.Errorf("the shell has ended: %w", err)
	}
	status, err := s.answers.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the shell has ended: %w", err)
	}
	printed, err := os.ReadFile(output) //nolint:gosec // The shell has written it.
	if status = strings.TrimSpace(status); err == nil && status != "0" {
		err = fmt.Errorf("exit code %s", status)
	}
	return string(printed), err
}

// Close ends the shell and waits for it.
func (s *Shell) Close() error {
	err := errors.Join(s.in.Close(), s.command.Wait())
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		return nil // with the code of the last command
	}
	return err
}
