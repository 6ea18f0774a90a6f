// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
)

// The connection to a port: what it is upgraded to, and the parameter of the URL that names the port.
const (
	tunnelProtocol = "compute.datumapis.com-tcp"
	portParameter  = "port"
)

// ErrOver reports that a session accepts no more connections.
var ErrOver = errors.New("the session is over")

// Tunnel connects local with a port of the Instance, until either side ends.
func (s *Session) Tunnel(ctx context.Context, port int32, local io.ReadWriteCloser) error {
	remote, err := s.dial(ctx, port)
	if err != nil {
		return err
	}
	defer func() { _ = remote.Close() }() // all was copied, or a side was lost
	stop := context.AfterFunc(ctx, func() { _, _ = local.Close(), remote.Close() })
	defer stop()
	var copying sync.WaitGroup
	copying.Go(func() {
		_, _ = io.Copy(remote, local) // a lost side ends the other direction, too
		closeWrite(remote)
	})
	received, err := io.Copy(local, remote)
	closeWrite(local)
	// The Instance has ended the connection.
	_, _ = local.Close(), remote.Close()
	copying.Wait()
	if received == 0 && err != nil && ctx.Err() == nil {
		return fmt.Errorf("port %d: %w", port, s.why(ctx, err))
	}
	return nil
}

// closeWrite signals the end of the data to a side, if its connection supports that.
func closeWrite(side any) {
	if half, ok := side.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// dial connects to a port.
func (s *Session) dial(ctx context.Context, port int32) (io.ReadWriteCloser, error) {
	address, err := url.Parse(s.config.Host)
	if err != nil {
		return nil, fmt.Errorf("connect to the session: %w", err)
	}
	address.RawQuery = url.Values{portParameter: {strconv.Itoa(int(port))}}.Encode()
	connecting, err := s.connecting()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("connect to the session: %w", err)
	}
	request.Header.Set("Connection", "Upgrade")
	request.Header.Set("Upgrade", tunnelProtocol)
	response, err := connecting.Do(request)
	if err != nil {
		return nil, err
	}
	connection, upgraded := response.Body.(io.ReadWriteCloser)
	if response.StatusCode == http.StatusSwitchingProtocols && upgraded {
		return connection, nil
	}
	defer func() { _ = response.Body.Close() }() // the answer is an error
	err = refused(response)
	if response.StatusCode == http.StatusNotFound || response.StatusCode == http.StatusGone {
		err = fmt.Errorf("%w: %w", ErrOver, err)
	}
	return nil, err
}
