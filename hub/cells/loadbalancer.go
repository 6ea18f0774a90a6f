// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	karmadanames "github.com/karmada-io/karmada/pkg/util/names"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Bounds of AnnotationLoadBalancer.
const (
	// maxBalancer is the longest text, in bytes.
	maxBalancer = 16 << 10
	// MaxBalancerAnnotations is the most annotations of a Service that a cell may need.
	MaxBalancerAnnotations = 32
	// MaxBalancerAddresses is the most ranges and domains of a cell.
	MaxBalancerAddresses = 64
	// maxListeners is the most listeners that routes of a cell may name.
	maxListeners = 16
)

// LoadBalancer holds the operator's settings of the load balancer of a cell.
type LoadBalancer struct {
	// CellLoadBalancer has the settings that the agent of the cell needs.
	v1alpha.CellLoadBalancer
	// GatewayPort is the port of the Gateway that clients connect to.
	GatewayPort int32
	// Ranges are the IP addresses that the cell may report.
	Ranges []netip.Prefix
	// Domains are the domains whose names the cell may report, in lower case.
	Domains []string
}

// ReadLoadBalancer reads AnnotationLoadBalancer. It returns nil for "", and with an error: settings that are half right
// allow nothing.
func ReadLoadBalancer(text string) (*LoadBalancer, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > maxBalancer {
		return nil, fmt.Errorf("must have at most %d bytes", maxBalancer)
	}
	var written struct {
		Class       string            `json:"class"`
		Annotations map[string]string `json:"annotations"`
		Addresses   []string          `json:"addresses"`
		Gateway     *gateway          `json:"gateway"`
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&written)
	if err == nil && decoder.More() {
		err = errors.New("there is more text after it")
	}
	if err != nil {
		return nil, fmt.Errorf("must be a JSON object with class, annotations, gateway and addresses: %w", err)
	}
	result := &LoadBalancer{CellLoadBalancer: v1alpha.CellLoadBalancer{Class: written.Class, Annotations: written.Annotations}}
	if messages := validation.IsQualifiedName(written.Class); written.Class != "" && len(messages) > 0 {
		return nil, fmt.Errorf("class %q: %s", written.Class, messages[0])
	}
	if len(written.Annotations) > MaxBalancerAnnotations {
		return nil, fmt.Errorf("annotations: must have at most %d entries", MaxBalancerAnnotations)
	}
	for name := range written.Annotations {
		if messages := validation.IsQualifiedName(strings.ToLower(name)); len(messages) > 0 {
			return nil, fmt.Errorf("annotations: %q: %s", name, messages[0])
		}
		if strings.Contains(name, "compute.datumapis.com/") {
			return nil, fmt.Errorf("annotations: %q is reserved for karmada-compute", name)
		}
	}
	if err := result.route(written.Gateway); err != nil {
		return nil, err
	}
	if err := result.allow(written.Addresses); err != nil {
		return nil, err
	}
	return result, nil
}

// gateway is the Gateway of a cell in the settings.
type gateway struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Port      int32  `json:"port"`
	// Listeners of the Gateway at which routes answer.
	Listeners []string `json:"listeners"`
}

// defaultGatewayPort is the port of a Gateway whose settings have none: HTTPS.
const defaultGatewayPort = 443

// route sets the Gateway of the cell.
func (l *LoadBalancer) route(settings *gateway) error {
	if settings == nil {
		return nil
	}
	if messages := validation.IsDNS1123Label(settings.Namespace); len(messages) > 0 {
		return fmt.Errorf("gateway: namespace %q: %s", settings.Namespace, messages[0])
	}
	if messages := validation.IsDNS1123Subdomain(settings.Name); len(messages) > 0 {
		return fmt.Errorf("gateway: name %q: %s", settings.Name, messages[0])
	}
	if settings.Port < 0 || settings.Port > 65535 {
		return fmt.Errorf("gateway: port %d: must be 1 to 65535", settings.Port)
	}
	if len(settings.Listeners) > maxListeners {
		return fmt.Errorf("gateway: at most %d listeners", maxListeners)
	}
	listeners := slices.Compact(slices.Sorted(slices.Values(settings.Listeners)))
	for _, name := range listeners {
		if messages := validation.IsDNS1123Subdomain(name); len(messages) > 0 {
			return fmt.Errorf("gateway: listener %q: %s", name, messages[0])
		}
	}
	l.Gateway = &v1alpha.CellGateway{Namespace: settings.Namespace, Name: settings.Name, Listeners: listeners}
	l.GatewayPort = cmp.Or(settings.Port, defaultGatewayPort)
	return nil
}

