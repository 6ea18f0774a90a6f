// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sessions has the sentences about logs, commands and ports of Instances, which a consumer uses with the
// kubeconfig of a project.
package sessions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/steps/commands"
	"github.com/karmada-compute/karmada-compute/test/steps/containers"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// Steps holds the scenario for the sentences about sessions.
type Steps struct{ *world.Scenario }

func from(ctx context.Context) Steps { return Steps{world.From(ctx)} }

// state is the state that the sentences of a scenario share.
type state struct {
	// ran is the command that the consumer started last.
	ran *running
}

func (s Steps) state() *state { return world.State[state](s.Scenario) }

// Register adds the sentences about logs, commands and ports of Instances, which a consumer uses with the kubeconfig of
// a project.
func Register(sc world.Sentences) {
	sc.Step(`^the operator offers sessions$`, func(ctx context.Context) error { return from(ctx).offerSessions(ctx) })
	sc.Step(`^the consumer runs "([^"]*)"(?: with input "([^"]*)")?$`, func(ctx context.Context, command, input string) error {
		s := from(ctx)
		started, err := s.startCommand(ctx, command, input)
		if err != nil {
			return err
		}
		<-started.done
		s.state().ran = started
		return nil
	})
	sc.Step(`^the consumer runs "([^"]*)" until it prints "([^"]*)"$`, func(ctx context.Context, command, text string) error {
		s := from(ctx)
		return world.Eventually(ctx, func(ctx context.Context) error {
			started, err := s.startCommand(ctx, command, "")
			if err != nil {
				return err
			}
			<-started.done
			return errors.Join(started.printed(text), started.code(0))
		})
	})
	sc.Step(`^the consumer starts "([^"]*)"$`, func(ctx context.Context, command string) error {
		s := from(ctx)
		started, err := s.startCommand(context.WithoutCancel(ctx), command, "")
		s.state().ran = started
		return err
	})
	sc.Step(`^the command prints "([^"]*)"$`, func(ctx context.Context, text string) error {
		s := from(ctx)
		return world.Eventually(ctx, func(context.Context) error { return s.state().ran.printed(s.Expand(text)) })
	})
	sc.Step(`^the command (?:ends|has ended) with exit code (\d+)$`, func(ctx context.Context, code int) error {
		s := from(ctx)
		return world.Eventually(ctx, func(context.Context) error { return s.state().ran.code(code) })
	})
	sc.Step(`^the command has printed (\d+) lines$`, func(ctx context.Context, wanted int) error {
		if out := from(ctx).state().ran.out.String(); strings.Count(out, "\n") != wanted {
			return fmt.Errorf("it has printed %q", out)
		}
		return nil
	})
	sc.Step(`^the command prints (\d+) more lines of the log, each once and in order$`, func(ctx context.Context, more int) error {
		s := from(ctx)
		before := strings.Count(s.state().ran.out.String(), "\n")
		return world.Eventually(ctx, func(context.Context) error { return s.state().ran.inOrder(before + more) })
	})
	sc.Step(`^the forwarded port answers "([^"]*)"$`, func(ctx context.Context, text string) error {
		s := from(ctx)
		return world.Eventually(ctx, func(ctx context.Context) error {
			found := forwarding.FindStringSubmatch(s.state().ran.out.String())
			if found == nil {
				return errors.Join(errors.New("the command names no address"), s.state().ran.printed("Forwarding from"))
			}
			answer, err := containers.Call(ctx, http.MethodGet, "http://"+found[1]+"/")
			if err == nil && strings.TrimSpace(answer) != text {
				err = fmt.Errorf("it answers %q", answer)
			}
			return err
		})
	})
	sc.Step(`^the page follows the log of Instance "([^"]*)"$`, func(ctx context.Context, instance string) error {
		return from(ctx).followOnPage(ctx, instance)
	})
	sc.Step(`^the command is interrupted$`, func(ctx context.Context) error { return from(ctx).state().ran.interrupt() })
}

// offerSessions enables sessions until the scenario ends.
func (s Steps) offerSessions(ctx context.Context) error {
	configure := func(ctx context.Context, on bool) error {
		return s.AddOn.Configure(ctx, func(o *federation.AddOnOptions) { o.Sessions = on })
	}
	s.Disturbed.Add("sessions", func(ctx context.Context) error { return configure(ctx, false) })
	return configure(ctx, true)
}

