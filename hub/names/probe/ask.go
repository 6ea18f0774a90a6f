// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	// timeout bounds one question, and the resolution of a host name before it.
	timeout = time.Second
	// maxResolved is the most addresses of a host name that are asked.
	maxResolved = 4
	// maxHead bounds the head of an answer in bytes. The body is not read.
	maxHead = 16 << 10
)

var (
	// errRefused is the error of a question that the replica must not or cannot ask.
	errRefused = errors.New("the replica must not ask this address")
	// errStatus is the error of an answer with another status than 200 to 399.
	errStatus = errors.New("the status is no answer")
	// errUnproven is the error of an answer at a port at which an address that no host has answers, too.
	errUnproven = errors.New("a proxy answers for every address")
)

// own are errors of the replica itself, which prove nothing of an address.
var own = []error{
	errRefused, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL, syscall.EPERM, syscall.EACCES,
}

func isOwn(err error) bool {
	return slices.ContainsFunc(own, func(known error) bool { return errors.Is(err, known) })
}

// lookup resolves a host name. It returns an IP address as it is.
type lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// asker asks addresses.
type asker struct {
	// allows is the rule of New, which production never replaces: the listeners of tests are at loopback addresses.
	allows  func(ip netip.Addr, resolved bool) bool
	resolve lookup
	decoys  *decoys
}

// find returns the IP addresses of a target, and whether they are a host name's.
func (a *asker) find(ctx context.Context, address string) (ips []netip.Addr, resolved bool, err error) {
	if ip, err := netip.ParseAddr(address); err == nil {
		return []netip.Addr{ip}, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	// The dot keeps a resolver from trying the name in the domains of the replica's own cluster.
	ips, err = a.resolve(ctx, "ip", address+".")
	return ips[:min(len(ips), maxResolved)], true, err
}

// control returns a check of the address that a socket is about to connect to: no resolution comes between the two.
func (a *asker) control(resolved bool) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		if to, err := netip.ParseAddrPort(address); err != nil || !a.allows(to.Addr(), resolved) {
			return errRefused
		}
		return nil
	}
}

// ask asks all addresses and ports of a target at once: one that answers is enough. It ends when all connections are closed.
func (a *asker) ask(ctx context.Context, target *Target, ips []netip.Addr, resolved bool) outcome {
	bounded, cancel := context.WithTimeout(ctx, timeout)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	var to []netip.AddrPort
	for _, ip := range ips {
		for _, port := range target.Ports {
			if port > 0 {
				to = append(to, netip.AddrPortFrom(ip, uint16(port))) //nolint:gosec // the API bounds ports
			}
		}
	}
	errs := make(chan error, len(to))
	for i := range to {
		asking.Go(func() {
			err := try(bounded, &net.Dialer{Control: a.control(resolved)}, target, to[i].String())
			if err == nil && a.decoys.answer(ctx, to[i]) {
				err = errUnproven
			}
			errs <- err
		})
	}
	result := notAsked
	for range to {
		err := <-errs
		switch {
		case err == nil:
			return answered
		case errors.Is(err, errUnproven):
			result = unproven
		case result == notAsked && ctx.Err() == nil && !isOwn(err):
			result = failed
		}
	}
	return result
}

// try connects to an address and sends the request, if the target has one.
func try(ctx context.Context, dialer *net.Dialer, target *Target, to string) error {
	conn, err := dialer.DialContext(ctx, "tcp", to)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // the answer is known
	if target.Path != "" {
		return request(ctx, conn, target)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		// A reset leaves no state of a closed connection in the node and its firewalls, of which there would be thousands.
		return tcp.SetLinger(0)
	}
	return nil
}

// request sends a GET request without credentials, and reads the head of the answer.
func request(ctx context.Context, conn net.Conn, target *Target) error {
	plain := conn
	defer context.AfterFunc(ctx, func() { _ = plain.SetDeadline(time.Unix(1, 0)) })()
	asked, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+target.Host+target.Path, http.NoBody)
	if err != nil {
		return errRefused
	}
	asked.Header.Set("User-Agent", "karmada-compute")
	asked.Close = true
	if target.Secure {
		conn = tls.Client(conn, &tls.Config{
			ServerName: target.Host, MinVersion: tls.VersionTLS12,
			InsecureSkipVerify: true, //nolint:gosec // the replica need not have the CA of the operator's certificates, and sends no secret
		})
	}
	if err := asked.Write(conn); err != nil {
		return err
	}
	for reader := bufio.NewReader(io.LimitReader(conn, maxHead)); ; {
		response, err := http.ReadResponse(reader, asked) //nolint:bodyclose // the connection is closed
		switch {
		case err != nil:
			return err
		case response.StatusCode >= http.StatusBadRequest:
			return errStatus
		case response.StatusCode >= http.StatusOK:
			return nil
		}
		// It is an interim answer. maxHead bounds their number.
	}
}
