// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/stream"
)

// forwarding holds the flags of port-forward.
type forwarding struct {
	addresses []string
	lifetime  time.Duration
}

// forwarded is a local port with its port of the Instance.
type forwarded struct{ local, remote int32 }

func (c *commands) portForwardCommand() *cobra.Command {
	o := forwarding{}
	cmd := &cobra.Command{
		Use:   "port-forward (INSTANCE | WORKLOAD) [LOCAL_PORT:]REMOTE_PORT...",
		Short: "Forward local ports to an Instance",
		Long: "Forward local ports to an Instance, or to the first Ready Instance of a Workload, until the session ends or you interrupt the\n" +
			"command. A remote port may be the name of a port of a container. The operator must have enabled sessions, and you need\n" +
			"`create`, `get` and `delete` on instancesessions and `create` on instances/portforward in the project.",
		Example: c.Examples(`
  # Port 8080 of the Instance at port 8080 of this machine
  %s port-forward web-main-dfw-0 8080
  # Port http of an Instance of Workload web at port 18080
  %s port-forward web 18080:http
  # Port 80 of the Instance at port 8888, and port 443 at a free port
  %s port-forward web-main-dfw-0 8888:80 :443`),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errors.New("port-forward takes the name of an Instance or of a Workload, and ports\nSee 'port-forward -h' for help and examples")
			}
			return nil
		},
		ValidArgsFunction: c.CompleteObjects(command.Ports),
		RunE: c.Run(func(ctx context.Context, args []string) error {
			return c.portForward(ctx, args[0], args[1:], &o)
		}),
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.addresses, "address", []string{"127.0.0.1"}, "Addresses of this machine to listen on.")
	flags.DurationVar(&o.lifetime, "session-ttl", time.Hour, "Longest time of the session, from 1m to 1h.")
	return cmd
}

// portOf returns a port of an Instance by its number or name.
func portOf(instance *v1alpha.Instance, port string) (int32, error) {
	if number, err := strconv.ParseUint(port, 10, 16); err == nil && number > 0 {
		return int32(number), nil
	}
	var names []string
	for _, container := range instance.Spec.Runtime.Sandbox.AllContainers() {
		for _, named := range container.Ports {
			if named.Name == port {
				return named.Port, nil
			}
			names = append(names, named.Name)
		}
	}
	return 0, fmt.Errorf("%q is not a port from 1 to 65535, and no name of a port of Instance %s, which has: %s", port, instance.Name,
		cmp.Or(strings.Join(names, ", "), "no named port"))
}

// parsePorts reads ports as kubectl does.
func parsePorts(instance *v1alpha.Instance, args []string) ([]forwarded, error) {
	var ports []forwarded
	for _, arg := range args {
		local, remote, both := strings.Cut(arg, ":")
		if !both {
			remote = local
		}
		remotePort, err := portOf(instance, remote)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", arg, err)
		}
		localPort := remotePort
		if both {
			asked, err := strconv.ParseUint(cmp.Or(local, "0"), 10, 16)
			if err != nil {
				return nil, fmt.Errorf("%q: %q is not a port from 0 to 65535", arg, local)
			}
			localPort = int32(asked)
		}
		ports = append(ports, forwarded{localPort, remotePort})
	}
	return ports, nil
}

func (c *commands) portForward(ctx context.Context, name string, args []string, o *forwarding) error {
	s, err := c.ConnectToProject(ctx)
	if err != nil {
		return err
	}
	instance, err := instanceOf(ctx, s, name)
	if err != nil {
		return err
	}
	ports, err := parsePorts(instance, args)
	if err != nil {
		return err
	}
	spec := v1alpha.InstanceSessionSpec{
		Type: v1alpha.SessionPortForward, InstanceRef: v1alpha.SessionInstanceReference{Name: instance.Name, UID: instance.UID},
		TTLSeconds: int32(o.lifetime / time.Second), //nolint:gosec // admission bounds it
	}
	asked := map[int32]bool{}
	for _, port := range ports {
		if !asked[port.remote] {
			spec.Ports = append(spec.Ports, port.remote)
		}
		asked[port.remote] = true
	}
	opened, err := stream.Open(ctx, s.Project, &v1alpha.InstanceSession{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, GenerateName: "ports-"}, Spec: spec,
	})
	if err != nil {
		return err
	}
	defer opened.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	for _, address := range o.addresses {
		for _, port := range ports {
			if err := c.listen(ctx, group, opened, net.JoinHostPort(address, strconv.Itoa(int(port.local))), port.remote); err != nil {
				return err
			}
		}
	}
	return group.Wait()
}

// listen forwards connections to an address until the group ends.
func (c *commands) listen(ctx context.Context, group *errgroup.Group, target *stream.Session, address string, port int32) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c.Streams.Out, "Forwarding from %s -> %d\n", listener.Addr(), port); err != nil {
		return errors.Join(err, listener.Close())
	}
	_, local, _ := net.SplitHostPort(listener.Addr().String()) // it is an address with a port
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	group.Go(func() error {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return errors.Join(err, listener.Close())
			}
			if _, err := fmt.Fprintln(c.Streams.Out, "Handling connection for", local); err != nil {
				return errors.Join(err, connection.Close(), listener.Close())
			}
			group.Go(func() error { return c.tunnel(ctx, target, connection, port) })
		}
	})
	return nil
}

// tunnel carries one connection. Its failure ends the command only if the session is over.
func (c *commands) tunnel(ctx context.Context, target *stream.Session, connection net.Conn, port int32) error {
	defer func() { _ = connection.Close() }() // Tunnel has ended it
	err := target.Tunnel(ctx, port, connection)
	if err == nil || ctx.Err() != nil || errors.Is(err, stream.ErrOver) {
		return err
	}
	_, err = fmt.Fprintf(c.Streams.ErrOut, "error: a connection to port %d: %v\n", port, err)
	return err
}
