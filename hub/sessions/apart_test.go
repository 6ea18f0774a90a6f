// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"bufio"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// south is another project on the hub, with Instances web-main-dfw-0 and db-main-dfw-0 in the same cell.
type south struct {
	origin       projects.Origin
	namespaceUID types.UID
	hubNamespace string
}

func (f *fixture) setUpSouth(t *testing.T) south {
	t.Helper()
	s := south{
		origin:       projects.Origin{Project: "south", ProjectUID: "south-uid-" + types.UID(f.Namespace.Name), Namespace: f.Namespace.Name},
		namespaceUID: "south-namespace-uid",
	}
	s.hubNamespace = naming.HubNamespace(string(s.origin.ProjectUID), string(s.namespaceUID))
	objects := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.hubNamespace, Labels: s.labels()}}}
	for _, name := range []string{"web-main-dfw", "db-main-dfw"} {
		objects = append(objects, &v1alpha.WorkloadDeployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.hubNamespace, Name: name, Labels: s.labels(), Annotations: s.origin.Annotations()},
			Spec:       *f.copy.Spec.DeepCopy(),
		})
	}
	for _, object := range objects {
		if err := f.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// labels are the labels that the add-on writes on the hub namespace.
func (s south) labels() map[string]string {
	labels := s.origin.Labels()
	labels[v1alpha.LabelProjectNamespaceUID] = string(s.namespaceUID)
	return labels
}

// forge gives an object of project north every label and annotation that locates an object on the hub.
func (s south) forge(object client.Object) {
	labels, annotations := map[string]string{v1alpha.LabelHubNamespace: s.hubNamespace},
		map[string]string{v1alpha.AnnotationHubNamespace: s.hubNamespace}
	maps.Copy(labels, object.GetLabels())
	maps.Copy(labels, s.labels())
	maps.Copy(annotations, s.origin.Annotations())
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
}

// TestAnotherProject verifies that a session leads to no Instance of another project, whatever the consumer writes in
// its own.
func TestAnotherProject(t *testing.T) {
	t.Parallel()
	reached := make(chan string, 10)
	f := newFixture(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached <- r.URL.Path }))
	other := f.setUpSouth(t)
	forged := &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "db-main-dfw-0"}, Spec: f.instance.Spec}
	other.forge(forged)
	if err := f.Client.Create(t.Context(), forged); err != nil {
		t.Fatal(err)
	}
	for _, object := range []client.Object{f.Namespace, f.instance} {
		other.forge(object)
		if err := f.Client.Update(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	key := newKey(t)
	for name, c := range map[string]struct {
		ref  v1alpha.SessionInstanceReference
		want int
	}{
		"an Instance of its own":          {v1alpha.SessionInstanceReference{Name: f.instance.Name, UID: f.instance.UID}, http.StatusOK},
		"an Instance of the same name":    {v1alpha.SessionInstanceReference{Name: f.instance.Name, UID: "of-south"}, http.StatusGone},
		"an Instance that it has written": {v1alpha.SessionInstanceReference{Name: forged.Name, UID: forged.UID}, http.StatusGone},
		"a path": {
			v1alpha.SessionInstanceReference{Name: "../../" + other.hubNamespace + "/pods/web-main-dfw-0", UID: f.instance.UID},
			http.StatusServiceUnavailable,
		},
	} {
		session, grant := f.create(t, key, func(s *v1alpha.InstanceSessionSpec) { s.InstanceRef = c.ref })
		// The session, too, is the consumer's.
		patch := client.MergeFrom(session.DeepCopy())
		other.forge(session)
		if err := f.Client.Patch(t.Context(), session, patch); err != nil {
			t.Fatal(err)
		}
		response := f.get(t, f.addressOf(grant), key)
		if body := readAll(t, response); response.StatusCode != c.want || strings.Contains(body, other.hubNamespace) && name != "a path" {
			t.Errorf("%s: %d, %q", name, response.StatusCode, body)
		}
	}
	close(reached)
	want := "/namespaces/" + f.HubNamespace + "/pods/web-main-dfw-0/log"
	count := 0
	for path := range reached {
		if count++; !strings.HasSuffix(path, want) {
			t.Errorf("a cell got %s", path)
		}
	}
	if count != 1 {
		t.Errorf("cells got %d requests", count)
	}
}

// TestLostProject verifies that a stream continues while its project does not answer to its name and UID, as when Milo
// has lost it by mistake, that no other stream begins and no grant goes, and that the stream ends once ownership has
// withdrawn the copy from the hub.
func TestLostProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t, endless)
	key := newKey(t)
	session, grant := f.create(t, key)
	lines := bufio.NewReader(f.get(t, f.addressOf(grant), key).Body)
	if line, err := lines.ReadString('\n'); line != "first\n" {
		t.Fatalf("%q, %v", line, err)
	}
	ended := make(chan error, 1)
	f.project.recreated.Store(true)
	go func() {
		_, err := lines.ReadString('\n')
		ended <- err
	}()
	if err := f.server.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	timer := time.NewTimer(3 * watchInterval)
	defer timer.Stop()
	select {
	case err := <-ended:
		t.Fatalf("the stream ended with %v", err)
	case <-timer.C:
	}
	if response := f.get(t, f.addressOf(grant), key); response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("another stream: %d", response.StatusCode)
	}
	if _, err := f.server.options.Grants.get(t.Context(), grant.UID); err != nil {
		t.Errorf("the grant of a project that is not proved gone: %v", err)
	}
	if err := f.Client.Delete(t.Context(), f.copy); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := <-ended; err == nil || time.Since(began) > 10*time.Second {
		t.Errorf("the stream ended after %s, %v", time.Since(began), err)
	}
	f.project.recreated.Store(false)
	f.expire(t, grant, -time.Second)
	f.server.tasks.retain(nil)
	if err := f.server.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.eventually(t, "the session is deleted when its project is found again", func() bool {
		return apierrors.IsNotFound(f.Client.Get(t.Context(), client.ObjectKeyFromObject(session), session))
	})
}

