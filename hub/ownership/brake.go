// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

const (
	// massLoss limits how many of the hub's projects may be missing at once: one in massLoss. One project may always be
	// missing: it was deleted.
	massLoss = 10
	// recordRetry is the time between attempts to record Milo's identity at the start.
	recordRetry = 15 * time.Second
)

// Milo answers a Brake's questions about Milo.
type Milo interface {
	// Knows reports whether the watch of the Projects has seen the project with this name and UID, and no deletion of
	// it.
	Knows(name string, uid types.UID) bool
	// Identity returns an identity that remains the same for as long as Milo keeps its storage. It bypasses every
	// cache.
	Identity(ctx context.Context) (types.UID, error)
}

// BrakeOptions configure a Brake.
type BrakeOptions struct {
	// Milo reports its identity, and which projects it has.
	Milo Milo
	// Plane is its name in messages: Milo, or without Milo the hub.
	Plane string
	// Hub reads the hub namespaces from a cache, and writes the record of Milo's identity.
	Hub client.Client
	// APIReader reads the record at the hub's API server.
	APIReader client.Reader
	// Namespace holds the record.
	Namespace string
	// Clock determines whether an operator's release has expired.
	Clock clock.Clock
}

// Brake holds deletions that follow from a project's absence in Milo while Milo itself is in doubt: it has lost its
// storage, it is another Milo, or many projects are missing at once. It counts over all hub namespaces, whichever
// replica owns their projects, so that all replicas decide the same. It is safe for concurrent use.
type Brake struct{ BrakeOptions }

// NewBrake returns a Brake.
func NewBrake(o BrakeOptions) *Brake { return &Brake{BrakeOptions: o} }

// Held returns why deletions for projects that Milo does not have are held now; "": they are not. An error is no
// answer, and holds them as well.
func (b *Brake) Held(ctx context.Context) (reason string, err error) {
	s, err := b.look(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case s.recorded.isReleased(b.Clock.Now()):
	case s.recorded.identity == "" && !s.counted.provesMilo():
		// Without a recorded identity, the operator still needs the record, to annotate it.
		s.identity = ""
		reason = fmt.Sprintf("%s has none of the %d projects with a hub namespace, and its identity was not recorded before",
			b.Plane, s.counted.all)
	case s.recorded.identity != "" && s.recorded.identity != s.identity:
		return fmt.Sprintf("%s has lost its storage, or it is another one: the UID of its namespace default is %s and was %s",
			b.Plane, s.identity, s.recorded.identity), nil
	case s.counted.isMassLoss():
		reason = fmt.Sprintf("%s does not have %d of the %d projects with a hub namespace", b.Plane, s.counted.missing, s.counted.all)
	}
	return reason, b.write(ctx, s.recorded, s.identity)
}

