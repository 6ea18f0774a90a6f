// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// probeInterval is the interval of the requests to Milo's root while Milo is unavailable. No other requests are sent
	// then.
	probeInterval = time.Second
	// probeTimeout bounds such a question.
	probeTimeout = 5 * time.Second
	// firstRetry and lastRetry bound the time between requests to a control plane that does not answer although Milo's
	// root does.
	firstRetry = 250 * time.Millisecond
	lastRetry  = 2 * time.Second
	// refusedFor is the time for which 401 and 403 are retried: a Milo that has just started refuses requests before it
	// has loaded its roles.
	refusedFor = time.Minute
	// spreadPerRequest and spreadMost spread the requests that have waited for Milo: 500 a second, or all of them in 5 s.
	spreadPerRequest = 2 * time.Millisecond
	spreadMost       = 5 * time.Second
)

// Patience lets the informers of a process wait for an unavailable Milo, and start as soon as it answers. A reflector
// that receives an error backs off by itself, up to a minute after a long outage, each one separately. Patience hides
// the errors: lists and watches return when they have an answer.
//
// While Milo's root is unavailable, one of the waiters sends it one request a second, whatever the number of waiters.
// Patience is safe for concurrent use.
type Patience struct {
	root  client.Reader
	clock clock.Clock
	log   logr.Logger
	kind  *LocationKind

	// mu guards the fields below. It is never held during a request.
	mu sync.Mutex
	// outage is nil while Milo's root answers.
	outage *outage
	// seen is when Milo's root answered last.
	seen time.Time
}

// outage is a time in which Milo's root does not answer.
type outage struct {
	began time.Time
	// over is closed at its end.
	over chan struct{}
	// waiting is how many requests wait for the end.
	waiting int
	// real is false if Milo's root answered the first question: then a request failed for another reason. It is set before
	// over is closed.
	real bool
	// stop ends the questions to Milo's root.
	stop context.CancelFunc
}

// PatienceOptions configure a Patience.
type PatienceOptions struct {
	// Root is the configuration for Milo's root.
	Root *rest.Config
	// Clock is the time between requests.
	Clock clock.Clock
	// Log gets the beginning and the end of an outage.
	Log logr.Logger
	// LocationKind reports whether Milo serves LocationBindings. Nil: Milo serves them.
	LocationKind *LocationKind
}

// NewPatience creates a Patience. It sends no request before one fails.
func NewPatience(o PatienceOptions) (*Patience, error) {
	root, err := newRootClient(o.Root)
	if err != nil {
		return nil, err
	}
	return &Patience{root: root, clock: o.Clock, log: o.Log, kind: o.LocationKind}, nil
}

// newRootClient creates a client for the Projects at Milo's root, without a cache. It sends no request.
func newRootClient(root *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("build the scheme: %w", err)
	}
	planes, err := newRemote(root, scheme)
	if err != nil {
		return nil, err
	}
	return planes.Root(), nil
}

// NewInformer creates an informer that waits for Milo. It is for cache.Options.
func (p *Patience) NewInformer(
	source toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers,
) toolscache.SharedIndexInformer {
	waiting := &patient{source: toolscache.ToListerWatcherWithContext(source), patience: p}
	if _, ofLocations := example.(*LocationBinding); ofLocations {
		waiting.kind = p.kind
	}
	return toolscache.NewSharedIndexInformer(waiting, example, resync, indexers)
}

// try sends a request until it is answered, gives an error that is not worth waiting for, or ctx ends.
func (p *Patience) try(ctx context.Context, isWorthWaiting func(error) bool, send func() error) error {
	wait := firstRetry
	for {
		if _, err := p.awaitRoot(ctx, false); err != nil {
			return err
		}
		err := send()
		if err == nil || ctx.Err() != nil || !isWorthWaiting(err) {
			return err
		}
		waited, awaitErr := p.awaitRoot(ctx, true)
		if awaitErr != nil {
			return errors.Join(err, awaitErr)
		}
		if waited {
			wait = firstRetry
			continue
		}
		if err := p.sleep(ctx, wait/2+rand.N(wait/2)); err != nil { //nolint:gosec // jitter.
			return err
		}
		wait = min(2*wait, lastRetry)
	}
}

