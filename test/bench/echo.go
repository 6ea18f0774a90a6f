// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/util/cert"
)

const (
	loopback = "127.0.0.1"
	// headerTimeout bounds how long the headers of a request may take.
	headerTimeout = 10 * time.Second
)

// echoCommand is the floor of throughput: a server in Go that does nothing, over TLS.
func echoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "echo", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, _, cancel := parent(cmd.Context(), cmd.InOrStdin())
			defer cancel()
			// HTTP/1.1 only, as API servers use for webhooks.
			server := &http.Server{
				Handler: http.HandlerFunc(echo), ReadHeaderTimeout: headerTimeout,
				TLSConfig: &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}},
			}
			return serveTLS(ctx, server, func(address string, _ []byte) error {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "listening %s\n", address)
				return err
			})
		},
	}
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the client is gone
}

// serveTLS serves on the loopback interface until ctx ends, with a self-signed certificate. listening is called with the
// address and the CA.
func serveTLS(ctx context.Context, server *http.Server, listening func(address string, ca []byte) error) error {
	ca, key, err := cert.GenerateSelfSignedCertKey(loopback, nil, nil)
	if err != nil {
		return fmt.Errorf("make a certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(ca, key)
	if err != nil {
		return fmt.Errorf("make a certificate: %w", err)
	}
	server.TLSConfig.Certificates = []tls.Certificate{pair}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // ServeTLS reports it
	defer stop()
	if err := listening(listener.Addr().String(), ca); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// withEcho calls do while the floor runs on one core.
func withEcho(ctx context.Context, errOut io.Writer, do func(address string, pid int) error) (err error) {
	c, err := startChild(ctx, errOut, []string{oneCore}, "echo")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.end()) }()
	address, err := c.expect(ctx, "listening", nil)
	if err != nil {
		return err
	}
	return do(address, c.pid())
}
