// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/page"
	"github.com/karmada-compute/karmada-compute/cli/stream"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

const (
	// logTail is the number of last lines with which a log on the page begins.
	logTail int64 = 500
	// logLifetime is how long the page follows a log: the longest time of a session.
	logLifetime = time.Hour
	// logsTimeout bounds the request that finds out whether the user may have logs: webhooks may not answer.
	logsTimeout = 3 * time.Second
)

// Log implements page.Source.
func (b *board) Log(ctx context.Context, asked page.LogRequest) (*page.Log, error) {
	s := b.session()
	if s == nil {
		return nil, errors.New("the API server does not answer; the page continues by itself")
	}
	instance := &v1alpha.Instance{}
	if err := s.Project.Client.Get(ctx, s.Key(asked.Instance), instance); err != nil {
		return nil, err
	}
	container, err := stream.ContainerOf(instance, asked.Container)
	if err != nil {
		return nil, err
	}
	options := &v1alpha.SessionLogOptions{Follow: !asked.Previous, Previous: asked.Previous, TailLines: new(logTail)}
	follow := func(ctx context.Context, out io.Writer) error {
		return stream.ContainerLog{Instance: instance, Container: container}.Copy(ctx, s.Project, options, logLifetime, out)
	}
	return &page.Log{Containers: stream.ContainersOf(instance), Container: container, Follow: follow}, nil
}

// session returns the connection to the project, or nil while it is lost.
func (b *board) session() *command.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.connected == nil {
		return nil
	}
	return b.connected.Session
}

// noLogs returns why the user cannot have logs; "": nothing is known against it. It creates a session as a dry run.
func noLogs(ctx context.Context, s *command.Session) string {
	ctx, cancel := context.WithTimeout(ctx, logsTimeout)
	defer cancel()
	err := stream.TryLog(ctx, s.Project, s.Namespace, logLifetime)
	if !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return ""
	}
	why := err.Error()
	if _, refusal, denied := strings.Cut(why, "denied the request: "); denied {
		why = refusal
	}
	return view.Shortened(why)
}
