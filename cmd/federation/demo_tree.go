// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// tree is the state of one Workload in its project.
type tree struct {
	// workload is nil when it does not exist.
	workload    *v1alpha.Workload
	deployments []v1alpha.WorkloadDeployment
	instances   []v1alpha.Instance
}

// row is one line of the tree before its columns are aligned.
type row [4]string

// lines renders the tree: the Workload, below it its deployments by city, below each its Instances by index. Instances
// whose deployment is gone come last.
func (t *tree) lines() []string {
	if t.workload == nil && len(t.deployments) == 0 && len(t.instances) == 0 {
		return []string{"no objects"}
	}
	rows := []row{t.workloadRow()}
	deployments := slices.Clone(t.deployments)
	slices.SortFunc(deployments, func(a, b v1alpha.WorkloadDeployment) int {
		return cmp.Or(cmp.Compare(a.Spec.CityCode, b.Spec.CityCode), cmp.Compare(a.Name, b.Name))
	})
	strays := t.strays()
	for i := range deployments {
		branch, below := "├─ ", "│  "
		if i == len(deployments)-1 && len(strays) == 0 {
			branch, below = "└─ ", "   "
		}
		rows = append(rows, deploymentRow(branch, &deployments[i]))
		rows = append(rows, instanceRows(below, t.instancesOf(&deployments[i]))...)
	}
	rows = append(rows, instanceRows("", strays)...)
	return align(rows)
}

func (t *tree) workloadRow() row {
	if t.workload == nil {
		return row{"Workload", "gone"}
	}
	status := &t.workload.Status
	return objectRow("Workload "+t.workload.Name, t.workload, status.ReplicaCounts, status.Conditions)
}

func deploymentRow(branch string, deployment *v1alpha.WorkloadDeployment) row {
	name := branch + deployment.Spec.CityCode + "  " + deployment.Name
	return objectRow(name, deployment, deployment.Status.ReplicaCounts, deployment.Status.Conditions)
}

// objectRow returns the row of an object with replicas. It has a message only while the object is not Available.
func objectRow(name string, object metav1.Object, counts v1alpha.ReplicaCounts, conditions []metav1.Condition) row {
	result := row{name, fmt.Sprintf("%d/%d Ready", counts.ReadyReplicas, counts.DesiredReplicas)}
	if object.GetDeletionTimestamp() != nil {
		result[1] = "deleting"
	}
	if available := meta.FindStatusCondition(conditions, v1alpha.ConditionAvailable); available != nil {
		result[2] = available.Reason
		if available.Status != metav1.ConditionTrue {
			result[3] = firstLine(available.Message)
		}
	}
	return result
}

func instanceRows(indent string, instances []v1alpha.Instance) []row {
	var rows []row
	for i := range instances {
		branch := "├─ "
		if i == len(instances)-1 {
			branch = "└─ "
		}
		rows = append(rows, instanceRow(indent+branch, &instances[i]))
	}
	return rows
}

func instanceRow(branch string, instance *v1alpha.Instance) row {
	result := row{branch + instance.Name, "waiting"}
	ready := meta.FindStatusCondition(instance.Status.Conditions, v1alpha.ConditionReady)
	switch {
	case ready == nil:
	case ready.Status == metav1.ConditionTrue:
		result = row{result[0], "Ready", ready.Reason, networkIP(instance)}
	default:
		result = row{result[0], "not Ready", ready.Reason, firstLine(ready.Message)}
	}
	if instance.DeletionTimestamp != nil {
		result[1] = "deleting"
	}
	return result
}

func networkIP(instance *v1alpha.Instance) string {
	var addresses []string
	for _, networkInterface := range instance.Status.NetworkInterfaces {
		if address := networkInterface.Assignments.NetworkIP; address != nil {
			addresses = append(addresses, *address)
		}
	}
	return strings.Join(addresses, ", ")
}