// eventually waits for a condition.
func (f *fixture) eventually(t *testing.T, what string, met func() bool) {
	t.Helper()
	deadline, ticker := time.NewTimer(30*time.Second), time.NewTicker(20*time.Millisecond)
	defer deadline.Stop()
	defer ticker.Stop()
	for !met() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("it is not so that %s", what)
		}
	}
}

// TestExpiry verifies that a running stream ends with the time to live of its session.
func TestExpiry(t *testing.T) {
	t.Parallel()
	f := newFixture(t, endless)
	key := newKey(t)
	session, grant := f.create(t, key)
	f.await(t, session, v1alpha.ReasonSessionReady)
	f.expire(t, grant, 10*time.Second)
	lines := bufio.NewReader(f.get(t, f.addressOf(grant), key).Body)
	if line, err := lines.ReadString('\n'); line != "first\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := lines.ReadString('\n'); err == nil || time.Now().Before(grant.Expires) {
		t.Errorf("at %s the stream, which expires at %s, ends with %v", time.Now(), grant.Expires, err)
	}
	f.await(t, session, v1alpha.ReasonSessionExpired)
}

// expire changes a stored grant, so that it expires after some time.
func (f *fixture) expire(t *testing.T, grant *Grant, after time.Duration) {
	t.Helper()
	grant.Expires = time.Now().Add(after)
	encoded, err := json.Marshal(grant)
	if err != nil {
		t.Fatal(err)
	}
	grants := f.server.options.Grants
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: grants.Namespace, Name: grantName(grant.UID)}}
	if err := f.Client.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
		t.Fatal(err)
	}
	stored.Data[dataGrant] = string(encoded)
	if err := f.Client.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
}
