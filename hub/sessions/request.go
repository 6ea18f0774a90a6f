// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"net/url"
	"strconv"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// target returns the path and the query of a grant's stream at Karmada's proxy. All of it comes from the grant and its
// place: nothing that the client sends is part of it.
func target(at place, spec *v1alpha.InstanceSessionSpec) *url.URL {
	query, stream := url.Values{}, "log"
	if at.container != "" {
		query.Set("container", at.container)
	}
	switch spec.Type {
	case v1alpha.SessionExec, v1alpha.SessionAttach:
		if stream = "attach"; spec.Type == v1alpha.SessionExec {
			stream = "exec"
			query["command"] = spec.Command
		}
		query.Set("stdin", strconv.FormatBool(spec.Stdin))
		query.Set("stdout", "true")
		// A terminal has one output.
		query.Set("stderr", strconv.FormatBool(!spec.TTY))
		query.Set("tty", strconv.FormatBool(spec.TTY))
	case v1alpha.SessionPortForward:
		// The container is not named: the containers of a Pod share their ports.
		stream = "portforward"
		query = url.Values{}
		for _, port := range spec.Ports {
			query.Add("ports", strconv.Itoa(int(port)))
		}
	case v1alpha.SessionLogs:
		if spec.Logs != nil {
			addLogOptions(query, spec.Logs)
		}
	}
	base := (&url.URL{Path: "/"}).JoinPath("apis/cluster.karmada.io/v1alpha1/clusters", at.cell, "proxy",
		"api/v1/namespaces", at.namespace, "pods", at.pod, stream)
	base.RawQuery = query.Encode()
	return base
}

func addLogOptions(query url.Values, o *v1alpha.SessionLogOptions) {
	for name, set := range map[string]bool{"follow": o.Follow, "previous": o.Previous, "timestamps": o.Timestamps} {
		if set {
			query.Set(name, "true")
		}
	}
	for name, value := range map[string]*int64{"tailLines": o.TailLines, "sinceSeconds": o.SinceSeconds, "limitBytes": o.LimitBytes} {
		if value != nil {
			query.Set(name, strconv.FormatInt(*value, 10))
		}
	}
	if o.SinceTime != nil {
		query.Set("sinceTime", o.SinceTime.UTC().Format(time.RFC3339))
	}
}