// instancesOf returns the Instances of a deployment, sorted by index.
func (t *tree) instancesOf(deployment *v1alpha.WorkloadDeployment) []v1alpha.Instance {
	var result []v1alpha.Instance
	for i := range t.instances {
		if metav1.IsControlledBy(&t.instances[i], deployment) {
			result = append(result, t.instances[i])
		}
	}
	slices.SortFunc(result, func(a, b v1alpha.Instance) int {
		first, _ := v1alpha.InstanceIndex(deployment.Name, a.Name)
		second, _ := v1alpha.InstanceIndex(deployment.Name, b.Name)
		return cmp.Or(cmp.Compare(first, second), cmp.Compare(a.Name, b.Name))
	})
	return result
}

// strays returns the Instances whose deployment is gone, sorted by name.
func (t *tree) strays() []v1alpha.Instance {
	result := slices.DeleteFunc(slices.Clone(t.instances), func(instance v1alpha.Instance) bool {
		return slices.ContainsFunc(t.deployments, func(deployment v1alpha.WorkloadDeployment) bool {
			return metav1.IsControlledBy(&instance, &deployment)
		})
	})
	slices.SortFunc(result, func(a, b v1alpha.Instance) int { return cmp.Compare(a.Name, b.Name) })
	return result
}

// ready returns the number of Instances that are Ready.
func (t *tree) ready() int {
	count := 0
	for i := range t.instances {
		if meta.IsStatusConditionTrue(t.instances[i].Status.Conditions, v1alpha.ConditionReady) {
			count++
		}
	}
	return count
}

// settled reports whether the project has exactly the Instances that the Workload requests, all Ready, and the Workload's
// status counts them.
func (t *tree) settled() bool {
	if t.workload == nil || t.workload.Status.ObservedGeneration != t.workload.Generation {
		return false
	}
	want := wanted(t.workload)
	return len(t.instances) == want && t.ready() == want && int(t.workload.Status.ReadyReplicas) == want
}

// gone reports whether nothing of the Workload is left.
func (t *tree) gone() bool {
	return t.workload == nil && len(t.deployments) == 0 && len(t.instances) == 0
}

// wanted returns the number of Instances that a Workload requests.
func wanted(workload *v1alpha.Workload) int {
	count := 0
	for i := range workload.Spec.Placements {
		placement := &workload.Spec.Placements[i]
		count += len(placement.CityCodes) * int(placement.ScaleSettings.MinReplicas)
	}
	return count
}

// problems returns the conditions because of which the tree is not settled, one line each, for an error message.
func (t *tree) problems() []string {
	var lines []string
	add := func(name string, conditions []metav1.Condition, conditionTypes ...string) {
		if line := problem(conditions, conditionTypes); line != "" {
			lines = append(lines, name+": "+line)
		}
	}
	if t.workload != nil {
		add("Workload "+t.workload.Name, t.workload.Status.Conditions, v1alpha.ConditionAvailable)
	}
	for i := range t.deployments {
		deployment := &t.deployments[i]
		// Until its cell has reported, only Available says what a deployment waits for.
		add("WorkloadDeployment "+deployment.Name, deployment.Status.Conditions, v1alpha.ConditionReplicasReady, v1alpha.ConditionAvailable)
	}
	for i := range t.instances {
		add("Instance "+t.instances[i].Name, t.instances[i].Status.Conditions, v1alpha.ConditionReady)
	}
	return lines
}

// problem describes the first condition that exists, unless it is True.
func problem(conditions []metav1.Condition, conditionTypes []string) string {
	for _, conditionType := range conditionTypes {
		condition := meta.FindStatusCondition(conditions, conditionType)
		switch {
		case condition == nil:
			continue
		case condition.Status == metav1.ConditionTrue:
			return ""
		}
		return fmt.Sprintf("%s is %s (%s) %s", conditionType, condition.Status, condition.Reason, firstLine(condition.Message))
	}
	return "has no condition " + conditionTypes[0]
}

// align pads all columns but the last to the same width in every row.
func align(rows []row) []string {
	var widths [len(row{})]int
	for _, r := range rows {
		for i, cell := range r {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, 0, len(rows))
	for _, r := range rows {
		var line strings.Builder
		for i, cell := range r {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}

func firstLine(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return line
}
