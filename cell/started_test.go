// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

const oldContent, newContent = "old", "new"

// contentHash is the hash of a ConfigMap with a content.
func contentHash(content string) string {
	if content == templates.AbsentData {
		return content
	}
	return templates.HashData("", map[string]string{"content": content}, nil)
}

// inEnvironment lets the container have variables of a ConfigMap, which may be absent.
func inEnvironment(name string, optional bool) func(*v1alpha.WorkloadDeployment) {
	return func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Template.Spec.Runtime.Sandbox.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: new(optional),
		}}}
	}
}

// receive plays Karmada, which writes a ConfigMap with a content.
func (f *fixture) receive(configMap *corev1.ConfigMap, content string) {
	f.t.Helper()
	configMap.Data = map[string]string{"content": content}
	configMap.Labels = maps.Clone(configMap.Labels)
	configMap.Labels[v1alpha.LabelDataHash] = contentHash(content)
	f.update(configMap)
}

// startContainer plays the kubelet, which starts the container of a Pod so long after now.
func (f *fixture) startContainer(name string, after time.Duration) {
	f.t.Helper()
	status := readyPod("10.0.0.1")
	status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{
		Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(time.Now().Add(after))},
	}}}
	f.setPod(f.storedPod(name), status)
}

// wantData wants that an Instance was started with a content, and whether newer data waits for a restart.
func (f *fixture) wantData(what, name, content string, waits bool) {
	f.t.Helper()
	status := f.storedInstance("web-0").Status
	want := ""
	if content != "" {
		want = templates.HashStarted([]v1alpha.DataVersion{{Kind: "ConfigMap", Name: name, Hash: contentHash(content)}})
	}
	condition := meta.FindStatusCondition(status.Conditions, v1alpha.ConditionDataCurrent)
	switch {
	case status.Controller == nil || status.Controller.DataHash != want:
		f.t.Errorf("%s: it was started with %+v, want %s", what, status.Controller, want)
	case (condition != nil) != waits:
		f.t.Errorf("%s: the condition is %+v", what, condition)
	case waits && (condition.Status != metav1.ConditionFalse || condition.Reason != v1alpha.ReasonRestartPending ||
		!strings.Contains(condition.Message, "ConfigMap "+name)):
		f.t.Errorf("%s: the condition is %+v", what, condition)
	}
	settled := f.runtime()
	settled.Client = f.readOnly()
	f.reconcile(settled, "web-0")
}

// TestDataOfEnvironments: variables keep what their container was started with; a restart of the container ends that.
func TestDataOfEnvironments(t *testing.T) {
	f := newFixture(t)
	settings := f.sent("settings")
	f.receive(settings, oldContent)
	f.instance(f.deployment(1, inEnvironment("settings", false)), 0)
	f.reconcile(f.runtime(), "web-0")
	f.startContainer("web-0", 0)
	f.reconcile(f.runtime(), "web-0")
	f.wantData("at the start", "settings", oldContent, false)

	f.startContainer("web-0", -time.Hour)
	f.receive(settings, newContent)
	f.reconcile(f.runtime(), "web-0")
	f.wantData("after a change", "settings", oldContent, true)

	f.startContainer("web-0", time.Hour)
	f.reconcile(f.runtime(), "web-0")
	f.wantData("after a restart of the container", "settings", newContent, false)

	f.startContainer("web-0", -time.Hour)
	for i := range 2 {
		f.get(settings, "settings")
		settings.Labels["touched"] = strconv.Itoa(i)
		f.update(settings)
		f.reconcile(f.runtime(), "web-0")
		f.wantData("after a write of metadata", "settings", newContent, false)
	}

	f.startContainer("web-0", -time.Hour)
	f.receive(settings, oldContent)
	f.reconcile(f.runtime(), "web-0")
	f.wantData("when the content of the start is back", "settings", oldContent, false)
}

// TestDataOfVolumes: volumes follow a change, so that nothing waits, and nothing is written.
func TestDataOfVolumes(t *testing.T) {
	f := newFixture(t)
	settings := f.sent("settings")
	f.receive(settings, oldContent)
	f.instance(f.deployment(1, needing("settings")), 0)
	f.reconcile(f.runtime(), "web-0")
	f.startContainer("web-0", -time.Hour)
	f.reconcile(f.runtime(), "web-0")
	f.receive(settings, newContent)
	f.wantData("after a change", "settings", oldContent, false)
}

// TestDataThatAppears: an optional object that appears after the start is newer data.
func TestDataThatAppears(t *testing.T) {
	f := newFixture(t)
	f.instance(f.deployment(1, inEnvironment("settings", true)), 0)
	f.reconcile(f.runtime(), "web-0")
	f.startContainer("web-0", -time.Hour)
	f.reconcile(f.runtime(), "web-0")
	f.wantData("without it", "settings", templates.AbsentData, false)

	settings := f.sent("settings")
	f.receive(settings, newContent)
	f.reconcile(f.runtime(), "web-0")
	f.wantData("when it has appeared", "settings", templates.AbsentData, true)

	f.remove(settings)
	f.reconcile(f.runtime(), "web-0")
	f.wantData("when it is gone again", "settings", templates.AbsentData, false)
}

// TestDataOfASnapshot: the hash of a snapshot is in its name.
func TestDataOfASnapshot(t *testing.T) {
	f := newFixture(t)
	name := templates.SnapshotName("settings", contentHash(oldContent))
	f.sent(name)
	f.instance(f.deployment(1, inEnvironment(name, false)), 0)
	f.reconcile(f.runtime(), "web-0")
	f.startContainer("web-0", -time.Hour)
	f.reconcile(f.runtime(), "web-0")
	f.wantData("with policy Rollout", "settings", oldContent, false)
}

// TestDataOfEarlierVersions: nothing is claimed of a Pod that an earlier agent has created, nor of data that an
// earlier hub has sent, and an upgrade replaces neither.
func TestDataOfEarlierVersions(t *testing.T) {
	f := newFixture(t)
	settings := f.sent("settings")
	f.instance(f.deployment(1, inEnvironment("settings", false)), 0)
	f.reconcile(f.runtime(), "web-0")
	pod := f.storedPod("web-0")
	if _, recorded := pod.Annotations[v1alpha.AnnotationStartedWith]; recorded {
		t.Errorf("an unknown content is recorded: %v", pod.Annotations)
	}
	f.startContainer("web-0", -time.Hour)
	f.reconcile(f.runtime(), "web-0")
	f.wantData("of an earlier hub", "settings", "", false)
	f.receive(settings, newContent)
	f.wantData("after the upgrade", "settings", "", false)
	if after := f.storedPod("web-0"); after == nil || after.UID != pod.UID {
		t.Error("the upgrade replaces the Instance")
	}
}

// TestNoDataCostsNothing: the Pod of a template that names no data is unchanged.
func TestNoDataCostsNothing(t *testing.T) {
	f := newFixture(t)
	f.instance(f.deployment(1), 0)
	f.reconcile(f.runtime(), "web-0")
	if pod := f.storedPod("web-0"); len(pod.Annotations) > 0 {
		t.Errorf("it has %v", pod.Annotations)
	}
}
