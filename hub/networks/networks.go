// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package networks

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

const (
	// Retry is the delay before a missing network is read again.
	Retry = 10 * time.Second
	// presentFor is how long the answer is cached that a network exists, or that the project does not list its
	// networks.
	presentFor = 10 * time.Minute
	// missingFor is how long the answer is cached that a network does not exist: less than Retry, and enough for
	// several Workloads that name the same network.
	missingFor = Retry / 2
	// unknownFor is how long a failed question is not repeated.
	unknownFor = Retry / 2
	// maxAnswers limits the cached answers.
	maxAnswers = 16384
)

// Networks reports which networks a project lacks. It reads each named network and caches the answer: a watch would
// cost one more for every project with a Workload. Create it with New. It is safe for concurrent use.
type Networks struct {
	kind    schema.GroupVersionKind
	answers *cache.LRUExpireCache
}

// question is about a network of a project. A recreated project has another UID.
type question struct {
	project types.UID
	network types.NamespacedName
}

// New returns Networks of a kind.
func New(kind schema.GroupVersionKind, clock clock.PassiveClock) *Networks {
	return &Networks{kind: kind, answers: cache.NewLRUExpireCacheWithClock(maxAnswers, clock)}
}

// Missing returns the named networks that do not exist in a project. In a project that does not serve the kind, or does
// not let the add-on read it, no network is missing: nothing indicates that networks are needed there. A failed request
// is no answer either.
func (n *Networks) Missing(ctx context.Context, project projects.Project, named []types.NamespacedName) []types.NamespacedName {
	var missing []types.NamespacedName
	for _, network := range named {
		if !n.exists(ctx, project, network) {
			missing = append(missing, network)
		}
	}
	return missing
}

func (n *Networks) exists(ctx context.Context, project projects.Project, network types.NamespacedName) bool {
	key := question{project.UID, network}
	if known, ok := n.answers.Get(key); ok {
		exists, _ := known.(bool)
		return exists
	}
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(n.kind)
	err := project.GetAPIReader().Get(ctx, network, found)
	exists, lifetime := true, presentFor
	switch {
	case err == nil:
	case isNotServed(err):
		log.FromContext(ctx).V(1).Info("Networks are not checked: the project does not serve them, or the add-on may not get them",
			"network", network, "answer", err.Error(), "again", presentFor)
	case apierrors.IsNotFound(err):
		exists, lifetime = false, missingFor
	default:
		log.FromContext(ctx).Info("Cannot ask the project for a network; it is taken to exist", "network", network, "error",
			err.Error(), "again", unknownFor)
		lifetime = unknownFor
	}
	n.answers.Add(key, exists, lifetime)
	return exists
}

// isNotServed reports whether the project cannot answer about the kind.
func isNotServed(err error) bool { return apierrors.IsForbidden(err) || wire.IsUnserved(err) }
