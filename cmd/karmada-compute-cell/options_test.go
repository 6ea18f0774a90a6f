// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

func TestValidate(t *testing.T) {
	tests := map[string]struct {
		args []string
		// wantFlags are the flags that the error names; none: no error.
		wantFlags []string
	}{
		"the defaults are valid":              {},
		"no limit needs no burst":             {args: []string{"--kube-api-burst=0"}},
		"a namespace is needed only to elect": {args: []string{"--leader-elect=false", "--leader-elect-resource-namespace="}},
		"a rate of nothing":                   {[]string{"--kube-api-qps=0"}, []string{"--kube-api-qps"}},
		"an election without a namespace":     {[]string{"--leader-elect-resource-namespace="}, []string{"--leader-elect-resource-namespace"}},
		"a part of a second for a lost node":  {[]string{"--node-loss-after=1500ms"}, []string{"--node-loss-after"}},
		"an audit without a pause":            {[]string{"--audit-interval=0"}, []string{"--audit-interval"}},
		"a cell with white space":             {[]string{"--cell=a b"}, []string{"--cell"}},
		"classes and no capabilities": {
			args: []string{"--runtime-class=gvisor", "--runtime-classes=isolated=kata", "--capabilities=", "--ephemeral-storage-limit=0"},
		},
		"classes that cannot be": {
			[]string{"--runtime-class=A_B", "--runtime-classes=X=kata,empty="}, []string{"--runtime-class", "--runtime-classes"},
		},
		"domains of annotations":     {args: []string{"--pod-annotations=prometheus.io,example.com"}},
		"annotations of the add-on":  {[]string{"--pod-annotations=compute.datumapis.com"}, []string{"--pod-annotations"}},
		"annotations of no domain":   {[]string{"--pod-annotations=a/b"}, []string{"--pod-annotations"}},
		"classes of another runtime": {args: []string{"--external-runtime-classes=virtual-machine,unikernel"}},
		"a class of two runtimes": {
			[]string{"--runtime-classes=vm=kata", "--external-runtime-classes=vm"}, []string{"--external-runtime-classes"},
		},
		"an external class of no name": {[]string{"--external-runtime-classes=A_B"}, []string{"--external-runtime-classes"}},
		"more than the baseline":       {[]string{"--capabilities=SYS_ADMIN"}, []string{"--capabilities"}},
		"a limit that is no quantity":  {[]string{"--ephemeral-storage-limit=much"}, []string{"--ephemeral-storage-limit"}},
		"every mistake is said, not just the first": {
			[]string{"--concurrency=0", "--kube-api-qps=10", "--kube-api-burst=0", "--metrics-bind-address=8080", "--health-probe-bind-address=:x"},
			[]string{"--concurrency", "--kube-api-burst", "--metrics-bind-address", "--health-probe-bind-address"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := newOptions()
			var groups cliflag.NamedFlagSets
			o.AddFlags(&groups)
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			for _, group := range groups.FlagSets {
				flags.AddFlagSet(group)
			}
			if err := flags.Parse(test.args); err != nil {
				t.Fatal(err)
			}
			err := o.Validate()
			if (err != nil) != (len(test.wantFlags) > 0) {
				t.Fatalf("error %v", err)
			}
			for _, flag := range test.wantFlags {
				if !strings.Contains(err.Error(), flag+":") {
					t.Errorf("%q does not name %s", err, flag)
				}
			}
		})
	}
}