// allow adds the ranges and domains that the cell may report.
func (l *LoadBalancer) allow(addresses []string) error {
	if len(addresses) == 0 || len(addresses) > MaxBalancerAddresses {
		return fmt.Errorf("addresses: must have 1 to %d ranges such as 203.0.113.0/24, or domains such as lb.example.com",
			MaxBalancerAddresses)
	}
	for _, text := range addresses {
		if prefix, err := netip.ParsePrefix(text); err == nil {
			l.Ranges = append(l.Ranges, prefix.Masked())
			continue
		}
		domain := strings.ToLower(text)
		if messages := validation.IsDNS1123Subdomain(domain); len(messages) > 0 || !strings.Contains(domain, ".") || isIP(domain) {
			return fmt.Errorf("addresses: %q is no range such as 203.0.113.0/24 and no domain such as lb.example.com", text)
		}
		l.Domains = append(l.Domains, domain)
	}
	return nil
}

func isIP(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}

// Lacking returns the cities in which no cell has what an exposure needs: a load balancer, or a Gateway.
type Lacking func(ctx context.Context, cities []string, exposure v1alpha.ServiceExposure) ([]string, error)

// Lacking returns the cities in which, by the operator's settings, no cell has what an exposure needs. Settings that cannot
// be read have nothing.
func (c Cells) Lacking(cities []string, exposure v1alpha.ServiceExposure) (lacking []string) {
	for _, city := range cities {
		if !slices.ContainsFunc(c.Of(city), func(cell Cell) bool {
			balancer, err := ReadLoadBalancer(cell.Balancer)
			return err == nil && balancer != nil && (exposure != v1alpha.ServiceExposureGateway || balancer.Gateway != nil)
		}) {
			lacking = append(lacking, city)
		}
	}
	return lacking
}

// LackingOf returns a Lacking for the cells of a hub. hub hides what is not confirmed, as Cities.Hub does.
func LackingOf(hub client.Reader) Lacking {
	return func(ctx context.Context, cities []string, exposure v1alpha.ServiceExposure) ([]string, error) {
		all, err := List(ctx, hub)
		return all.Lacking(cities, exposure), err
	}
}

// LackingBySettings returns a Lacking for admission. It reads the operator's settings alone, past every cache.
func LackingBySettings(hub client.Reader) Lacking {
	return func(ctx context.Context, cities []string, exposure v1alpha.ServiceExposure) ([]string, error) {
		confirmed, err := confirmationsOf(ctx, hub)
		var all Cells
		for name, found := range confirmed {
			all = append(all, Cell{
				Name: name, City: found.city, Balancer: found.settings[v1alpha.AnnotationLoadBalancer],
				Gone: found.settings[v1alpha.AnnotationForget] == "true",
			})
		}
		return all.Lacking(cities, exposure), err
	}
}

// exact is the precision of settings that name an address itself.
const exact = 256

// precision grows with the precision by which the settings name an address; 0: they do not. The narrower one of two ranges decides whose an
// address is, so that a range that is too wide takes nothing from the cells of other cities.
func (l *LoadBalancer) precision(address v1alpha.EndpointAddress) (highest int) {
	if l == nil {
		return 0
	}
	if ip, err := netip.ParseAddr(address.Value); err == nil && address.Type == v1alpha.EndpointAddressIP {
		for _, prefix := range l.Ranges {
			if prefix.Contains(ip) {
				highest = max(highest, 1+prefix.Bits())
			}
		}
		return highest
	}
	for _, domain := range l.Domains {
		if address.Type == v1alpha.EndpointAddressHostname && (address.Value == domain || strings.HasSuffix(address.Value, "."+domain)) {
			highest = max(highest, len(domain))
		}
	}
	return highest
}