// pageAddress is the address that `kubectl compute ui` prints.
var pageAddress = regexp.MustCompile(`http://127\.0\.0\.1:\S+/`)

// followOnPage requests the log of an Instance from the page of the started command, as a browser does, until the page
// has read the project. The answer is added to the output of the command.
func (s Steps) followOnPage(ctx context.Context, instance string) error {
	ran, ctx := s.state().ran, context.WithoutCancel(ctx)
	return world.Eventually(ctx, func(context.Context) error {
		address := pageAddress.FindString(ran.out.String())
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"log?instance="+instance, http.NoBody)
		if err != nil || address == "" {
			return errors.Join(err, ran.printed("http://"))
		}
		response, err := http.DefaultClient.Do(request) //nolint:bodyclose // it is closed when the log has ended
		if err != nil {
			return err
		}
		log := bufio.NewReader(response.Body)
		if first, err := log.ReadString('\n'); err != nil || !strings.Contains(first, `"containers"`) {
			return errors.Join(fmt.Errorf("the page answers %q", first), err, response.Body.Close())
		}
		go func() {
			_, _ = io.Copy(&ran.out, log) // it ends with the command
			_ = response.Body.Close()
		}()
		return nil
	})
}

// running is a command with its output so far.
type running struct {
	cmd         *exec.Cmd
	done        chan struct{}
	out, errors world.Buffer
}

// startCommand starts a command as the consumer, with only a kubeconfig of the scenario's project.
func (s Steps) startCommand(ctx context.Context, command, input string) (*running, error) {
	environment, err := commands.In(s.Scenario).PageEnvironment(ctx)
	if err != nil {
		return nil, err
	}
	r := &running{cmd: exec.CommandContext(ctx, "bash", "-c", "exec "+s.Expand(command)), done: make(chan struct{})}
	r.cmd.Env = append(os.Environ(), "PATH="+environment["PATH"], "KUBECONFIG="+environment["KUBECONFIG"])
	r.cmd.Stdin = strings.NewReader(input)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.errors
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	s.Made.Add("command "+command, func(context.Context) error {
		// A command that has ended no longer exists.
		_ = r.cmd.Process.Kill()
		<-r.done
		return nil
	})
	go func() {
		defer close(r.done)
		_ = r.cmd.Wait() // the error is the exit code
	}()
	return r, nil
}

// printed returns an error unless the command has printed a text, to either output.
func (r *running) printed(text string) error {
	if !strings.Contains(r.out.String(), text) && !strings.Contains(r.errors.String(), text) {
		return fmt.Errorf("it has printed %q and, to the other output, %q", ending(r.out.String()), ending(r.errors.String()))
	}
	return nil
}

func ending(text string) string { return text[max(0, len(text)-1000):] }

// code returns an error unless the command has ended with an exit code.
func (r *running) code(wanted int) error {
	select {
	case <-r.done:
	default:
		return errors.New("the command has not ended")
	}
	if got := r.cmd.ProcessState.ExitCode(); got != wanted {
		return fmt.Errorf("it has ended with exit code %d: %q, %q", got, ending(r.out.String()), ending(r.errors.String()))
	}
	return nil
}

// numbered is a line of a log, as a command prints it, or as the page receives it.
var numbered = regexp.MustCompile(`(?m) line (\d+)(?:"})?$`)

// inOrder returns an error unless the command has printed at least this number of lines, and the numbered ones are
// consecutive.
func (r *running) inOrder(lines int) error {
	text := r.out.String()
	if got := strings.Count(text, "\n"); got < lines {
		return fmt.Errorf("it has printed %d lines: %q, %q", got, ending(text), r.errors.String())
	}
	last := 0
	for _, found := range numbered.FindAllStringSubmatch(text, -1) {
		number, err := strconv.Atoi(found[1])
		if err != nil || last > 0 && number != last+1 {
			return fmt.Errorf("after line %d it has printed line %s", last, found[1])
		}
		last = number
	}
	if last == 0 {
		return fmt.Errorf("no line has a number: %q", ending(text))
	}
	return nil
}

// forwarding is the line with the local address of a port.
var forwarding = regexp.MustCompile(`Forwarding from (\S+) -> `)

// interrupt does what Ctrl-C does.
func (r *running) interrupt() error { return r.cmd.Process.Signal(syscall.SIGINT) }
