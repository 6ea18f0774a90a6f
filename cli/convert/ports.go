// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// ports are the names and numbers that the ports of an Instance have so far: its containers share one network.
type ports struct {
	names map[string]bool
	// byNumber are names by number and protocol.
	byNumber map[string]string
}

// convertPorts gives a container its ports. Each has a name and a number of its own in the Instance: a second port with
// a number is left out, and a second port with a name is named after its number. It returns the numbers of ports whose
// names have changed.
func (c *conversion) convertPorts(to *v1alpha.SandboxContainer, from []corev1.ContainerPort, path string) map[string]intstr.IntOrString {
	if c.ports.names == nil {
		c.ports = ports{names: map[string]bool{}, byNumber: map[string]string{}}
	}
	renamed := map[string]intstr.IntOrString{}
	for i, port := range from {
		path := fmt.Sprintf("%s.ports[%d]", path, i)
		protocol := orTCP(port.Protocol)
		number := fmt.Sprintf("%s-%d", strings.ToLower(string(protocol)), port.ContainerPort)
		if other, taken := c.ports.byNumber[number]; taken {
			renamed[port.Name] = intstr.FromInt32(port.ContainerPort)
			if port.Name != "" && port.Name != other {
				c.losef(path, "port %d/%s is port %s already", port.ContainerPort, protocol, other)
			}
			continue
		}
		named := v1alpha.NamedPort{Name: port.Name, Port: port.ContainerPort}
		if port.Protocol != "" {
			named.Protocol = new(port.Protocol)
		}
		if named.Name == "" || c.ports.names[named.Name] {
			named.Name = number
		}
		if port.Name != "" && named.Name != port.Name {
			renamed[port.Name] = intstr.FromInt32(port.ContainerPort)
			c.losef(path+".name", "another container has a port %s; this one is %s here", port.Name, named.Name)
		}
		c.ports.names[named.Name], c.ports.byNumber[number] = true, named.Name
		to.Ports = append(to.Ports, named)
	}
	return renamed
}

// renamedPort returns the port of a probe, by number if its name has changed.
func renamedPort(port intstr.IntOrString, renamed map[string]intstr.IntOrString) intstr.IntOrString {
	if number, ok := renamed[port.StrVal]; ok && port.Type == intstr.String {
		return number
	}
	return port
}

func orTCP(protocol corev1.Protocol) corev1.Protocol {
	if protocol == "" {
		return corev1.ProtocolTCP
	}
	return protocol
}
