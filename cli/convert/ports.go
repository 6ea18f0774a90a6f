// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// portsOf gives a port without a name the name of its protocol and number. A port that is written twice is one port.
func portsOf(from []corev1.ContainerPort) []v1alpha.NamedPort {
	names := map[string]bool{}
	for _, port := range from {
		names[port.Name] = true
	}
	var target []v1alpha.NamedPort
	for i, port := range from {
		same := func(other corev1.ContainerPort) bool {
			sameNumber := other.ContainerPort == port.ContainerPort && orTCP(other.Protocol) == orTCP(port.Protocol)
			return sameNumber && (port.Name == "" || port.Name == other.Name)
		}
		if slices.ContainsFunc(from[:i], same) {
			continue
		}
		named := v1alpha.NamedPort{Name: port.Name, Port: port.ContainerPort}
		if port.Protocol != "" {
			named.Protocol = new(port.Protocol)
		}
		for n := 1; named.Name == ""; n++ {
			name := strings.ToLower(fmt.Sprintf("%s-%d", orTCP(port.Protocol), port.ContainerPort))
			if n > 1 {
				name = fmt.Sprintf("%s-%d", name, n)
			}
			if !names[name] {
				named.Name, names[name] = name, true
			}
		}
		target = append(target, named)
	}
	return target
}

func orTCP(protocol corev1.Protocol) corev1.Protocol {
	if protocol == "" {
		return corev1.ProtocolTCP
	}
	return protocol
}
