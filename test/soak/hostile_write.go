// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// fields are a JSON object.
type fields = map[string]any

// Write is one write of a hostile party.
type Write struct {
	// Verb is create, update, patch (a JSON merge patch), delete, or connect, to the address in Name.
	Verb string
	Kind schema.GroupVersionKind
	// Subresource is status or scale; empty: the object.
	Namespace, Name, Subresource string
	// Body is the object or the patch.
	Body fields
	// Policy of a deletion.
	Policy metav1.DeletionPropagation
	// MustFail is true if only the add-on may send the write.
	MustFail bool
	// Reported sends a patch only to a Pod that its node has reported. A simulated node reports each Pod once, and corrects no
	// status that another party has written before; a kubelet does.
	Reported bool
}

func (w Write) what() string {
	return strings.Trim(fmt.Sprintf("%s %s/%s %s", w.Verb, w.Kind.Kind, w.Subresource, w.Name), "/")
}

// String returns the write with its shortened body.
func (w Write) String() string {
	body, _ := json.Marshal(w.Body) // it has been read from JSON, or consists of what JSON knows
	return fmt.Sprintf("%s %s %s %s", w.what(), w.Namespace, w.Policy, reasons.Shorten(string(body), 600))
}

// dice draws values. Equal seeds draw equal sequences, whatever the answers are.
type dice struct {
	*rand.Rand
	// foreign holds UIDs, and namespaces names, of other parties' objects.
	foreign, namespaces []string
}

func pick[T any](d *dice, choices ...T) T { return choices[d.IntN(len(choices))] }

// allIndices is the longest text of indices that the schema of the API permits. It lists each index 4,681 times.
var allIndices = strings.Repeat("0-9999,", 4681)

// text returns an unusual string.
func (d *dice) text() string {
	return pick(d, "", "x", "-1", "true", "ä\u202e\t", "../../default", strings.Repeat("a", 63), strings.Repeat("b", 300),
		strings.Repeat("c", 32_000),
		pick(d, d.foreign...), pick(d, d.namespaces...), allIndices, "*", "{{.}}")
}

// value returns a valid label value.
func (d *dice) value() string {
	return pick(d, "", "x", "none", "0", "cluster-nobody", strings.Repeat("a", 63), pick(d, d.foreign...), pick(d, d.namespaces...))
}

func (d *dice) indices() string {
	return pick(d, allIndices, allIndices, "0-9999", "0-99999999", "9999-0", "-1", "0,0,0,0", "5", "",
		strings.Repeat("0,", 16_000), "0-2147483647", "x")
}

func (d *dice) number() int64 {
	return pick[int64](d, 0, 1, 2, 7, -1, -5, 5000, 5001, 2147483647)
}

func (d *dice) quantity() string {
	return pick(d, "0", "0", "1m", "50m", "64Mi", "-1", "1e30", "0.0000001", "4", "9223372036854775807")
}

// ourLabels and ourAnnotations are the labels and annotations that the add-on reads.
var (
	ourLabels = []string{
		v1alpha.LabelInstanceIndex, v1alpha.LabelWorkloadUID, v1alpha.LabelWorkloadName, v1alpha.LabelDeploymentUID, v1alpha.LabelDeploymentName,
		v1alpha.LabelCityCode, v1alpha.LabelPlacementName, v1alpha.LabelProjectUID, v1alpha.LabelProjectNamespaceUID, v1alpha.LabelTemplateHash,
		v1alpha.LabelNetwork, v1alpha.LabelManagedBy, v1alpha.LabelHubNamespace, v1alpha.LabelHub, v1alpha.LabelTopologyCity,
		v1alpha.LabelDependencies, v1alpha.LabelProject, v1alpha.LabelProjectNamespace,
	}
	ourAnnotations = []string{
		v1alpha.AnnotationHubNamespace, v1alpha.AnnotationHubNamespace, v1alpha.AnnotationHubNamespace, v1alpha.AnnotationProjectGeneration,
		v1alpha.AnnotationProjectName, v1alpha.AnnotationRestartedAt, v1alpha.AnnotationSuspended, v1alpha.AnnotationKeep,
		v1alpha.AnnotationForget,
	}
)

// hostileFinalizer is a finalizer that only its party removes.
const hostileFinalizer = "hostile.example/hold"

