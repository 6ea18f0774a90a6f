// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// leaf is a field of an object that is no list and no map, or is an empty one.
type leaf struct {
	path  string
	value any
}

// leavesOf returns the fields of a value.
func leavesOf(value any, path string) []leaf {
	var found []leaf
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			next := path + "." + key
			if strings.HasSuffix(path, ".labels") || strings.HasSuffix(path, ".annotations") {
				next = path + "[" + key + "]"
			}
			found = append(found, leavesOf(field, strings.TrimPrefix(next, "."))...)
		}
		if len(value) > 0 {
			return found
		}
	case []any:
		for i, item := range value {
			found = append(found, leavesOf(item, fmt.Sprintf("%s[%d]", path, i))...)
		}
		if len(value) > 0 {
			return found
		}
	}
	return []leaf{{path, value}}
}

var index = regexp.MustCompile(`\[[0-9]+\]`)

// moved has the places of fields in a Workload, the longest first.
var moved = []struct{ from, to string }{
	{"spec.template.spec.containers", "spec.template.spec.runtime.sandbox.containers"},
	{"spec.template.spec.initContainers", "spec.template.spec.runtime.sandbox.initContainers"},
	{"spec.template.spec.terminationGracePeriodSeconds", "spec.template.spec.runtime.sandbox.terminationGracePeriodSeconds"},
	{"spec.template.spec.securityContext", "spec.template.spec.runtime.sandbox.securityContext"},
	{"spec.template.spec.imagePullSecrets", "spec.template.spec.runtime.sandbox.imagePullSecrets"},
	{".volumeMounts", ".volumeAttachments"},
	{".ports.containerPort", ".ports.port"},
	{"spec.replicas", "spec.placements.scaleSettings.minReplicas"},
	{"spec.podManagementPolicy", "spec.placements.scaleSettings.instanceManagementPolicy"},
	{"spec.paused", "spec.rollout.paused"},
	{"spec.progressDeadlineSeconds", "spec.rollout.progressDeadlineSeconds"},
	{"spec.revisionHistoryLimit", "spec.rollout.revisionHistoryLimit"},
	{"spec.strategy.rollingUpdate", "spec.rollout"},
	{"spec.updateStrategy.rollingUpdate", "spec.rollout"},
}

// place is where a field of an object is in a Workload, without indexes.
func place(path string) string {
	path = index.ReplaceAllString(path, "")
	for _, move := range moved {
		if strings.HasPrefix(move.from, ".") || strings.HasPrefix(path+".", move.from+".") {
			path = strings.Replace(path, move.from, move.to, 1)
		}
	}
	return path
}

var (
	amount       = regexp.MustCompile(`\.(limits|requests|sizeLimit|divisor)(\.|$)`)
	unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)
)

// text is a value as text: of equal quantities the same.
func (l leaf) text() string {
	if amount.MatchString(l.path) {
		if quantity, err := resource.ParseQuantity(fmt.Sprint(l.value)); err == nil {
			return fmt.Sprint(quantity.AsApproximateFloat64())
		}
	}
	encoded, _ := json.Marshal(l.value)
	return string(encoded)
}

// outputLeaves counts the fields of the Workloads, by place and value.
func outputLeaves(t *testing.T, result *Result) map[string]int {
	t.Helper()
	count := map[string]int{}
	for _, object := range result.Objects {
		if _, isWorkload := object.(*v1alpha.Workload); !isWorkload {
			continue
		}
		tree, err := treeOf(object)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range leavesOf(tree, "") {
			count[index.ReplaceAllString(of.path, "")+"="+of.text()]++
		}
	}
	return count
}

// ofServer are fields that API servers and controllers set, and what a Workload needs no more.
var ofServer = regexp.MustCompile(`^(apiVersion|kind|status.*|spec\.selector.*|spec\.template\.metadata\.(name|namespace|creationTimestamp)|` +
	`metadata\.(uid|resourceVersion|generation|creationTimestamp|selfLink|managedFields.*)|` +
	`metadata\.annotations\[(kubectl\.kubernetes\.io/last-applied-configuration|deployment\.kubernetes\.io/.*)\])$`)

