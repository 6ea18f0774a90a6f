// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// hostIP is the IP of the node: its Pods run on this machine.
const hostIP = "127.0.0.1"

// field returns the value of a field of the Pod, for a variable or a file of the downward API.
func (p *pod) field(path string) (string, error) {
	object := p.current()
	if name, key, ok := strings.Cut(path, "['"); ok {
		key = strings.TrimSuffix(key, "']")
		switch name {
		case "metadata.labels":
			return object.Labels[key], nil
		case "metadata.annotations":
			return object.Annotations[key], nil
		}
	}
	switch path {
	case "metadata.name":
		return object.Name, nil
	case "metadata.namespace":
		return object.Namespace, nil
	case "metadata.uid":
		return string(object.UID), nil
	case "metadata.labels":
		return formatMap(object.Labels), nil
	case "metadata.annotations":
		return formatMap(object.Annotations), nil
	case "spec.nodeName":
		return object.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return serviceAccount(object), nil
	case "status.podIP", "status.podIPs":
		return p.address.Local, nil
	case "status.hostIP", "status.hostIPs":
		return hostIP, nil
	}
	return "", fmt.Errorf("field %q of the Pod is not supported on this node", path)
}

func formatMap(m map[string]string) string {
	lines := make([]string, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		lines = append(lines, key+"="+strconv.Quote(m[key]))
	}
	return strings.Join(lines, "\n")
}

func serviceAccount(object *corev1.Pod) string {
	if name := object.Spec.ServiceAccountName; name != "" {
		return name
	}
	return "default"
}

// resource returns the value of a request or limit of a container in units of the divisor, rounded up. The default of a limit is
// the capacity of the node.
func (p *pod) resource(selector *corev1.ResourceFieldSelector, container string) (string, error) {
	if selector.ContainerName != "" {
		container = selector.ContainerName
	}
	object := p.current()
	all := slices.Concat(object.Spec.InitContainers, object.Spec.Containers)
	i := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == container })
	if i < 0 {
		return "", fmt.Errorf("resource of container %q, which the Pod does not have", container)
	}
	kind, name, _ := strings.Cut(selector.Resource, ".")
	key := corev1.ResourceName(name)
	var quantity resource.Quantity
	switch kind {
	case "requests":
		quantity = all[i].Resources.Requests[key]
	case "limits":
		limit, ok := all[i].Resources.Limits[key]
		if !ok {
			limit = p.node.options.Capacity[key]
		}
		quantity = limit
	default:
		return "", fmt.Errorf("resource %q of a container is not supported on this node", selector.Resource)
	}
	return divide(quantity, selector.Divisor), nil
}

func divide(quantity, divisor resource.Quantity) string {
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	a, b := big.NewInt(quantity.MilliValue()), big.NewInt(divisor.MilliValue())
	result, rest := new(big.Int).DivMod(a, b, new(big.Int))
	if rest.Sign() > 0 {
		result.Add(result, big.NewInt(1))
	}
	return result.String()
}
