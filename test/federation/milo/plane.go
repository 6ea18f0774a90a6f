// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// plane is a client of a kube-apiserver with an administrator's permissions.
type plane struct {
	objects dynamic.Interface
	kinds   *discovery.DiscoveryClient
}

func newPlane(config *rest.Config) (*plane, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the client's default of five requests a second would slow every start
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, err
	}
	kinds, err := discovery.NewDiscoveryClientForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, err
	}
	return &plane{objects: objects, kinds: kinds}, nil
}

// backend is a kube-apiserver that the router calls as front proxy.
type backend struct {
	url       *url.URL
	transport http.RoundTripper
}

// idleConnections is how many idle connections to a kube-apiserver are kept.
const idleConnections = 256

// newBackend takes the address and CA from config and the client certificate
// from frontProxy.
func newBackend(config *rest.Config, frontProxy rest.TLSClientConfig) (*backend, error) {
	address, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("address %q of a kube-apiserver: %w", config.Host, err)
	}
	tlsConfig, err := rest.TLSConfigFor(&rest.Config{
		Host: config.Host,
		TLSClientConfig: rest.TLSClientConfig{
			ServerName: config.ServerName,
			CAFile:     config.CAFile,
			CAData:     config.CAData,
			CertFile:   frontProxy.CertFile,
			CertData:   frontProxy.CertData,
			KeyFile:    frontProxy.KeyFile,
			KeyData:    frontProxy.KeyData,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("TLS towards %s: %w", config.Host, err)
	}
	if tlsConfig == nil {
		return nil, fmt.Errorf("address %q of a kube-apiserver must begin with https:// and have a CA", config.Host)
	}
	tlsConfig.MinVersion = tls.VersionTLS13
	// HTTP/1.1 only: an upgraded connection cannot share one with other requests.
	tlsConfig.NextProtos = []string{"http/1.1"}
	return &backend{
		url: &url.URL{Scheme: address.Scheme, Host: address.Host},
		transport: &http.Transport{
			TLSClientConfig:     tlsConfig,
			TLSHandshakeTimeout: 10 * time.Second,
			IdleConnTimeout:     90 * time.Second,
			MaxIdleConnsPerHost: idleConnections,
			DisableCompression:  true, // the client's Accept-Encoding is passed on unchanged
		},
	}, nil
}
