// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/cli/live"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

// followEvents prints the existing events, and then each new or repeated one, until the user ends it or the Workload is deleted.
// It compares lists of events and does not rely on the events of a watch: after a lost watch no event is missed or printed twice.
func (c *command) followEvents(ctx context.Context, s *session, first *view.Snapshot, out *output) error {
	w, err := c.watchWorkload(ctx, s, first)
	if err != nil {
		return err
	}
	var (
		of      = newSubjects(first)
		printer = c.newEventPrinter(out)
		told    = map[types.UID]string{}
		problem string
	)
	return w.Each(ctx, func(snapshot *view.Snapshot) (bool, error) {
		if err := c.tellProblem(w, &problem); err != nil {
			return false, err
		}
		of.see(snapshot)
		events, err := s.events(ctx, of, w.Events)
		switch {
		case apierrors.IsForbidden(err):
			return false, err
		case err != nil:
			w.Failed(ctx, err)
			return false, nil
		}
		var news []corev1.Event
		for _, e := range events {
			if told[e.UID] != e.ResourceVersion {
				told[e.UID] = e.ResourceVersion
				news = append(news, e)
			}
		}
		if len(news) == 0 {
			return snapshot.Gone(), nil
		}
		return snapshot.Gone(), printer.print(news)
	})
}

// tellProblem prints once, on the error stream, that events may be missing at present, and later that they are complete again.
func (c *command) tellProblem(w *live.Watch, before *string) error {
	now := w.Problem()
	var err error
	switch {
	case now != "" && *before == "":
		_, err = fmt.Fprintln(c.Streams.ErrOut, now)
	case now == "" && *before != "":
		_, err = fmt.Fprintln(c.Streams.ErrOut, "followed again")
	}
	*before = now
	return err
}
