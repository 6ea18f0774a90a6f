// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// probeSocket is the socket that answers whether an address can be reached from
// inside an isolation.
const probeSocket = "probe"

// Answers of the probe socket; any other is an error.
const (
	probeYes = "yes"
	probeNo  = "no"
)

// Isolation runs a command in its own network namespace, as root or as any user.
// The command reaches only its own loopback. Connections to some addresses are
// forwarded over Unix sockets between that loopback and this machine's. Every
// process in the namespace ends with the process that called Run.
type Isolation struct {
	// Sockets is the folder of the Unix sockets. Their paths may have at most
	// 107 bytes, so it is best given relative to the working directory.
	Sockets string
	// Reach are addresses outside, 127.0.0.1 with a port, that the command can
	// connect to.
	Reach []string
	// Serve are addresses, 127.0.0.1 with a port, that the command listens on
	// and that accept connections from outside.
	Serve []string
	// Machine gives the command mount, PID, IPC and UTS namespaces too, in which it is root of this machine, and a link to
	// this machine. It needs root.
	Machine bool
	// Command is the path of a binary and its arguments.
	Command []string
	Log     *slog.Logger
}

// args returns the arguments with which the federation command calls Run or
// RunInside.
func (i *Isolation) args(inside bool) []string {
	args := []string{"isolate", "--sockets=" + i.Sockets, fmt.Sprintf("--inside=%t", inside), fmt.Sprintf("--machine=%t", i.Machine)}
	for _, address := range i.Reach {
		args = append(args, "--reach="+address)
	}
	for _, address := range i.Serve {
		args = append(args, "--serve="+address)
	}
	return append(append(args, "--"), i.Command...)
}

// forwards returns the forwards of one side. Those inside go from the endpoint
// that those outside go to, and the other way round.
func (i *Isolation) forwards(inside bool) []forward {
	var forwards []forward
	for _, address := range i.Reach {
		f := forward{from: i.socket("reach", address), to: endpoint{"tcp", address}}
		forwards = append(forwards, f.turned(inside))
	}
	for _, address := range i.Serve {
		f := forward{from: endpoint{"tcp", address}, to: i.socket("serve", address)}
		forwards = append(forwards, f.turned(inside))
	}
	return forwards
}

func (f forward) turned(turned bool) forward {
	if turned {
		return forward{from: f.to, to: f.from}
	}
	return f
}

// socket returns the Unix socket that stands for an address.
func (i *Isolation) socket(kind, address string) endpoint {
	_, port, _ := strings.Cut(address, ":")
	return endpoint{"unix", filepath.Join(i.Sockets, kind+"-"+port)}
}

// answerProbe reads an address and answers whether connections to it are
// accepted.
func answerProbe(ctx context.Context, client net.Conn) {
	address, err := bufio.NewReader(client).ReadString('\n')
	if err != nil {
		return
	}
	connection, err := endpoint{"tcp", strings.TrimSpace(address)}.dial(ctx)
	answer := probeYes
	var failed net.Error
	switch {
	case err == nil:
		_ = connection.Close() // nothing was written
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENETUNREACH), errors.As(err, &failed) && failed.Timeout():
		answer = probeNo
	default:
		answer = err.Error()
	}
	_, _ = fmt.Fprintln(client, answer) // the client may be gone
}

// probe reports whether an address accepts connections from inside the isolation
// with these sockets.
func probe(ctx context.Context, sockets, address string) (reached bool, err error) {
	folder, err := os.Open(sockets)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	// The path of the folder may be too long for a socket.
	short := filepath.Join("/proc/self/fd", fmt.Sprint(folder.Fd()), probeSocket)
	connection, err := endpoint{"unix", short}.dial(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = connection.Close() }() // nothing to do about it
	if err := connection.SetDeadline(time.Now().Add(2 * dialTimeout)); err != nil {
		return false, err
	}
	if _, err := fmt.Fprintln(connection, address); err != nil {
		return false, err
	}
	answer, err := io.ReadAll(connection)
	if err != nil {
		return false, err
	}
	switch text := strings.TrimSpace(string(answer)); text {
	case probeYes, probeNo:
		return text == probeYes, nil
	default:
		return false, fmt.Errorf("probe %s: %s", address, text)
	}
}
