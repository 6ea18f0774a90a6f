// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// labelUser is a hash of the user of a grant.
	labelUser = "compute.datumapis.com/session-user"
	// dataGrant and dataUsed are the keys of a grant's ConfigMap.
	dataGrant = "grant"
	dataUsed  = "used"
	// maxGrantBytes bounds a grant: the groups and extras of a user have no bound of their own.
	maxGrantBytes = 128 << 10
	// pageSize is how many grants are listed at once.
	pageSize = 500
)

// Grant is a session that admission has granted and its project has stored. It is never changed. Streams are served for
// the grant: other clients can write the objects that a project has stored.
type Grant struct {
	// Project and ProjectUID identify the project, and Namespace, Name and UID the session in it.
	Project    string    `json:"project"`
	ProjectUID types.UID `json:"projectUID"`
	Namespace  string    `json:"namespace"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
	// User created the session.
	User authenticationv1.UserInfo `json:"user"`
	// Spec is the session's.
	Spec v1alpha.InstanceSessionSpec `json:"spec"`
	// Expires is when the session ends.
	Expires time.Time `json:"expires"`

	// version is the version of the stored object.
	version string
	// used: the one stream of the grant was served.
	used bool
}

// Limits bound the sessions that exist at the same time.
type Limits struct {
	// PerUser and PerProject are of one project.
	PerUser, PerProject int
	// Streams is how many streams a replica carries.
	Streams int
}

// Errors of Grants.
var (
	// ErrTooMany: the session would exceed a limit.
	ErrTooMany = errors.New("too many sessions")
	// errUnknown: no such grant exists.
	errUnknown = errors.New("unknown session")
	// errUsed: the one stream of a grant was served already.
	errUsed = errors.New("the session was used already")
)

// Grants are the grants on the hub. They are safe for concurrent use.
type Grants struct {
	// Hub reads and writes the hub, past any cache.
	Hub client.WithWatch
	// Namespace on the hub has the grants and nothing else.
	Namespace string
	// Limits are checked before a grant is recorded. Replicas that record at the same time may exceed them.
	Limits Limits
	// Clock is the time of expiry.
	Clock clock.PassiveClock
}

// Record records a grant. One that exists is never changed. The error wraps ErrTooMany at a limit.
func (g *Grants) Record(ctx context.Context, grant *Grant) error {
	encoded, err := g.check(ctx, grant)
	if err != nil {
		return err
	}
	if err := g.Hub.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: g.Namespace, Name: grantName(grant.UID),
			Labels: map[string]string{v1alpha.LabelProjectUID: string(grant.ProjectUID), labelUser: userLabel(grant)},
		},
		Data: map[string]string{dataGrant: string(encoded)},
	}); err != nil {
		return fmt.Errorf("record the grant of session %s: %w", grant.Name, err)
	}
	return nil
}

// check returns the content of a grant that expires after its time from now, if it may be recorded.
func (g *Grants) check(ctx context.Context, grant *Grant) ([]byte, error) {
	if !isUID(grant.UID) {
		return nil, fmt.Errorf("%q is no UID of a session", grant.UID)
	}
	if err := g.checkLimits(ctx, grant); err != nil {
		return nil, err
	}
	begun := *grant
	begun.Expires = g.Clock.Now().Add(time.Duration(grant.Spec.TTLSeconds) * time.Second).UTC()
	encoded, err := json.Marshal(&begun)
	if err != nil {
		return nil, fmt.Errorf("encode the grant: %w", err)
	}
	if len(encoded) > maxGrantBytes {
		return nil, fmt.Errorf("%w: the user and the spec of the session have %d bytes, more than %d", ErrTooMany, len(encoded), maxGrantBytes)
	}
	return encoded, nil
}

func (g *Grants) checkLimits(ctx context.Context, grant *Grant) error {
	var ofProject metav1.PartialObjectMetadataList
	ofProject.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	if err := g.Hub.List(ctx, &ofProject, client.InNamespace(g.Namespace),
		client.MatchingLabels{v1alpha.LabelProjectUID: string(grant.ProjectUID)}); err != nil {
		return fmt.Errorf("count the sessions of project %s: %w", grant.Project, err)
	}
	all, ofUser := len(ofProject.Items), 0
	for i := range ofProject.Items {
		if ofProject.Items[i].Labels[labelUser] == userLabel(grant) {
			ofUser++
		}
	}
	switch {
	case ofUser >= g.Limits.PerUser:
		return fmt.Errorf("%w: user %q has %d in project %q; delete InstanceSessions that are not needed, or wait until they expire",
			ErrTooMany, grant.User.Username, ofUser, grant.Project)
	case all >= g.Limits.PerProject:
		return fmt.Errorf("%w: project %q has %d; delete InstanceSessions that are not needed, or wait until they expire",
			ErrTooMany, grant.Project, all)
	}
	return nil
}

// get returns the grant of a session, or errUnknown.
func (g *Grants) get(ctx context.Context, uid types.UID) (*Grant, error) {
	if !isUID(uid) {
		return nil, errUnknown
	}
	stored := &corev1.ConfigMap{}
	err := g.Hub.Get(ctx, client.ObjectKey{Namespace: g.Namespace, Name: grantName(uid)}, stored)
	if apierrors.IsNotFound(err) {
		return nil, errUnknown
	}
	if err != nil {
		return nil, fmt.Errorf("get the grant of a session: %w", err)
	}
	return decodeGrant(stored)
}

// list returns the UIDs of all sessions with a grant, and of their projects. It reads no grant.
func (g *Grants) list(ctx context.Context) (map[types.UID]types.UID, error) {
	found, next := map[types.UID]types.UID{}, ""
	for {
		var page metav1.PartialObjectMetadataList
		page.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
		err := g.Hub.List(ctx, &page, client.InNamespace(g.Namespace), client.HasLabels{labelUser}, client.Limit(pageSize), client.Continue(next))
		if err != nil {
			return nil, fmt.Errorf("list the grants of sessions: %w", err)
		}
		for i := range page.Items {
			if uid, project, isGrant := sessionOf(&page.Items[i]); isGrant {
				found[uid] = project
			}
		}
		if next = page.Continue; next == "" {
			return found, nil
		}
	}
}

// use marks a grant as used. Of several replicas that use it at the same time, one succeeds: the others get errUsed.
func (g *Grants) use(ctx context.Context, grant *Grant) error {
	if grant.used {
		return errUsed
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": grant.version}, "data": map[string]any{dataUsed: g.Clock.Now().UTC().Format(time.RFC3339)},
	})
	if err != nil {
		return fmt.Errorf("encode the use of a session: %w", err)
	}
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: g.Namespace, Name: grantName(grant.UID)}}
	err = g.Hub.Patch(ctx, stored, client.RawPatch(types.MergePatchType, patch))
	switch {
	case apierrors.IsConflict(err) || apierrors.IsNotFound(err):
		return errUsed
	case err != nil:
		return fmt.Errorf("mark session %s as used: %w", grant.Name, err)
	}
	grant.version = stored.ResourceVersion
	return nil
}

// release takes the mark of a use back, of the replica that has written it, if the cell has not begun the stream.
func (g *Grants) release(ctx context.Context, grant *Grant) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": grant.version}, "data": map[string]any{dataUsed: nil},
	})
	if err != nil {
		return fmt.Errorf("encode the release of a session: %w", err)
	}
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: g.Namespace, Name: grantName(grant.UID)}}
	if err := g.Hub.Patch(ctx, stored, client.RawPatch(types.MergePatchType, patch)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("mark session %s as not used: %w", grant.Name, err)
	}
	return nil
}

// remove deletes a grant, if it exists.
func (g *Grants) remove(ctx context.Context, uid types.UID) error {
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: g.Namespace, Name: grantName(uid)}}
	if err := g.Hub.Delete(ctx, stored); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete the grant of a session: %w", err)
	}
	return nil
}

func decodeGrant(stored *corev1.ConfigMap) (*Grant, error) {
	grant := &Grant{}
	if err := json.Unmarshal([]byte(stored.Data[dataGrant]), grant); err != nil {
		return nil, fmt.Errorf("decode grant %s: %w", stored.Name, err)
	}
	if grantName(grant.UID) != stored.Name {
		return nil, fmt.Errorf("grant %s is of session %q", stored.Name, grant.UID)
	}
	grant.version, grant.used = stored.ResourceVersion, stored.Data[dataUsed] != ""
	return grant, nil
}

// namePrefix begins the name of a grant's ConfigMap.
const namePrefix = "session-"

func grantName(uid types.UID) string { return namePrefix + string(uid) }

// created is when a session was granted.
func (g *Grant) created() time.Time {
	return g.Expires.Add(-time.Duration(g.Spec.TTLSeconds) * time.Second)
}

// brief returns what a replica keeps of a grant.
func (g *Grant) brief() *Grant {
	short := *g
	short.User = authenticationv1.UserInfo{Username: g.User.Username}
	short.Spec.Command = nil
	return &short
}

var uidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func isUID(uid types.UID) bool { return uidForm.MatchString(string(uid)) }

// userLabel returns a label value for a user, whose name may have any form.
func userLabel(grant *Grant) string {
	sum := sha256.Sum256([]byte(grant.User.Username))
	return hex.EncodeToString(sum[:16])
}
