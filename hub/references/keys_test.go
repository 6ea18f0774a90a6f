// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"bytes"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestAHashConfirmsNoGuess: whoever guesses a content and writes it into a namespace of their own gets another hash there
// than the one that they read in the status of a Workload of others.
func TestAHashConfirmsNoGuess(t *testing.T) {
	t.Parallel()
	recorded, copied := map[string]bool{}, map[string]bool{}
	for range 2 {
		f := newFixture(t).engage(t)
		planes.Create(t, f.Planes, f.app())
		f.rolling(t, []string{"app"}, nil)
		f.deploy(t, "in-place", templateNaming([]string{"app"}, nil))
		f.mustReconcile(t)
		recorded[f.web(t).Status.Data.Objects[0].Hash] = true
		copied[f.appOnHub(t).Labels[v1alpha.LabelDataHash]] = true
	}
	if len(recorded) != 2 || len(copied) != 2 {
		t.Errorf("a guess is confirmed: %v, %v", recorded, copied)
	}
}

// changeDatabase changes the value in Secret database, or deletes the Secret and creates it again with the value.
func (f *fixture) changeDatabase(t *testing.T, password string, recreated bool) {
	t.Helper()
	secret := f.database()
	secret.Data["password"] = []byte(password)
	if recreated {
		planes.Delete(t, f.Planes, f.database())
		f.await(t, f.database())
		f.mustReconcile(t)
		planes.Create(t, f.Planes, secret)
	} else {
		planes.Change(t, f.Planes, f.database(), func(s *corev1.Secret) { s.Data = secret.Data })
	}
	f.await(t, secret)
	f.mustReconcile(t)
}

// holding returns a Workload whose undo holds content "hidden" of Secret database, while the project has "newer". Another
// deployment names the Secret without the policy.
func holding(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t).engage(t)
	planes.Create(t, f.Planes, f.database())
	f.rolling(t, nil, []string{"database"})
	f.mustReconcile(t)
	hidden := f.started(t)[0]
	f.deploy(t, "in-place", templateNaming(nil, []string{"database"}))
	f.settled(t)
	f.clock.SetTime(f.clock.Now().Add(time.Hour))
	f.changeDatabase(t, "newer", false)
	newer := f.started(t)[0]
	f.mustReconcile(t)
	planes.Change(t, f.Planes, f.web(t), func(w *v1alpha.Workload) {
		w.Annotations = map[string]string{v1alpha.AnnotationRolloutData: templates.FormatHolds(map[templates.DataObject]templates.Hold{
			{Kind: "Secret", Name: "database"}: {Held: hidden.Hash, Newest: newer.Hash},
		})}
	})
	f.mustReconcile(t)
	f.started(t)
	f.settled(t)
	f.wantHeld(t, hidden)
	return f
}

func (f *fixture) wantHeld(t *testing.T, held v1alpha.DataVersion) {
	t.Helper()
	f.wantCurrent(t, v1alpha.ReasonDataHeld, held.Hash)
	if got := f.web(t).Status.Data.Objects[0]; got != held {
		t.Errorf("it is started with %v, and the undo holds %v", got, held)
	}
}

// TestARecreatedSecretWithEqualContent is no news: no rollout, no end of an undo, and no Instance that waits for a restart,
// since cells get the same hash.
func TestARecreatedSecretWithEqualContent(t *testing.T) {
	t.Parallel()
	f := holding(t)
	held, sent := f.web(t).Status.Data.Objects[0], f.databaseOnHub(t).Labels[v1alpha.LabelDataHash]
	f.clock.SetTime(f.clock.Now().Add(time.Hour))
	f.changeDatabase(t, "newer", true)
	f.wantHeld(t, held)
	if got := f.databaseOnHub(t).Labels[v1alpha.LabelDataHash]; got != sent {
		t.Errorf("cells get hash %s after %s", got, sent)
	}
	f.changeDatabase(t, "newest", true)
	f.wantCurrent(t, v1alpha.ReasonNewestData, "")
}

// TestALostKey: hashes by an earlier key, or by none as of an earlier version, stay while the contents do. So neither a
// lost Secret nor an upgrade is a rollout, ends an undo or leads to reason RestartPending.
func TestALostKey(t *testing.T) {
	t.Parallel()
	f := holding(t)
	held := f.web(t).Status.Data.Objects[0]
	unkeyed := func(t *testing.T, copied client.Object) {
		t.Helper()
		copied.GetLabels()[v1alpha.LabelDataHash] = hashWith("", copied)
		delete(copied.GetAnnotations(), v1alpha.AnnotationDataKey)
	}
	planes.Create(t, f.Planes, f.app())
	f.deploy(t, "unkeyed", templateNaming([]string{"app"}, nil))
	f.settled(t)
	planes.Change(t, f.Planes, f.appOnHub(t), func(c *corev1.ConfigMap) { unkeyed(t, c) })
	lost := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: secretName}}
	planes.Delete(t, f.Planes, lost)
	f.restart(t)
	for range 2 {
		for _, write := range f.mustReconcile(t) {
			if write.Name != secretName {
				t.Errorf("with another key it writes %v", write)
			}
		}
		f.sync(t)
	}
	f.wantHeld(t, held)
	if planes.Get(t, f.Planes, f.HubNamespace, secretName, lost).Immutable == nil {
		t.Error("the Secret can be changed")
	}

	f.clock.SetTime(f.clock.Now().Add(time.Hour))
	f.changeDatabase(t, "hidden", false)
	f.wantCurrent(t, v1alpha.ReasonNewestData, "")
	if got := f.web(t).Status.Data.Objects[0]; got != held {
		t.Errorf("the same content has now hash %v instead of %v", got, held)
	}
	f.changeDatabase(t, "newest", false)
	if copied := f.databaseOnHub(t); f.web(t).Status.Data.Objects[0] == held ||
		copied.Labels[v1alpha.LabelDataHash] != hashWith(copied.Annotations[v1alpha.AnnotationDataKey], copied) {
		t.Errorf("with the next content, the copy has %v and the Workload %v", copied.Labels, f.web(t).Status.Data)
	}
}

// TestAllReplicasHaveOneKey: the replica that creates the Secret later uses the first one's. One without a key is
// neither used nor overwritten.
func TestAllReplicasHaveOneKey(t *testing.T) {
	t.Parallel()
	for name, stored := range map[string][]byte{"a key": bytes.Repeat([]byte{7}, secretBytes), "no key": []byte("short")} {
		f := newFixture(t).engage(t)
		planes.Create(t, f.Planes, f.app())
		f.rolling(t, []string{"app"}, nil)
		f.Hub.Once("create", "Secret", func() error {
			planes.Create(t, f.Planes, &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: f.HubNamespace, Name: secretName}, Data: map[string][]byte{secretEntry: stored},
			})
			return nil
		})
		_, err := f.reconcile(t)
		if len(stored) != secretBytes {
			if err == nil || !strings.Contains(err.Error(), secretName) || strings.Contains(err.Error(), "short") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		key := templates.DataKey(stored, string(planes.ProjectUID), f.Namespace.Name, templates.DataObject{Kind: "ConfigMap", Name: "app"})
		if got := f.web(t).Status.Data.Objects[0].Hash; err != nil || got != hashWith(key, f.app()) {
			t.Errorf("%s: the hash is %s, %v", name, got, err)
		}
	}
}
