// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
)

// parseHub parses the address of the hub.
func parseHub(address string) (*url.URL, error) {
	hub, err := url.Parse(address)
	if err != nil || hub.Host == "" {
		return nil, fmt.Errorf("the address of the hub is %q: it must be a URL", address)
	}
	// Without it the paths that are joined are relative.
	hub.Path = "/" + strings.TrimPrefix(hub.Path, "/")
	return hub, nil
}

// newProxy makes the proxy to cells. It copies bytes and keeps none.
func (s *Server) newProxy() http.Handler {
	return &httputil.ReverseProxy{
		Transport: s.options.Cells,
		// Output of a container is sent at once.
		FlushInterval: -1,
		// It would write of every stream that is cut off.
		ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(p *httputil.ProxyRequest) {
			c := carried(p.Out.Context())
			p.Out.URL = c.onHub(s.hub)
			p.Out.Host, p.Out.Body, p.Out.ContentLength = "", http.NoBody, 0
			p.Out.Header = headersToCell(p.Out.Header)
		},
		ModifyResponse: func(response *http.Response) error {
			c := carried(response.Request.Context())
			c.status.Store(int32(response.StatusCode)) //nolint:gosec // a status has three digits
			if response.StatusCode >= http.StatusMultipleChoices {
				s.explain(response, c)
			}
			response.Header = headersToClient(response.Header)
			response.Body = metering(response.Request.Context(), response.Body, c.meter)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			c := carried(r.Context())
			unsent := &net.OpError{}
			c.unsent.Store(errors.As(err, &unsent) && unsent.Op == "dial")
			c.failure.Store(new(fmt.Sprintf("cell %s does not answer through the hub", c.at.cell)))
			http.Error(w, fmt.Sprintf("the cell of the Instance, %s, does not answer through the hub", c.at.cell), http.StatusBadGateway)
		},
	}
}

// explain keeps why a cell refuses a stream. A refusal of the credential of sessions is for the operator: its text
// names users and roles of the hub and the cell.
func (s *Server) explain(response *http.Response, c *stream) {
	why := fmt.Sprintf("cell %s refused the stream with status %d", c.at.cell, response.StatusCode)
	switch {
	case response.StatusCode < http.StatusBadRequest:
		// A client that follows it would send its request, and show its log, to whom the cell wants.
		why = fmt.Sprintf("cell %s answered with a redirect, which is not followed", c.at.cell)
		response.StatusCode, response.Status = http.StatusBadGateway, ""
		_ = response.Body.Close()
		replace(response, why)
	case response.StatusCode == http.StatusForbidden || response.StatusCode == http.StatusUnauthorized:
		text, _ := io.ReadAll(io.LimitReader(response.Body, maxOutcome)) // a part of it helps, too
		_ = response.Body.Close()
		s.options.Log.Error(nil, "A cell refuses the credential of sessions", "cell", c.at.cell, "status",
			response.StatusCode, "answer", string(text))
		why = fmt.Sprintf("cell %s refuses the credential of sessions; an operator can find the reason in the log of the add-on", c.at.cell)
		replace(response, why)
	}
	c.failure.Store(&why)
}

// replace replaces the body of an answer.
func replace(response *http.Response, text string) {
	response.Body, response.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	response.Header = http.Header{"Content-Type": {"text/plain"}}
}

// headersToClient are those headers of a cell that the client gets.
func headersToClient(header http.Header) http.Header {
	kept := http.Header{}
	for _, name := range passedBack {
		if values := header.Values(name); len(values) > 0 {
			kept[name] = values
		}
	}
	return kept
}

// onHub returns the URL of a stream at Karmada's proxy.
func (c *stream) onHub(hub *url.URL) *url.URL {
	destination := target(c.at, &c.grant.Spec)
	at := hub.JoinPath(destination.Path)
	at.RawQuery = destination.RawQuery
	return at
}

// headersToCell are those headers of a client that the cell gets.
func headersToCell(header http.Header) http.Header {
	kept := http.Header{}
	for _, name := range passed {
		if values := header.Values(name); len(values) > 0 {
			kept[name] = values
		}
	}
	offered := slices.DeleteFunc(protocolsOf(header), func(protocol string) bool { return !slices.Contains(protocols, protocol) })
	if len(offered) > 0 {
		kept.Set(protocolHeader, strings.Join(offered, ", "))
	}
	return kept
}

func carried(ctx context.Context) *stream {
	c, _ := ctx.Value(streamKey{}).(*stream)
	return c
}
