// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

// TestSessionsWithAFault: a session is granted and announced, and ends with its grant, whichever write fails.
func TestSessionsWithAFault(t *testing.T) {
	t.Parallel()
	testenv.EachWriteFails(t, func(t *testing.T, faults *testenv.Faults) {
		now := testingclock.NewFakeClock(time.Now())
		f := newFixture(t, endless, func(o *Options) {
			through := o.Grants.Hub
			o.Grants.Hub, o.Grants.Clock, o.Clock = faults.Client(through), now, now
			o.Projects.(*project).client = faults.Client(through)
		})
		// The test plays the replica, whose sweeps have no order.
		f.stop()
		session := &v1alpha.InstanceSession{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, GenerateName: "logs-"},
			Spec: v1alpha.InstanceSessionSpec{
				Type: v1alpha.SessionLogs, InstanceRef: v1alpha.SessionInstanceReference{Name: f.instance.Name, UID: f.instance.UID},
				PublicKey: "key", TTLSeconds: 600,
			},
		}
		planes.Create(t, f.Planes, session)
		grant := &Grant{
			Project: string(planes.ProjectName), ProjectUID: planes.ProjectUID, Namespace: session.Namespace, Name: session.Name,
			UID: session.UID, Spec: session.Spec,
		}
		if err := f.admission.Grant(t.Context(), grant); err != nil {
			t.Fatal(err)
		}
		for f.admission.attend(t.Context(), grant.UID).Again {
			t.Log("the grant is not recorded yet")
		}
		f.keepAll(t)
		planes.Get(t, f.Planes, session.Namespace, session.Name, session)
		if !meta.IsStatusConditionTrue(session.Status.Conditions, v1alpha.ConditionReady) || session.Status.URL == "" {
			t.Errorf("the status is %+v", session.Status)
		}
		now.Step(time.Hour)
		f.keepAll(t)
		left, err := f.server.options.Grants.list(t.Context())
		if err != nil || len(left) > 0 || planes.Exists(t, f.Planes, session) {
			t.Errorf("left are %v, %v, and the session: %t", left, err, planes.Exists(t, f.Planes, session))
		}
	})
}

// keepAll attends to all grants, as three sweeps do.
func (f *fixture) keepAll(t *testing.T) {
	t.Helper()
	for range 3 {
		found, err := f.server.options.Grants.list(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for uid := range found {
			f.server.keepSession(t.Context(), uid, nil)
		}
	}
}
