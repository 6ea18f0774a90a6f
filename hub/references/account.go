// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// accountRetry is the delay before a namespace is requeued if the copies of another namespace are not counted yet.
const accountRetry = time.Second

// account counts the bytes of the copies of an engaged project on the hub. One replica copies the data of a project.
type account struct {
	mu sync.Mutex
	// held are the bytes of each copy, by namespace of the project, and sum is their sum.
	held map[string]map[item]int
	sum  int
	// counted are the namespaces whose copies are counted. complete: all namespaces were, after the engagement; a later
	// one begins without copies.
	counted  map[string]bool
	complete bool
}

// begin replaces the copies of a namespace. A copy from before the engagement counts with the size of its original.
func (a *account) begin(namespace string, copies map[item]int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.held[namespace]
	for i := range before {
		a.sum -= before[i]
	}
	for i, bytes := range copies {
		if known, found := before[i]; found {
			bytes = known
		}
		copies[i] = bytes
		a.sum += bytes
	}
	if delete(a.held, namespace); len(copies) > 0 {
		a.held[namespace] = copies
	}
}

// reserve counts a copy with more bytes, unless the sum would exceed a bound. It returns what the sum would be.
func (a *account) reserve(namespace string, i item, bytes, limit int) (int, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	more := bytes - a.held[namespace][i]
	if more <= 0 {
		return a.sum, true
	}
	if a.sum+more > limit {
		return a.sum + more, false
	}
	a.count(namespace, i, bytes)
	return a.sum, true
}

// record counts a copy as it is on the hub.
func (a *account) record(namespace string, i item, bytes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count(namespace, i, bytes)
}

// count replaces the bytes of a copy. a.mu must be held.
func (a *account) count(namespace string, i item, bytes int) {
	if a.held[namespace] == nil {
		a.held[namespace] = map[item]int{}
	}
	a.sum += bytes - a.held[namespace][i]
	a.held[namespace][i] = bytes
}

// awaits reports whether the copies of a namespace with these deployments are not counted yet, by namespace.
func (a *account) awaits(deployments []v1alpha.WorkloadDeployment) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range deployments {
		d := &deployments[i]
		if d.DeletionTimestamp.IsZero() && !a.counted[d.Namespace] && len(namedBy(d.Spec.Templates())) > 0 {
			return true
		}
	}
	a.complete = true
	return false
}

func (a *account) isComplete() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.complete
}

// end notes that the copies of a namespace are counted.
func (a *account) end(namespace string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counted[namespace] = true
}

// countCopies counts the copies of the namespace that are on the hub.
func (s *scope) countCopies(context.Context) error {
	copies, known := map[item]int{}, len(s.unlisted) == 0
	for i, copied := range s.copies {
		if copies[i] = bytesOf(copied); s.objects[i] != nil {
			copies[i], known = s.objects[i].bytes, known && !s.objects[i].unknown
		}
	}
	s.sources.account.begin(s.namespace, copies)
	if known {
		s.sources.account.end(s.namespace)
	}
	return nil
}

// fits reports whether the copy of an object may have the size of the original. If not, the object gets a finding, and
// the copy stays as it is.
func (s *copier) fits(ctx context.Context, o *object) (bool, error) {
	if s.MaxBytes <= 0 {
		return true, nil
	}
	account := &s.sources.account
	if !account.isComplete() {
		var all v1alpha.WorkloadDeploymentList
		if err := s.project.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
			return false, fmt.Errorf("list the project's deployments: %w", err)
		}
		if account.awaits(all.Items) {
			s.requeueAfter.AtMost(accountRetry)
			return false, nil
		}
	}
	sum, fits := account.reserve(s.namespace, o.item, o.bytes, s.MaxBytes)
	if !fits {
		// No event of this namespace reports that another one has less.
		s.requeueAfter.AtMost(refusedRetry)
		o.finding = finding{bytes: o.bytes, reason: v1alpha.ReasonSourceTooLarge, message: fmt.Sprintf(
			"with %s %s of %d bytes, the objects that the project's Workloads name hold %d bytes together and at most %d are copied to cells; "+
				"make them smaller or name fewer", o.Kind, o.Name, o.bytes, sum, s.MaxBytes)}
	}
	return fits, nil
}
