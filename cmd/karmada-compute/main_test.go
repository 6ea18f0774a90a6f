// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// TestHelpShowsEveryFlagOnce: each flag is in the group where an operator expects it.
func TestHelpShowsEveryFlagOnce(t *testing.T) {
	command := newComponent().Command()
	var out bytes.Buffer
	command.SetOut(&out)
	command.SetArgs([]string{"--help"})
	if err := command.Execute(); err != nil {
		t.Fatal(err)
	}
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		if shown := regexp.MustCompile("(?m)^  (-.,|   ) --"+flag.Name+" ").FindAllString(out.String(), -1); len(shown) != 1 {
			t.Errorf("--%s is shown %d times", flag.Name, len(shown))
		}
	})
	at := 0
	for _, want := range []string{
		"Hub flags:", "--kubeconfig", "Milo flags:", "--milo-kubeconfig", "Clients flags:", "--kube-api-qps",
		"Controllers flags:", "--controllers",
		"Webhooks flags:", "--admission-mode", "--webhooks", "Metrics and health flags:", "--profiling",
		"Feature gates flags:", "Logs flags:", "--logging-format", "Global flags:",
	} {
		found := strings.Index(out.String()[at:], want)
		if found < 0 {
			t.Fatalf("%q is not in its place in\n%s", want, out.String())
		}
		at += found
	}
}

// TestPanicThreshold: neither bound is a threshold.
func TestPanicThreshold(t *testing.T) {
	for threshold, isRefused := range map[int]bool{-1: true, 0: true, 1: false, 99: false, 100: true} {
		options := nameOptions{ttl: time.Second, panicThreshold: threshold}
		if _, err := options.settings(); (err != nil) != isRefused || isRefused && !strings.Contains(err.Error(), "--names-panic-threshold: ") {
			t.Errorf("%d: %v", threshold, err)
		}
	}
}

// TestNamesResolver: the flag is a HOST:PORT.
func TestNamesResolver(t *testing.T) {
	for value, isValid := range map[string]bool{
		"": true, "10.0.0.53:53": true, "[2001:db8::53]:5353": true, "ns1.example.com:53": true,
		"10.0.0.53": false, "10.0.0.53:": false, ":53": false, "10.0.0.53:0": false, "10.0.0.53:65536": false, "10.0.0.53:dns": false,
		"2001:db8::53:53": false, "udp://10.0.0.53:53": false, "a b:53": false,
	} {
		o := nameOptions{ttl: time.Second, panicThreshold: 50, resolver: value}
		_, err := o.settings()
		if (err == nil) != isValid || err != nil && !strings.Contains(err.Error(), "--names-resolver: ") {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// TestEveryMistakeIsSaid: of the flags of all groups at once.
func TestEveryMistakeIsSaid(t *testing.T) {
	command := newComponent().Command()
	command.SetArgs([]string{
		"--kube-api-qps=0", "--concurrency=0", "--inventory-after=0", "--controllers=guess", "--webhooks=guess",
		"--profiling", "--metrics-bind-address=0",
		"--webhook-url=https://user:password@example.com", "--admission-mode=guess", "--logging-format=guess",
		"--names-pattern={project}.example.com", "--names-domain=shop", "--names-ttl=0s", "--names-property=aws/weight=100",
		"--names-silent-share=101", "--names-panic-threshold=100", "--names-probe-interval=999ms", "--names-apex=Shop.example.com.",
		"--names-resolver=10.0.0.53",
	})
	err := command.Execute()
	if err == nil {
		t.Fatal("no error")
	}
	for _, flag := range []string{
		"kubeconfig", "milo-kubeconfig", "kube-api-qps", "concurrency", "inventory-after", "controllers", "webhooks",
		"profiling", "webhook-url", "admission-mode", "logging-format",
		"names-pattern", "names-domain", "names-ttl", "names-property", "names-silent-share",
		"names-panic-threshold", "names-probe-interval", "names-apex", "names-resolver",
	} {
		if !strings.Contains(err.Error(), "--"+flag) {
			t.Errorf("--%s is not named in %v", flag, err)
		}
	}
}
