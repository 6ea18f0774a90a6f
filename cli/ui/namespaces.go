// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/page"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

const (
	// boardLinger is how long a board stays after the last request of a page, while pages show other namespaces. A page asks
	// again at once, or after a failure within some seconds.
	boardLinger = 5 * time.Second
	// mostBoards is the number of namespaces that pages show at once.
	mostBoards = 8
)

// boards has a board for each namespace that a page shows: two pages may show two namespaces.
type boards struct {
	*command.Command
	// ctx ends all boards, and system is the namespace of the add-on on the hub, for operators.
	ctx    context.Context
	system string
	linger time.Duration

	mu   sync.Mutex
	open map[string]*openBoard
}

// openBoard is a board that runs.
type openBoard struct {
	*board
	end context.CancelFunc
	// requests is the number of requests in progress, and idle ends the board some time after the last one.
	requests int
	idle     *time.Timer
}

func newBoards(ctx context.Context, c *command.Command, system string) *boards {
	return &boards{Command: c, ctx: ctx, system: system, linger: boardLinger, open: map[string]*openBoard{}}
}

// of returns the board of a namespace. It implements page.Open.
func (b *boards) of(namespace string) (source page.Source, leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.open[namespace]
	if found == nil {
		for _, other := range b.open {
			if other.requests == 0 {
				other.idle.Reset(b.linger)
			}
		}
		if len(b.open) >= mostBoards {
			full := newBoard(b.Command, namespace)
			full.lose(fmt.Errorf("pages show %d namespaces, which is the maximum: close one of them", mostBoards))
			return full, func() {}
		}
		ctx, end := context.WithCancel(b.ctx)
		found = &openBoard{board: newBoard(b.Command, namespace), end: end}
		found.idle = time.AfterFunc(b.linger, func() { b.endIdle(namespace) })
		b.open[namespace] = found
		found.begin(ctx, b.system)
	}
	found.idle.Stop()
	found.requests++
	return found.board, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if found.requests--; found.requests == 0 {
			found.idle.Reset(b.linger)
		}
	}
}

// endIdle ends a board that no page shows. The last one stays, so that the next page finds its state read.
func (b *boards) endIdle(namespace string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if found := b.open[namespace]; found != nil && found.requests == 0 && len(b.open) > 1 {
		found.end()
		delete(b.open, namespace)
	}
}

// missingError reports that a namespace does not exist.
type missingError struct{ namespace string }

func (e *missingError) Error() string { return fmt.Sprintf("namespace %q does not exist", e.namespace) }

// offer reads which namespaces the user may choose: the first ones that hold no copies on a hub. The API server selects them, so that
// copies do not take the places of others.
func (b *board) offer(ctx context.Context, s *command.Session) error {
	if s.Project == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, boardTimeout)
	defer cancel()
	noCopies, err := labels.Parse("!" + v1alpha.LabelProjectUID)
	if err != nil {
		return err
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	if err := s.Project.Client.List(ctx, list, client.Limit(page.MostNamespaces),
		client.MatchingLabelsSelector{Selector: noCopies}); err != nil && !view.IsHidden(err) {
		return fmt.Errorf("list namespaces: %w", err)
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.namespaces = names
	return nil
}

// exists returns an error if the namespace does not exist. It returns nil if the user may not find out.
func exists(ctx context.Context, s *command.Session) error {
	present := &metav1.PartialObjectMetadata{}
	present.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	switch err := s.Project.Client.Get(ctx, client.ObjectKey{Name: s.Namespace}, present); {
	case err == nil, view.IsHidden(err):
		return nil
	case apierrors.IsNotFound(err):
		return &missingError{s.Namespace}
	default:
		return fmt.Errorf("read namespace %s: %w", s.Namespace, err)
	}
}
