// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/karmada-compute/karmada-compute/test/federation/node"
)

// ErrNoAddress says that a request was not sent, because the name has no address.
var ErrNoAddress = errors.New("the name has no address")

// Names are the processes of a federation for the names of exposed Workloads: external-dns, a DNS server, and the load balancers and
// Gateways of cells. The zero value has none. It is safe for concurrent use.
type Names struct {
	mu  sync.Mutex // guards what follows
	dns *DNS
	// ranges are the addresses of the load balancers, and gateways the Gateways, by cell.
	ranges   map[string]string
	gateways map[string]*Gateway
	// served are the cells with a DNS server for their Services.
	served []string
}

// Start starts what the federation does not run yet, with load balancers in these cells.
func (n *Names) Start(ctx context.Context, f *Federation, cells []string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dns == nil {
		dns, err := f.StartDNS(ctx)
		if err != nil {
			return err
		}
		n.dns, n.ranges, n.gateways = dns, map[string]string{}, map[string]*Gateway{}
	}
	// It ends when the hub's API server does not answer. In a cluster, a kubelet starts it again.
	if err := f.StartAgain(ctx, externalDNS); err != nil {
		return err
	}
	for _, cell := range cells {
		if n.ranges[cell] != "" {
			continue
		}
		within, err := f.StartLoadBalancers(ctx, cell)
		if err != nil {
			return err
		}
		n.ranges[cell] = within
	}
	return nil
}

// StartGateways starts the Gateways that do not run yet, in cells with load balancers.
func (n *Names) StartGateways(ctx context.Context, f *Federation, cells []string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, cell := range cells {
		if n.gateways[cell] != nil {
			continue
		}
		gateway, err := f.StartGateway(ctx, cell, n.ranges[cell])
		if err != nil {
			return err
		}
		n.gateways[cell] = gateway
	}
	return nil
}

// StartCellDNS starts the DNS server of a cell of containers, once.
func (n *Names) StartCellDNS(ctx context.Context, f *Federation, cell string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if slices.Contains(n.served, cell) {
		return nil
	}
	if err := f.StartCellDNS(ctx, cell); err != nil {
		return err
	}
	n.served = append(n.served, cell)
	return nil
}

// Server returns the address of the DNS server.
func (n *Names) Server() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dns.Address
}

// Resolve returns the addresses of a name; none if the server has no answer.
func (n *Names) Resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	n.mu.Lock()
	resolver := n.dns.Resolver()
	n.mu.Unlock()
	addresses, err := resolver.LookupNetIP(ctx, "ip4", name+".")
	var missing *net.DNSError
	if errors.As(err, &missing) && missing.IsNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", name, err)
	}
	return addresses, nil
}

// CellOf returns the cell whose load balancers have an address.
func (n *Names) CellOf(address netip.Addr) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for cell, within := range n.ranges {
		if prefix, err := netip.ParsePrefix(within); err == nil && prefix.Contains(address) {
			return cell
		}
	}
	return "no cell"
}

// Gateway returns the address of the Gateway of a cell.
func (n *Names) Gateway(cell string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.gateways[cell] == nil {
		return ""
	}
	return n.gateways[cell].Address
}

// gatewayAt returns the Gateway with an address; nil: it is the one of a load balancer.
func (n *Names) gatewayAt(address netip.Addr) *Gateway {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, gateway := range n.gateways {
		if gateway.Address == address.String() {
			return gateway
		}
	}
	return nil
}

// Request resolves a name, and sends request number to one of its addresses in turn.
func (n *Names) Request(ctx context.Context, name string, number int) error {
	addresses, err := n.Resolve(ctx, name)
	if err != nil {
		return err
	}
	if len(addresses) == 0 {
		return fmt.Errorf("%s: %w", name, ErrNoAddress)
	}
	return n.RequestAt(ctx, name, addresses[number%len(addresses)])
}

// RequestAt sends a request for a name to an address of it, by TLS if it is a Gateway's.
func (n *Names) RequestAt(ctx context.Context, name string, address netip.Addr) error {
	if gateway := n.gatewayAt(address); gateway != nil {
		_, err := gateway.Get(ctx, "https", name)
		return err
	}
	return RequestAt(ctx, name, address)
}

// IsRedirected returns an error unless the Gateway of a name redirects requests in clear text to TLS.
func (n *Names) IsRedirected(ctx context.Context, name string) error {
	addresses, err := n.Resolve(ctx, name)
	if err != nil {
		return err
	}
	for _, address := range addresses {
		gateway := n.gatewayAt(address)
		if gateway == nil {
			return fmt.Errorf("%s has address %s, which is not a Gateway's", name, address)
		}
		if err := gateway.redirects(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// redirects returns an error unless the Gateway redirects a request for a name in clear text to TLS.
func (g *Gateway) redirects(ctx context.Context, name string) error {
	location, err := g.Get(ctx, "http", name)
	if err == nil && !strings.HasPrefix(location, "https://"+name) {
		err = fmt.Errorf("%s in clear text leads to %q", name, location)
	}
	return err
}

// Get sends a request for a name to the Gateway, in clear text or by TLS, as its clients do. A redirect is not followed: location is
// where it leads.
func (g *Gateway) Get(ctx context.Context, scheme, name string) (location string, err error) {
	client := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: g.Trusted, MinVersion: tls.VersionTLS12},
			DialContext: func(ctx context.Context, network, at string) (net.Conn, error) {
				_, port, err := net.SplitHostPort(at)
				if err != nil {
					return nil, err
				}
				return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(g.listens, port))
			},
		},
	}
	return get(ctx, client, scheme+"://"+name+"/", name)
}

// RequestAt sends a request for a name to an address of it.
func RequestAt(ctx context.Context, name string, address netip.Addr) error {
	local, err := node.Local(address.String())
	if err != nil {
		return err
	}
	if _, err := get(ctx, fresh, "http://"+local+"/", name); err != nil {
		return fmt.Errorf("request to %s at %s: %w", name, address, err)
	}
	return nil
}

// get sends a request for a host. It fails unless the answer is 200, or a redirect.
func get(ctx context.Context, client *http.Client, url, host string) (location string, err error) {
	ctx, cancel := context.WithTimeout(ctx, nameTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	request.Host = host
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	location = response.Header.Get("Location")
	if err := response.Body.Close(); err != nil || location == "" && response.StatusCode != http.StatusOK {
		return "", errors.Join(fmt.Errorf("request to %s: %s", url, response.Status), err)
	}
	return location, nil
}

// nameTimeout is how long a busy machine may take for one request.
const nameTimeout = 5 * time.Second

// fresh is a client with a connection for each request: each goes to the address that the name has then.
var fresh = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