// defaults are fields with their default values in Kubernetes, and fields whose values are judged together with others.
var defaults = regexp.MustCompile(`^spec\.(strategy\.type="(RollingUpdate|Recreate)"|updateStrategy\.type="RollingUpdate"|podManagementPolicy="OrderedReady"|` +
	`updateStrategy\.rollingUpdate\.partition=0|ordinals\.start=0|minReadySeconds=0|persistentVolumeClaimRetentionPolicy\.when\w+="Retain"|replicas=1|` +
	`template\.spec\.(restartPolicy="Always"|dnsPolicy="ClusterFirst(WithHostNet)?"|volumes\[\d+\]\.projected\.defaultMode=\d+|schedulerName="default-scheduler"|enableServiceLinks=(true|false)|` +
	`automountServiceAccountToken=(true|false)|shareProcessNamespace=false|setHostnameAsFQDN=false|hostUsers=true|priority=0|preemptionPolicy="PreemptLowerPriority"|` +
	`os\.name="linux"|nodeSelector\.kubernetes\.io/os="linux"|serviceAccount(Name)?="default"|host(Network|PID|IPC)=false|` +
	`(containers\[\d+\]\.|initContainers\[\d+\]\.|)securityContext\.(privileged=false|allowPrivilegeEscalation=false|procMount="Default"|` +
	`capabilities\.drop\[\d+\]=.*|seccompProfile\.type="RuntimeDefault"|appArmorProfile\.type="RuntimeDefault"|fsGroupChangePolicy="\w+"|supplementalGroupsPolicy="Merge")|` +
	`(initC|c)ontainers\[\d+\]\.(imagePullPolicy=.*|terminationMessagePath="/dev/termination-log"|terminationMessagePolicy="File"|ports\[\d+\]\.hostPort=0|` +
	`.*\.initialDelaySeconds=0|lifecycle\..*\.sleep\.seconds=0|resources\..*="?0"?|volumeMounts\[\d+\]\.(readOnly=false|recursiveReadOnly="(Disabled|IfPossible)"|mountPropagation="None")|` +
	`(env|ports)\[\d+\].*)))$`)

// checkObject checks that each field of an object is in the Workloads or in the list, unless it is empty or a default,
// and that the list has no field that is in the Workloads.
func checkObject(t *testing.T, object source, result *Result, out map[string]int) {
	t.Helper()
	var losses []Loss
	var listed []string
	for _, loss := range result.Losses {
		if loss.Object == describe(object.Unstructured) {
			losses = append(losses, loss)
			listed = append(listed, listedPath(loss))
		}
	}
	leaves := leavesOf(object.Object, "")
	// lost are the fields that are not in the Workloads, and kept the others.
	var lost, kept []leaf
	for _, of := range leaves {
		if isEmptyLeaf(of) || isKept(of, out) {
			kept = append(kept, of)
			continue
		}
		lost = append(lost, of)
		// A device that is listed as a limit is listed once.
		if ofServer.MatchString(of.path) || isListed(of.path, listed) || isListed(strings.Replace(of.path, ".requests.", ".limits.", 1), listed) {
			continue
		}
		entry := of.path + "=" + of.text()
		isVariable := strings.Contains(of.path, ".env[") && !strings.Contains(of.path, "fieldRef")
		if isVariable || !defaults.MatchString(entry) {
			t.Errorf("%s: %s is lost silently", describe(object.Unstructured), entry)
		}
	}
	for i, loss := range losses {
		if listed[i] != "" && !changed.MatchString(loss.Path) {
			checkLoss(t, loss, lost, kept)
		}
	}
}

