// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"io"
	"net/url"
	"syscall"

	"k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/utils/exec"
)

// Exit codes in addition to 0, and 1 for an error. cmd/util.CheckErr of kubectl ends the process with them.
const (
	// exitNotReady: the command succeeded, and the object that it examined is not Ready.
	exitNotReady = 2
	// exitInterrupted is the exit code of a process that SIGINT ends.
	exitInterrupted = 130
)

// ended is an error that ends the process without a message.
func ended(code int) error { return exec.CodeExitError{Err: errors.New(""), Code: code} }

// ErrNotReady ends the process without a message: the command succeeded, and the object that it examined is not Ready.
var ErrNotReady = ended(exitNotReady)

// Tell converts errors to what users of kubectl expect: an interruption is silent, a closed pipe is not an error, and
// the message names a control plane that cannot be reached.
func Tell(ctx context.Context, err error) error {
	var unreached *url.Error
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return nil
	case ctx.Err() != nil:
		return ended(exitInterrupted)
	case errors.As(err, &unreached):
		if message, known := util.StandardErrorMessage(unreached); known {
			return errors.New(message)
		}
	}
	return err
}
