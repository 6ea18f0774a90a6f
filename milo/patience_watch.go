// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// patient lists and watches as its source does, and returns when Milo has answered.
type patient struct {
	source   toolscache.ListerWatcherWithContext
	patience *Patience
	// kind is nil unless the source lists LocationBindings. A kind that Milo does not serve is listed as empty: a project without
	// LocationBindings is reconciled as far as possible. No other kind is treated as empty.
	kind *LocationKind

	mu sync.Mutex
	// refused is when Milo refused the first request since it answered one. Zero: it did not.
	refused time.Time
}

var _ toolscache.ListerWatcherWithContext = &patient{}

// List is ListWithContext for callers without a context.
func (l *patient) List(options metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), options)
}

// Watch is WatchWithContext for callers without a context.
func (l *patient) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), options)
}

// ListWithContext lists.
func (l *patient) ListWithContext(ctx context.Context, options metav1.ListOptions) (list runtime.Object, err error) {
	err = l.patience.try(ctx, l.isWorthWaiting, func() error {
		list, err = l.source.ListWithContext(ctx, options)
		return l.answered(err)
	})
	if l.kind.Explains(ctx, err) {
		return &LocationBindingList{}, nil
	}
	return list, err
}

// WatchWithContext starts a watch. A watch that Milo closes at once is the reflector's: it lists again and watches from there.
// That costs it a second, if it has not waited for anything else.
func (l *patient) WatchWithContext(ctx context.Context, options metav1.ListOptions) (events watch.Interface, err error) {
	err = l.patience.try(ctx, l.isWorthWaiting, func() error {
		events, err = l.source.WatchWithContext(ctx, options)
		return l.answered(err)
	})
	// A reflector that cannot stream a list lists.
	if options.SendInitialEvents == nil && l.kind.Explains(ctx, err) {
		return l.kind.await(ctx), nil
	}
	return events, err
}

// answered takes note of an answer.
func (l *patient) answered(err error) error {
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refused = time.Time{}
	}
	return err
}

// isWorthWaiting reports whether a request may succeed if it is retried. Refusals are retried for a limited time only, so that a
// missing role appears in the log.
func (l *patient) isWorthWaiting(err error) bool {
	if !isRefused(err) {
		return isAway(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.patience.clock.Now()
	if l.refused.IsZero() {
		l.refused = now
	}
	return now.Sub(l.refused) < refusedFor
}
