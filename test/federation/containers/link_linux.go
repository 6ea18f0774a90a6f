// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// unused is an address that no host has (RFC 5737), at which the replicas find out whether a proxy answers for every address. On this
// machine none does: its load balancers have addresses of the machine's own. The route leads to a node, which does not have it, either.
const unused = "203.0.113.1/32"

// Link connects a process in a network namespace of its own with this machine. The link is gone when the namespace is.
// The name of the interface reserves its addresses.
func Link(ctx context.Context, pid int) error {
	for number := range Links {
		name := LinkPrefix + strconv.Itoa(number)
		err := IP(ctx, "link", "add", name, "type", "veth", "peer", "name", name, "netns", strconv.Itoa(pid))
		if err != nil && strings.Contains(err.Error(), "File exists") {
			continue
		}
		if err != nil {
			return err
		}
		subnet, err := SubnetOf(name)
		if err != nil {
			return err
		}
		return errors.Join(
			IP(ctx, "address", "add", subnet.Machine.String(), "dev", name),
			IP(ctx, "link", "set", name, "up"),
			IP(ctx, "route", "add", subnet.Pods.String(), "via", subnet.Node.Addr().String(), "dev", name),
			IP(ctx, "route", "append", unused, "dev", name),
		)
	}
	return fmt.Errorf("this machine has %d nodes already", Links)
}
