// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// madeUpName is the prefix of the names of objects that a hostile cell adds.
const madeUpName = "made-up-"

// cellNoise draws the writes of a hostile administrator of a cell.
type cellNoise struct {
	*dice
	// cell is the name of its Cell.
	cell string
	// sent are the deployments that the hub sent to the cell.
	sent []types.NamespacedName
}

// next draws a write.
func (n *cellNoise) next() Write {
	deployment := pick(n.dice, n.sent...)
	namespace, name := deployment.Namespace, deployment.Name
	switch chance := n.IntN(100); {
	case chance < 10:
		return n.onIndices(namespace, name)
	case chance < 35:
		return Write{
			Verb: "patch", Kind: deploymentKind, Namespace: namespace, Name: name, Subresource: "status",
			Body: fields{"status": n.deploymentStatus()},
		}
	case chance < 45:
		return Write{
			Verb: "patch", Kind: sliceKind, Namespace: namespace, Name: name + "-16", Subresource: "status", Body: fields{"status": n.report()},
		}
	case chance < 55:
		return n.onCell()
	case chance < 70:
		return n.onInstance(namespace, naming.InstanceName(name, n.IntN(3)))
	case chance < 78:
		return n.onPod(namespace, naming.InstanceName(name, n.IntN(3)))
	case chance < 86:
		kind := pick(n.dice, deploymentKind, configMapKind, secretKind, namespaceKind)
		object := map[schema.GroupVersionKind]string{
			deploymentKind: name, configMapKind: "settings", secretKind: "password", namespaceKind: namespace,
		}[kind]
		if kind == namespaceKind {
			namespace = ""
		}
		return Write{
			Verb: "patch", Kind: kind, Namespace: namespace, Name: object,
			Body: fields{"metadata": fields{"labels": fields{pick(n.dice, ourLabels...): n.value()}}},
		}
	case chance < 92:
		return Write{Verb: "patch", Kind: deploymentKind, Namespace: namespace, Name: name, Body: fields{"spec": pick(n.dice,
			fields{"suspended": true}, fields{"slices": 1000}, fields{"scaleSettings": fields{"minReplicas": 40}},
			fields{"assignment": nil}, fields{"quota": fields{}})}}
	case chance < 95:
		return Write{
			Verb: "delete", Kind: pick(n.dice, deploymentKind, configMapKind), Namespace: namespace,
			Name: pick(n.dice, name, "settings"), Policy: n.policy(),
		}
	default:
		made := madeUpName + pick(n.dice, "0", "1", "2")
		return Write{Verb: "create", Kind: deploymentKind, Namespace: namespace, Name: made, Body: n.madeUp(made)}
	}
}

// onIndices returns a patch whose report claims as many Instances as possible, with plausible counts.
func (n *cellNoise) onIndices(namespace, name string) Write {
	return Write{Verb: "patch", Kind: deploymentKind, Namespace: namespace, Name: name, Subresource: "status", Body: fields{"status": fields{
		"indices": []any{
			fields{"cell": "", "existing": allIndices, "ready": allIndices, "held": pick(n.dice, "", allIndices), "current": allIndices},
		},
	}}}
}

// onCell patches the cell's reports to the hub.
func (n *cellNoise) onCell() Write {
	deployment := func() fields {
		return fields{
			"namespace": pick(n.dice, n.namespaces...), "name": pick(n.dice, n.sent...).Name,
			"since": pick(n.dice, "2026-01-01T00:00:00.000000Z", n.value()),
		}
	}
	status := fields{"observedGeneration": pick[int64](n.dice, 0, 1, 2, 3, 99999), "total": n.number()}
	switch n.IntN(3) {
	case 0:
		status["digests"] = many(n.dice, 64, func() string { return n.text() })
	case 1:
		status["left"] = many(n.dice, 100, deployment)
	default:
		status["listed"] = []any{0, 1, 2, 63}
		status["entries"] = many(n.dice, 500, func() fields {
			entry := deployment()
			delete(entry, "since")
			entry["project"], entry["projectNamespace"] = n.value(), pick(n.dice, n.namespaces...)
			entry["templateUID"], entry["projectUID"], entry["deploymentUID"] = pick(n.dice, n.foreign...),
				pick(n.dice, n.foreign...), pick(n.dice, n.foreign...)
			return entry
		})
	}
	return Write{Verb: "patch", Kind: cellKind, Name: n.cell, Subresource: "status", Body: fields{"status": status}}
}

func (n *cellNoise) onInstance(namespace, name string) Write {
	w := Write{Verb: "patch", Kind: instanceKind, Namespace: namespace, Name: name}
	switch n.IntN(5) {
	case 0:
		w.Verb, w.Policy = "delete", n.policy()
	case 1:
		w.Verb, w.Body = "create", n.madeUpInstance()
		w.Name = pick(n.dice, name, madeUpName+"0", strings.TrimRight(name, "0123456789")+"9999")
	case 2:
		w.Body = fields{"metadata": fields{"labels": fields{pick(n.dice, ourLabels...): n.value()}}}
	case 3:
		w.Body = fields{"spec": fields{"controller": fields{"templateHash": n.value(), "schedulingGates": []any{}}}}
	default:
		w.Subresource, w.Body = "status", fields{"status": fields{"conditions": many(n.dice, 20, func() fields { return n.condition() })}}
	}
	return w
}

func (n *cellNoise) onPod(namespace, name string) Write {
	w := Write{Verb: "patch", Kind: podKind, Namespace: namespace, Name: name}
	switch n.IntN(3) {
	case 0:
		w.Verb, w.Policy = "delete", n.policy()
	case 1:
		w.Body = fields{"metadata": fields{"labels": fields{pick(n.dice, ourLabels...): n.value()}}}
	default:
		w.Subresource, w.Reported = "status", true
		w.Body = fields{"status": fields{
			"phase": pick(n.dice, "Running", "Failed", "Unknown"), "podIP": pick(n.dice, "10.0.0.1", "::1"),
			"message": n.text(), "reason": pick(n.dice, "Evicted", n.text()),
		}}
	}
	return w
}

// asFields returns an object as JSON.
func asFields(object any) fields {
	content, err := json.Marshal(object)
	out := fields{}
	if err == nil {
		err = json.Unmarshal(content, &out)
	}
	if err != nil {
		panic(err) // the harness has built what JSON does not know
	}
	return out
}