// listedPath is the field of a loss; "": of the whole object.
func listedPath(loss Loss) string {
	if match := unknownField.FindStringSubmatch(loss.Why); match != nil {
		return match[1]
	}
	if loss.Path == podPath+".containers" {
		return ""
	}
	return loss.Path
}

// isEmptyLeaf reports whether a field asks for nothing.
func isEmptyLeaf(of leaf) bool {
	switch value := of.value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case map[string]any, []any:
		return true
	default:
		return false
	}
}

// keyed is the name of a volume or of a variable.
var keyed = regexp.MustCompile(`^(.*\.(?:volumes|env)\[\d+\])\.name$`)

// isListed reports whether a field, or what it is part of, is in a list.
func isListed(path string, listed []string) bool {
	element := ""
	if match := keyed.FindStringSubmatch(path); match != nil {
		// The name of a volume or of a variable goes with its source.
		element = match[1] + "."
	}
	return slices.ContainsFunc(listed, func(of string) bool {
		return of != "" && (isPart(path, of) || element != "" && strings.HasPrefix(of, element))
	})
}

// isPart reports whether a field is another one, or a part of it.
func isPart(path, of string) bool {
	rest, found := strings.CutPrefix(path, of)
	return found && (rest == "" || strings.ContainsAny(rest[:1], ".["))
}

// isKept reports whether the Workloads have a field.
func isKept(of leaf, out map[string]int) bool {
	if strings.HasSuffix(of.path, ".fieldRef.fieldPath") {
		// Fields that an Instance has under another name.
		_, key, _ := templates.SplitFieldPath(fmt.Sprint(of.value))
		return key == appsv1.PodIndexLabel || key == appsv1.StatefulSetPodNameLabel || out[place(of.path)+"="+of.text()] > 0
	}
	if of.path == "spec.serviceName" {
		// A Service with an address gives no names to Pods.
		return slices.ContainsFunc(slices.Collect(maps.Keys(out)), func(kept string) bool { return strings.HasPrefix(kept, "spec.service.") })
	}
	if strings.HasSuffix(of.path, ".mountPath") && !strings.HasPrefix(fmt.Sprint(of.value), "/") {
		of.value = "/" + fmt.Sprint(of.value)
	}
	return out[place(of.path)+"="+of.text()] > 0
}

// changed are fields that are kept and mean something else.
var changed = regexp.MustCompile(`^(metadata\.name|spec\.serviceName|(spec\.template\.)?metadata\.(labels|annotations)\[.+\]|spec\.replicas|` +
	regexp.QuoteMeta(podPath) + `\.(containers|(initContainers|containers)\[\d+\]|.*\.(lifecycle\.preStop|env\[\d+\](\.value)?|(command|args)\[\d+\])))$`)

// checkLoss checks that a listed field is not in the Workloads unchanged, and asks for something.
func checkLoss(t *testing.T, loss Loss, lost, kept []leaf) {
	t.Helper()
	under := func(of leaf) bool { return isPart(of.path, listedPath(loss)) }
	hasItem := func(of leaf) bool {
		rest, isUnder := strings.CutPrefix(of.path, listedPath(loss))
		return isUnder && (strings.Contains(rest, "[") || strings.HasSuffix(loss.Path, ".nodeSelector") && rest != "")
	}
	if slices.ContainsFunc(kept, hasItem) {
		// A list with an item asks for something, and so does a label of nodes without a value.
		return
	}
	asks := func(of leaf) bool {
		entry := of.path + "=" + of.text()
		return under(of) && (strings.Contains(entry, "ontainers[") || strings.Contains(entry, "Retain") || !defaults.MatchString(entry))
	}
	if slices.ContainsFunc(kept, under) && !slices.ContainsFunc(lost, under) ||
		slices.ContainsFunc(lost, under) && !slices.ContainsFunc(lost, asks) {
		t.Errorf("listed, and not lost: %s", loss)
	}
}