// awaitRoot returns when Milo's root answers, or with an error when ctx ends. doubt reports that a request has just
// failed: the root is asked then, unless it answered a moment ago. waited reports that Milo was unavailable meanwhile.
func (p *Patience) awaitRoot(ctx context.Context, doubt bool) (waited bool, err error) {
	p.mu.Lock()
	current := p.outage
	if current == nil {
		if !doubt || p.clock.Since(p.seen) < probeInterval {
			p.mu.Unlock()
			return false, nil
		}
		asking, stop := context.WithCancel(context.WithoutCancel(ctx))
		current = &outage{began: p.clock.Now(), over: make(chan struct{}), stop: stop}
		p.outage = current
		go p.askUntilAnswered(asking, current)
	}
	current.waiting++
	p.mu.Unlock()
	select {
	case <-ctx.Done():
		p.leave(current)
		return true, ctx.Err()
	case <-current.over:
	}
	if !current.real {
		return false, nil
	}
	// The number does not change after the end.
	spread := min(time.Duration(current.waiting)*spreadPerRequest, spreadMost)
	return true, p.sleep(ctx, rand.N(spread)) //nolint:gosec // jitter.
}

// leave is called for a request that does not wait for the end of an outage. Without waiters, no probes are sent.
func (p *Patience) leave(o *outage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outage != o {
		return
	}
	if o.waiting--; o.waiting == 0 {
		o.stop()
		p.outage = nil
	}
}

// askUntilAnswered asks Milo's root until it answers, and ends the outage.
func (p *Patience) askUntilAnswered(ctx context.Context, o *outage) {
	defer o.stop()
	for said := false; ; {
		err := p.ask(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			p.end(o, said)
			return
		}
		if !said {
			said = true
			p.log.Info("Milo's root does not answer; watches wait for it", "error", err.Error())
		}
		if p.sleep(ctx, probeInterval/2+rand.N(probeInterval)) != nil { //nolint:gosec // jitter.
			return
		}
	}
}

// ask sends one request to Milo's root. An answer is a Project or a 404; 401 and 403 are not, since a starting Milo
// refuses every request.
func (p *Patience) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	_, _, err := getProject(ctx, p.root, probeProject)
	return err
}

// end ends an outage.
func (p *Patience) end(o *outage, said bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outage != o {
		return
	}
	p.outage, p.seen, o.real = nil, p.clock.Now(), said
	close(o.over)
	if said {
		p.log.Info("Milo's root answers again; watches start", "after", p.seen.Sub(o.began), "watches", o.waiting)
	}
}

func (p *Patience) sleep(ctx context.Context, duration time.Duration) error {
	timer := p.clock.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C():
		return nil
	}
}

// isAway reports whether an error means that Milo does not answer now: no connection, an error of the server, or 429.
func isAway(err error) bool {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		// A reflector handles a resource version that is too large, as returned by an API server that was restored from a
		// backup.
		isAhead := apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
		return !isAhead && (status.Status().Code >= http.StatusInternalServerError || apierrors.IsTooManyRequests(err))
	}
	unsent, network := (*url.Error)(nil), net.Error(nil)
	return errors.As(err, &unsent) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// isRefused reports whether Milo does not know the caller or its role.
func isRefused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}

// patient lists and watches as its source does, and returns when Milo has answered.
type patient struct {
	source   toolscache.ListerWatcherWithContext
	patience *Patience
	// kind is nil unless the source lists LocationBindings. A kind that Milo does not serve is listed as empty: a project
	// without LocationBindings is reconciled as far as possible. No other kind is treated as empty.
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

// WatchWithContext starts a watch. A watch that Milo closes at once is the reflector's: it lists again and watches from
// there. That costs it a second, if it has not waited for anything else.
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

// isWorthWaiting reports whether a request may succeed if it is retried. Refusals are retried for a limited time only,
// so that a missing role appears in the log.
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