// metadata returns a patch of labels, annotations, finalizers or owner references.
func (d *dice) metadata() fields {
	var meta fields
	switch d.IntN(6) {
	case 0, 1:
		meta = fields{"labels": fields{pick(d, ourLabels...): d.value()}}
	case 2, 3:
		annotation := pick(d, ourAnnotations...)
		meta = fields{"annotations": fields{annotation: d.text()}}
		if annotation == v1alpha.AnnotationHubNamespace {
			meta = fields{"annotations": fields{annotation: pick(d, d.namespaces...)}}
		}
	case 4:
		meta = fields{
			"finalizers": pick(d, []any{}, []any{hostileFinalizer}, []any{"foregroundDeletion"},
				[]any{v1alpha.FinalizerWorkload, v1alpha.FinalizerPropagation}),
		}
	default:
		meta = fields{"ownerReferences": pick(d, []any{}, []any{fields{
			"apiVersion": v1alpha.GroupVersion.String(), "kind": pick(d, v1alpha.KindWorkloadDeployment, "Workload",
				"Instance"), "name": d.value() + "x",
			"uid": pick(d, d.foreign...), "controller": d.IntN(2) == 0, "blockOwnerDeletion": true,
		}})}
	}
	return fields{"metadata": meta}
}

func (d *dice) policy() metav1.DeletionPropagation {
	return pick(d, metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan)
}

// condition returns a condition of a status.
func (d *dice) condition() fields {
	return fields{
		"type":   pick(d, "Ready", "Available", "Progressing", "ReplicasReady", "Suspended", strings.Repeat("T", 316)),
		"status": pick(d, "True", "False", "Unknown"),
		"reason": pick(d, "Reason", strings.Repeat("R", 1024)), "message": d.text(),
		"lastTransitionTime": pick(d, "2026-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"),
		"observedGeneration": pick[int64](d, 0, 1, 99),
	}
}

// counts returns the counts in a status of a Workload or deployment.
func (d *dice) counts() fields {
	return fields{
		"replicas": d.number(), "currentReplicas": d.number(), "desiredReplicas": d.number(), "readyReplicas": d.number(),
		"observedGeneration": pick[int64](d, 0, 1, 2, 99999), "conditions": []any{d.condition()},
	}
}

// many returns up to limit values.
func many[T any](d *dice, limit int, draw func() T) []any {
	values := []any{}
	for range pick(d, 0, 1, 2, limit) {
		values = append(values, draw())
	}
	return values
}

// deploymentStatus returns a patch of a WorkloadDeployment's status. Half of the patches keep the agent's other fields,
// so that the whole status counts as reported for the newest generation.
func (d *dice) deploymentStatus() fields {
	status := fields{}
	if d.IntN(2) == 0 {
		status = d.counts()
	}
	switch d.IntN(4) {
	case 0, 1:
		status["indices"] = many(d, 3, d.cellIndices)
	case 2:
		status["reports"] = many(d, 4, d.report)
	default:
		status["instances"] = many(d, 300, func() fields {
			return fields{"name": pick(d, "victim-p0-dfw-0", d.value()+"x", strings.Repeat("n", 253)), "templateHash": d.value()}
		})
	}
	return status
}

func (d *dice) cellIndices() fields {
	return fields{
		"cell": pick(d, "", "dfw", "ord-1", "ord-2", "nowhere"), "existing": d.indices(), "ready": d.indices(),
		"held": d.indices(), "current": d.indices(),
		"dataReady": d.indices(), "dataMissing": d.value(), "templateHash": d.value(), "overridden": d.indices(),
		"overriddenHash": d.value(),
	}
}

// report returns a report of Instances, as in deployments and slices.
func (d *dice) report() fields {
	return fields{
		"cell": pick(d, "", "dfw", "ord-1", "ord-2"),
		"states": many(d, 20, func() fields {
			return fields{"templateHash": d.value(), "observedTemplateHash": d.text(), "conditions": []any{fields{
				"type": pick(d, "Ready", "Available", "x"), "status": "True",
				"reason": pick(d, "Reason", strings.Repeat("R", 2000)), "message": d.text(),
			}}}
		}),
		"instances": many(d, 500, func() fields {
			return fields{
				"index": d.number(), "state": d.number(),
				"since": pick(d, "", "2026-01-01T00:00:00Z +0 +3", "x", strings.Repeat("+9 ", 300)), "networkInterfaces": []any{
					fields{"assignments": fields{"networkIP": pick(d, "10.0.0.1", strings.Repeat("1", 300)), "externalIP": "256.256.256.256"}},
				},
			}
		}),
	}
}
