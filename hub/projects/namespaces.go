// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projects

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
)

// Namespaces has the UIDs of namespaces that were read last, of each project until it is disengaged. They prove
// nothing: a namespace may have been recreated since. It is a source of a multicluster controller, and safe for
// concurrent use. A nil Namespaces reads each time.
type Namespaces struct{ Store[*namespaceUIDs] }

// namespaceUIDs are the last UIDs of the namespaces of one project. It is safe for concurrent use.
type namespaceUIDs struct {
	mu   sync.Mutex
	last map[Origin]types.UID
}

// NewNamespaces returns Namespaces without a UID.
func NewNamespaces() *Namespaces {
	return &Namespaces{Store[*namespaceUIDs]{New: func(Engagement) *namespaceUIDs { return &namespaceUIDs{last: map[Origin]types.UID{}} }}}
}

// Guess returns the UID of the origin's namespace that was read last, or reads it. Use it for notes that are proved
// before they are used.
func (n *Namespaces) Guess(ctx context.Context, from Origin, project client.Reader) (types.UID, error) {
	if n != nil {
		if last := n.uidsOf(from).get(from); last != "" {
			return last, nil
		}
	}
	return n.Read(ctx, from, project)
}

// Read reads the UID of the origin's namespace now.
func (n *Namespaces) Read(ctx context.Context, from Origin, project client.Reader) (types.UID, error) {
	uid, err := from.NamespaceUID(ctx, project)
	if err == nil && n != nil {
		n.uidsOf(from).set(from, uid)
	}
	return uid, err
}

// Forget forgets the UID of the origin's namespace, when a deployment is withdrawn. A namespace is deleted after the
// deployments in it, so that the UID of an earlier namespace is seldom guessed.
func (n *Namespaces) Forget(from Origin) {
	if n != nil {
		n.uidsOf(from).set(from, "")
	}
}

func (n *Namespaces) uidsOf(from Origin) *namespaceUIDs {
	return n.Of(multicluster.ClusterName(from.Project))
}

func (u *namespaceUIDs) get(from Origin) types.UID {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last[from]
}

// set stores the UID of a namespace; "": it is forgotten.
func (u *namespaceUIDs) set(from Origin, uid types.UID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if uid == "" {
		delete(u.last, from)
		return
	}
	u.last[from] = uid
}