// ParseAddress returns the address that a cell has reported. It fails for a text that no load balancer can be reached
// at from outside of its cell.
func ParseAddress(text string) (v1alpha.EndpointAddress, error) {
	ip, err := netip.ParseAddr(text)
	switch name := strings.TrimSuffix(strings.ToLower(text), "."); {
	case err == nil && (ip.Zone() != "" || ip.Is4In6()):
		return v1alpha.EndpointAddress{}, errors.New("is no plain IP address")
	case err == nil && !Global(ip):
		return v1alpha.EndpointAddress{}, errors.New("is an unspecified, loopback, link-local, multicast or reserved address")
	case err == nil:
		return v1alpha.EndpointAddress{Type: v1alpha.EndpointAddressIP, Value: ip.String()}, nil
	// The last label of a name has a letter: 300.1.1.1 and 0x7f.1 are spellings of addresses to some readers.
	case len(validation.IsDNS1123Subdomain(name)) > 0, !strings.Contains(name, "."),
		name[strings.LastIndex(name, ".")+1] < 'a':
		return v1alpha.EndpointAddress{}, errors.New("is neither an IP address nor a DNS name")
	default:
		return v1alpha.EndpointAddress{Type: v1alpha.EndpointAddressHostname, Value: name}, nil
	}
}

// reserved are ranges that are never the address of a load balancer: "this network", the former class E with the broadcast address,
// prefixes of IPv6 with an IPv4 address inside, and the addresses, not link-local, at which clouds give machines their credentials.
var reserved = ranges("0.0.0.0/8", "240.0.0.0/4", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16",
	"100.100.100.200/32", "168.63.129.16/32", "fd00:ec2::/32")

func ranges(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// Global reports whether an address can be reached from another network, which may be a private one.
func Global(ip netip.Addr) bool {
	return ip.IsGlobalUnicast() && !slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// Admit returns the addresses in the report of a cell that the operator allows, without duplicates, and why others are
// refused. It fails closed: without the operator's settings none is allowed, nor one that the settings of a cell of another
// city name as precisely. While the settings cannot be read, the addresses that were admitted before are still allowed.
func (c Cells) Admit(cell Cell, reported string, before ...v1alpha.EndpointAddress) (admitted []v1alpha.EndpointAddress, refused []string) {
	if reported == "" {
		return nil, nil
	}
	balancer, err := ReadLoadBalancer(cell.Balancer)
	switch {
	case err != nil:
		refused = append(refused, fmt.Sprintf("the operator must correct annotation %s of namespace %s: %v; no new address is admitted before",
			v1alpha.AnnotationLoadBalancer, karmadanames.GenerateExecutionSpaceName(cell.Name), err))
	case balancer == nil:
		return nil, []string{"the operator has not configured the load balancer of cell " + cell.Name}
	}
	others := c.balancersOfOthers(cell.City)
	for text := range strings.SplitSeq(reported, ",") {
		address, err := ParseAddress(text)
		own := balancer.precision(address)
		if balancer == nil && slices.Contains(before, address) {
			own = exact
		}
		other, others := others.naming(address)
		switch {
		case err != nil:
			refused = append(refused, fmt.Sprintf("%s of cell %s %v", reasons.Shorten(text, 64), cell.Name, err))
		case own == 0 && balancer == nil:
		case own == 0:
			refused = append(refused, fmt.Sprintf("%s of cell %s is not in its ranges", address.Value, cell.Name))
		case others >= own && others > 0:
			refused = append(refused, fmt.Sprintf("%s of cell %s is in the ranges of cell %s of another city, too",
				address.Value, cell.Name, other))
		case !slices.Contains(admitted, address):
			admitted = append(admitted, address)
		}
	}
	return admitted, refused
}

// balancers are load balancers by the names of their cells.
type balancers map[string]*LoadBalancer

// balancersOfOthers are the load balancers of the cells of other cities.
func (c Cells) balancersOfOthers(city string) balancers {
	result := balancers{}
	for i := range c {
		if c[i].City == "" || c[i].City == city || c[i].Gone {
			continue
		}
		if balancer, err := ReadLoadBalancer(c[i].Balancer); err == nil && balancer != nil {
			result[c[i].Name] = balancer
		}
	}
	return result
}

// naming returns the cell that names an address most precisely, the first one by name, and how precisely it does.
func (b balancers) naming(address v1alpha.EndpointAddress) (cell string, highest int) {
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if found := b[name].precision(address); found > highest {
			cell, highest = name, found
		}
	}
	return cell, highest
}