// Start records Milo's identity as soon as Milo has a project of the hub, or the hub has none. It makes the Brake a
// manager's Runnable.
func (b *Brake) Start(ctx context.Context) error {
	logger := log.FromContext(ctx).WithName("ownership")
	for {
		s, err := b.look(ctx)
		if err == nil && s.recorded.identity == "" && s.counted.provesMilo() {
			err = b.write(ctx, s.recorded, s.identity)
			s.recorded.identity = s.identity
		}
		if err == nil && s.recorded.identity != "" {
			if s.recorded.identity != s.identity {
				logger.Info("The API server of the projects has another identity than before: nothing is withdrawn from the hub "+
					"until an operator releases it",
					"identity", s.identity, "before", s.recorded.identity)
			}
			return nil
		}
		if err != nil {
			logger.V(1).Info("The identity of the API server of the projects is not recorded; retrying", "after", recordRetry, "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-b.Clock.After(recordRetry):
		}
	}
}

// NeedLeaderElection reports that every replica runs it.
func (*Brake) NeedLeaderElection() bool { return false }

// sight holds the inputs of a decision.
type sight struct {
	identity types.UID
	recorded record
	counted  count
}

func (b *Brake) look(ctx context.Context) (s sight, err error) {
	if s.identity, err = b.Milo.Identity(ctx); err != nil {
		return s, err
	}
	if s.recorded, err = b.read(ctx); err != nil {
		return s, err
	}
	s.counted, err = b.count(ctx)
	return s, err
}

// count is the number of projects that have objects on the hub, and the number of them that Milo does not have.
type count struct{ all, missing int }

// provesMilo reports whether Milo is the one that the hub works for: no other Milo has a project with the same UID.
func (c count) provesMilo() bool { return c.missing < c.all || c.all == 0 }

func (c count) isMassLoss() bool { return c.missing > 1 && c.missing*massLoss > c.all }

// count counts the projects of the hub. It skips namespaces that an operator has decided to keep or that are being
// withdrawn: they are no longer at risk.
func (b *Brake) count(ctx context.Context) (c count, err error) {
	var namespaces corev1.NamespaceList
	if err := b.Hub.List(ctx, &namespaces, client.HasLabels{v1alpha.LabelProjectUID}, client.UnsafeDisableDeepCopy); err != nil {
		return c, fmt.Errorf("list the hub namespaces: %w", err)
	}
	exists := map[types.UID]bool{}
	for i := range namespaces.Items {
		namespace := &namespaces.Items[i]
		uid, project := types.UID(namespace.Labels[v1alpha.LabelProjectUID]), projects.NameOf(namespace).String()
		if project == "" || !namespace.DeletionTimestamp.IsZero() || namespace.Annotations[v1alpha.AnnotationKeep] != "" || exists[uid] {
			continue
		}
		known, runs := b.Milo.Knows(project, uid), true
		if !known {
			if runs, err = b.hasCopies(ctx, namespace.Name); err != nil {
				return c, err
			}
		}
		if runs {
			exists[uid] = known
		}
	}
	for _, known := range exists {
		if c.all++; !known {
			c.missing++
		}
	}
	return c, nil
}

// hasCopies reports whether a hub namespace has a copy that is not being deleted.
func (b *Brake) hasCopies(ctx context.Context, namespace string) (bool, error) {
	var copies v1alpha.WorkloadDeploymentList
	if err := b.Hub.List(ctx, &copies, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("list the copies in hub namespace %s: %w", namespace, err)
	}
	return slices.ContainsFunc(copies.Items, func(copied v1alpha.WorkloadDeployment) bool { return copied.DeletionTimestamp.IsZero() }), nil
}

const (
	// fieldManager is the field manager of the record.
	fieldManager = client.FieldOwner("karmada-compute-ownership")
	// keyIdentity is the key of Milo's identity in the record.
	keyIdentity = "identity"
	// longestRelease bounds the duration of an operator's release: an unlimited release would disable the brake.
	longestRelease = 24 * time.Hour
)

// record holds the recorded identity of Milo and an operator's release.
type record struct {
	exists bool
	// identity is the identity of the Milo that the hub works for; "": it was not recorded.
	identity types.UID
	// until is when an operator's release ends, as written in the record.
	until string
}

// isReleased reports whether an operator has released the brake.
func (r record) isReleased(now time.Time) bool {
	until, err := time.Parse(time.RFC3339, r.until)
	return err == nil && now.Before(until) && until.Sub(now) <= longestRelease
}

func (b *Brake) read(ctx context.Context) (record, error) {
	found := &corev1.ConfigMap{}
	err := b.APIReader.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: v1alpha.MiloRecordName}, found)
	if apierrors.IsNotFound(err) {
		return record{}, nil
	}
	if err != nil {
		return record{}, fmt.Errorf("read the record of the projects' API server on the hub: %w", err)
	}
	return record{exists: true, identity: types.UID(found.Data[keyIdentity]), until: found.Annotations[v1alpha.AnnotationWithdrawUntil]}, nil
}

// write writes the record.
func (b *Brake) write(ctx context.Context, before record, identity types.UID) error {
	if before.exists && before.identity == identity {
		return nil
	}
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: v1alpha.MiloRecordName}}
	data := map[string]string{keyIdentity: string(identity)}
	var err error
	if before.exists {
		var patch []byte
		if patch, err = json.Marshal(map[string]any{"data": data}); err == nil {
			err = b.Hub.Patch(ctx, stored, client.RawPatch(types.MergePatchType, patch), fieldManager)
		}
	} else {
		stored.Data = data
		err = b.Hub.Create(ctx, stored, fieldManager)
	}
	if err != nil {
		return fmt.Errorf("record the identity of the projects' API server on the hub: %w", err)
	}
	return nil
}
