// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// dataKey is the key of the hash of the Secret.
const dataKey = "5A7F4F3C"

// password is a Secret as the hub sends it, with a content, and labelled with the hash of another one.
func password(content, labelled string) *corev1.Secret {
	hash := templates.HashData(dataKey, nil, map[string][]byte{"password": []byte(labelled)})
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "password",
			Labels:      map[string]string{v1alpha.LabelProject: "cluster-p", v1alpha.LabelDataHash: hash},
			Annotations: map[string]string{v1alpha.AnnotationDataKey: dataKey},
		},
		Data: map[string][]byte{"password": []byte(content)},
	}
}

func needingPassword(d *v1alpha.WorkloadDeployment) {
	d.Spec.Template.Spec.Runtime.Sandbox.Containers[0].EnvFrom = []corev1.EnvFromSource{{
		SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "password"}},
	}}
}

// wantContent wants the reason of an Instance's condition about its data, the hash of the data that it was started with,
// and the data that the report names.
func (f *fixture) wantContent(what, reason, started, differs string) {
	f.t.Helper()
	f.reconcile(f.runtime(), "web-0")
	f.rollUp()
	status := f.storedInstance("web-0").Status
	condition := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionReferencedDataReady)
	if condition == nil || condition.Status != metav1.ConditionTrue || condition.Reason != reason ||
		!strings.Contains(condition.Message, differs) {
		f.t.Errorf("%s: the condition is %+v", what, condition)
	}
	want := templates.HashStarted([]v1alpha.DataVersion{{Kind: "Secret", Name: "password", Hash: started}})
	if status.Controller == nil || status.Controller.DataHash != want {
		f.t.Errorf("%s: it was started with %+v, want %s", what, status.Controller, want)
	}
	if indices := f.storedDeployment().Status.Indices; len(indices) != 1 || (indices[0].DataDiffers == "") != (differs == "") ||
		!strings.Contains(indices[0].DataDiffers, differs) || indices[0].DataReady != "0" {
		f.t.Errorf("%s: the report is %+v", what, indices)
	}
}

// TestContentThatTheCellKeeps: Karmada retains the content of a Secret, and not its label. The Instance starts, since an
// override policy may be the cause; what it was started with is true, and the report names the Secret.
func TestContentThatTheCellKeeps(t *testing.T) {
	f := newFixture(t)
	kept := password("old", "new")
	oldHash, newHash := password("", "old").Labels[v1alpha.LabelDataHash], kept.Labels[v1alpha.LabelDataHash]
	kept.Namespace = f.namespace
	f.create(kept)
	f.instance(f.deployment(1, needingPassword), 0)
	f.reconcile(f.runtime(), "web-0")
	f.startContainer("web-0", 0)
	f.wantContent("with the earlier content", v1alpha.ReasonReferencedDataDiffers, oldHash, "Secret password")

	kept.Data = password("new", "").Data
	f.update(kept)
	f.startContainer("web-0", 0)
	f.wantContent("when the content has arrived", v1alpha.ReasonReferencedDataPresent, oldHash, "")

	f.startContainer("web-0", time.Hour)
	f.wantContent("after a restart", v1alpha.ReasonReferencedDataPresent, newHash, "")
	if strings.Contains(f.storedPod("web-0").Annotations[v1alpha.AnnotationStartedWith], "old") {
		t.Error("the Pod has a content")
	}
}
