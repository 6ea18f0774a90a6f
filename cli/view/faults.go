// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Fault is a fault of the add-on on the hub, of a city or of a cell.
type Fault struct {
	// Subject is the replica, city or cell that has the fault; "replicas" and "names" if no object has it.
	Subject string `json:"subject"`
	Finding
}

// Well reports whether no fault requires an action.
func (f *Federation) Well() bool { return len(f.Faults) == 0 }

// faults returns the faults of a summary: of the replicas, without which all else is outdated, of cells, of cities and of names.
func faults(o *HubObjects, f *Federation, now time.Time) []Fault {
	result := replicaFaults(f.Replicas, now)
	for i := range f.Cells {
		if f.Cells[i].Finding != nil {
			result = append(result, Fault{f.Cells[i].Name, *f.Cells[i].Finding})
		}
	}
	for i := range f.Cities {
		if city := &f.Cities[i]; city.Cells == 0 && city.Desired > 0 {
			result = append(result, Fault{city.Name, Finding{
				Reason: v1alpha.ReasonNoMatchingLocation, Actor: reasons.ActorOperator,
				Message: fmt.Sprintf("no cell serves the city; %d Instances are wanted there", city.Desired),
				Do:      "Give the label " + v1alpha.LabelTopologyCity + " of the city to a Cluster, or ask the consumers to name another city.",
			}})
		}
	}
	if about := reasons.AboutRecords(o.Records, now); about != "" {
		result = append(result, Fault{"names", *findingOf(&metav1.Condition{
			Type: v1alpha.ConditionNamesProgrammed, Reason: v1alpha.ReasonRecordMissing, Message: about,
		}, moment{now: now})})
	}
	return result
}

// replicaFaults returns the faults of replicas: none runs, or one has ended and no other one has noticed.
func replicaFaults(replicas []Replica, now time.Time) []Fault {
	const do = "Check the Pods of Deployment karmada-compute on the host, and whether they reach the hub: their logs have the cause."
	if !slices.ContainsFunc(replicas, func(r Replica) bool { return r.Running }) {
		return []Fault{{"replicas", Finding{
			Reason: "NoReplica", Actor: reasons.ActorOperator, Do: do,
			Message: "no replica of karmada-compute runs: no change of a Workload has an effect, and no report of a cell is shown",
		}}}
	}
	var result []Fault
	for _, r := range replicas {
		if !r.Running {
			result = append(result, Fault{r.Name, Finding{
				Reason: "ReplicaNotRunning", Actor: reasons.ActorOperator, Do: do,
				Message: fmt.Sprintf("the replica has not renewed its Lease for %s", duration.HumanDuration(now.Sub(r.Renewed.Time))),
			}})
		}
	}
	return result
}
