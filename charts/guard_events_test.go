// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const notOurs = "alone writes Events in its name"

// told are attempts to speak in the name of the add-on.
var told = map[string]intrusion{
	"an agent tells in the name of the add-on": {cellsAgent, create(coreEvent("source", "karmada-compute-deployments")), notOurs},
	"a tenant tells in the name of the add-on": {tenant, create(coreEvent("source", "karmada-compute")), notOurs},
	"an agent reports as the add-on":           {cellsAgent, create(coreEvent("reportingComponent", "karmada-compute-audit")), notOurs},
	"a tenant reports as the add-on":           {tenant, create(coreEvent("reportingComponent", "karmada-compute")), notOurs},
	"an agent tells as the add-on, new API":    {cellsAgent, create(newEvent("karmada-compute-audit")), notOurs},
	"a tenant tells as the add-on, new API":    {tenant, create(newEvent("karmada-compute")), notOurs},
	"a tenant gives its Event to the add-on":   {tenant, patch(toldBy("theirs"), `{"source":{"component":"karmada-compute"}}`), notOurs},
	"an agent changes an Event of the add-on":  {cellsAgent, patch(toldBy("ours"), `{"message":"run this"}`), notOurs},
	"a tenant changes it by way of the new API": {
		tenant, patch(toldAt("events.k8s.io/v1", "ours"), `{"metadata":{"annotations":{"a":"b"}}}`), notOurs,
	},
}

// toldLegitimate are Events that must be accepted.
var toldLegitimate = map[string]intrusion{
	"the add-on tells":                    {hubUser, create(coreEvent("source", "karmada-compute-deployments")), ""},
	"the add-on tells, new API":           {hubUser, create(newEvent("karmada-compute")), ""},
	"the add-on counts":                   {hubUser, patch(toldBy("ours"), `{"count":2}`), ""},
	"an agent tells in its own name":      {cellsAgent, create(coreEvent("source", "karmada-agent")), ""},
	"a tenant tells in its own name":      {tenant, create(newEvent("karmada-computer")), ""},
	"a tenant tells without a name":       {tenant, create(coreEvent("", "")), ""},
	"a tenant changes an Event of others": {tenant, patch(toldBy("theirs"), `{"message":"more"}`), ""},
	"a tenant deletes one of the add-on":  {tenant, remove(toldBy("ours")), ""},
}

func toldAt(apiVersion, name string) *unstructured.Unstructured {
	return ofKind(apiVersion, "Event", free, name, nil)
}

func toldBy(name string) *unstructured.Unstructured { return toldAt("v1", name) }

// coreEvent is an Event of core v1, whose field names the writer.
func coreEvent(field, writer string) *corev1.Event {
	e := &corev1.Event{
		ObjectMeta: named(free, "told"), InvolvedObject: corev1.ObjectReference{Namespace: free, Kind: "Pod", Name: "told"},
		Reason: "Told", Message: "told", Type: corev1.EventTypeNormal,
	}
	switch field {
	case "source":
		e.Source.Component = writer
	case "reportingComponent":
		e.ReportingController = writer
	}
	return e
}

// newEvent is an Event of events.k8s.io.
func newEvent(controller string) *unstructured.Unstructured {
	e := toldAt("events.k8s.io/v1", "told")
	delete(e.Object, "spec")
	maps.Copy(e.Object, map[string]any{
		"reportingController": controller, "reportingInstance": "a", "action": "Tell", "reason": "Told", "type": "Normal", "note": "told",
		"eventTime": "2026-01-01T00:00:00.000000Z", "regarding": map[string]any{"kind": "Pod", "namespace": free, "name": "told"},
	})
	return e
}

// toldObjects are an Event of the add-on and one of a tenant.
func toldObjects() []client.Object {
	ours, theirs := coreEvent("source", "karmada-compute-deployments"), coreEvent("source", "theirs")
	ours.Name, theirs.Name = "ours", "theirs"
	return []client.Object{ours, theirs}
}
