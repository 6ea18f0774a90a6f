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

// TestEveryMistakeIsSaid: of the flags of all groups at once.
func TestEveryMistakeIsSaid(t *testing.T) {
	command := newComponent().Command()
	command.SetArgs([]string{
		"--kube-api-qps=0", "--concurrency=0", "--inventory-after=0", "--controllers=guess", "--webhooks=guess",
		"--profiling", "--metrics-bind-address=0",
		"--webhook-url=https://user:password@example.com", "--admission-mode=guess", "--logging-format=guess",
		"--names-pattern={project}.example.com", "--names-domain=shop", "--names-ttl=0s", "--names-property=aws/weight=100",
		"--names-silent-share=101", "--names-panic-threshold=100", "--names-probe-interval=999ms", "--names-apex=Shop.example.com.",
	})
	err := command.Execute()
	if err == nil {
		t.Fatal("no error")
	}
	for _, flag := range []string{
		"kubeconfig", "milo-kubeconfig", "kube-api-qps", "concurrency", "inventory-after", "controllers", "webhooks",
		"profiling", "webhook-url", "admission-mode", "logging-format",
		"names-pattern", "names-domain", "names-ttl", "names-property", "names-silent-share",
		"names-panic-threshold", "names-probe-interval", "names-apex",
	} {
		if !strings.Contains(err.Error(), "--"+flag) {
			t.Errorf("--%s is not named in %v", flag, err)
		}
	}
}
