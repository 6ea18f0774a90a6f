// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// Bounds of the memory of a process. The chart limits a replica to 1 GiB and an agent to 512 MiB. If one hostile party
// brings a process above half of its limit, two of them end it. Without noise a replica takes about 65 MiB and an agent
// 50 MiB.
const (
	replicaMemory = 512 << 20
	agentMemory   = 256 << 20
)

// statusBytes bounds the status of a hub's copy: a third of what etcd stores as one object.
const statusBytes = 512 << 10

// measure reads the memory of all processes.
func (h *Hostile) measure(ctx context.Context) {
	for name, endpoint := range h.endpoints(ctx) {
		usage, err := h.usage(ctx, endpoint)
		if err != nil {
			continue // a process that is replaced does not answer; that it was is found by the start of the next one
		}
		h.findingMu.Lock()
		peak, known := h.peaks[name]
		if usage.Memory > peak.Memory || usage.Started != peak.Started {
			h.peaks[name] = Usage{Memory: max(usage.Memory, peak.Memory), Started: usage.Started}
		}
		h.findingMu.Unlock()
		bound := float64(replicaMemory)
		if strings.HasPrefix(name, agentPrefix) {
			bound = agentMemory
		}
		if usage.Memory > bound {
			h.find("a process takes more memory than its bound", fmt.Sprintf("%s: over %.0f MiB", name, bound/(1<<20)))
		}
		// The hostile administrator may end the agent of their own cell.
		if known && usage.Started != peak.Started && name != agentPrefix+h.Cell {
			h.find("a process has ended", name)
		}
	}
}

// checkMeasured finds replicas whose memory was never read: the bound would hold for any memory.
func (h *Hostile) checkMeasured() {
	for i := range h.AddOn.Replicas() {
		name := replicaPrefix + strconv.Itoa(i)
		h.findingMu.Lock()
		_, known := h.peaks[name]
		h.findingMu.Unlock()
		if !known {
			h.find("the memory of a process was never read", name)
		}
	}
}

func describePeaks(peaks map[string]Usage) string {
	parts := make([]string, 0, len(peaks))
	for _, name := range slices.Sorted(maps.Keys(peaks)) {
		parts = append(parts, fmt.Sprintf("%s %.0f MiB", name, peaks[name].Memory/(1<<20)))
	}
	return strings.Join(parts, ", ")
}

// checkStrays finds objects with the hostile project's labels in other projects' namespaces.
func (h *Hostile) checkStrays(ctx context.Context) error {
	for _, plane := range h.planes {
		if strings.HasPrefix(plane, "project/") {
			continue
		}
		for _, kind := range []schema.GroupVersionKind{namespaceKind, deploymentKind, configMapKind, secretKind, sliceKind} {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(kind)
			if err := h.collector.planes[plane].List(ctx, list, client.MatchingLabels{v1alpha.LabelProjectUID: h.projectUID}); err != nil {
				return fmt.Errorf("list %s of %s: %w", kind.Kind, plane, err)
			}
			for i := range list.Items {
				object := &list.Items[i]
				own := []string{h.collector.hubNamespaces[h.Project]}
				if h.collector.withoutMilo && plane == hubPlane {
					own = append(own, h.Project)
				}
				if !slices.Contains(own, object.GetNamespace()) && !slices.Contains(own, object.GetName()) {
					h.find("something of the hostile project is in a namespace that is not its own",
						fmt.Sprintf("%s %s %s/%s", plane, kind.Kind, object.GetNamespace(), object.GetName()))
				}
			}
		}
	}
	return nil
}

// checkPods finds Pods of Instances that may take a whole node, in any namespace into which the hostile project has
// brought them.
func (h *Hostile) checkPods(ctx context.Context) error {
	for _, plane := range h.planes {
		if !strings.HasPrefix(plane, "cell/") {
			continue
		}
		var pods corev1.PodList
		if err := h.collector.planes[plane].List(ctx, &pods, client.HasLabels{v1alpha.LabelDeploymentName}); err != nil {
			return fmt.Errorf("list the Pods of %s: %w", plane, err)
		}
		for i := range pods.Items {
			spec := &pods.Items[i].Spec
			for _, container := range slices.Concat(spec.Containers, spec.InitContainers) {
				for _, resource := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
					if limit := container.Resources.Limits[resource]; limit.Sign() <= 0 {
						h.find("a container has no limit", fmt.Sprintf("%s Pod %s/%s: %s of %s, QoS class %s", plane,
							pods.Items[i].Namespace, pods.Items[i].Name, resource, container.Name, pods.Items[i].Status.QOSClass))
					}
				}
				if context := container.SecurityContext; context == nil || context.AllowPrivilegeEscalation == nil ||
					*context.AllowPrivilegeEscalation {
					h.find("a container may gain privileges", fmt.Sprintf("%s Pod %s: %s", plane, pods.Items[i].Name, container.Name))
				}
				if probe := container.ReadinessProbe; probe != nil && probe.HTTPGet != nil && probe.HTTPGet.Host != "" {
					h.find("a node probes another host", fmt.Sprintf("%s Pod %s: %s probes %s", plane, pods.Items[i].Name,
						container.Name, probe.HTTPGet.Host))
				}
			}
		}
	}
	return nil
}

// checkBounds finds accepted reports of the hostile cell about deployments that it was not sent.
func (h *Hostile) checkBounds(ctx context.Context) error {
	for _, project := range h.Projects {
		view, err := h.collector.view(ctx, project)
		if err != nil {
			return err
		}
		at := "project/" + project
		for i := range view.Deployments {
			d := &view.Deployments[i]
			for name, count := range map[string]int32{
				"replicas": d.Status.Replicas, "currentReplicas": d.Status.CurrentReplicas,
				"desiredReplicas": d.Status.DesiredReplicas, "readyReplicas": d.Status.ReadyReplicas,
			} {
				most := d.Spec.ScaleSettings.MinReplicas
				if name != "desiredReplicas" {
					// A rollout has at most as many additional Instances.
					most *= 2
				}
				if count < 0 || count > most {
					h.find("a count is outside of what a cell can have", fmt.Sprintf("%s WorkloadDeployment %s: %s", at, d.Name, name))
				}
			}
		}
		for i := range view.Instances {
			if name := view.Instances[i].Name; !h.mayExist(project, name) {
				h.find("a cell adds an Instance to a project", at+" "+name)
			}
		}
		for i := range view.Copies {
			content, err := json.Marshal(view.Copies[i].Status)
			if err == nil && len(content) > statusBytes {
				h.find("a report is too large", fmt.Sprintf("hub WorkloadDeployment %s/%s", view.Copies[i].Namespace, view.Copies[i].Name))
			}
		}
	}
	return nil
}

// mayExist reports whether a Workload of a project wants an Instance of a name. In a city with several cells an index
// need not be among the lowest, but a deployment that was never larger has no other indices.
func (h *Hostile) mayExist(project, name string) bool {
	for workload, wanted := range h.consumer.wants(project) {
		for _, p := range wanted.Placements {
			for _, city := range p.Cities {
				index, is := naming.InstanceIndex(naming.DeploymentName(workload, p.Name, city), name)
				if is && index < p.Replicas {
					return true
				}
			}
		}
	}
	return false
}
