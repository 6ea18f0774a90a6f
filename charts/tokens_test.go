// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"slices"
	"strings"
	"testing"
)

// TestRightsOnTokens: with access.renew each ServiceAccount of the hub may request tokens of itself alone, and each
// Deployment of the host has the Secrets of its own tokens alone. Pods that carry streams alone reach no API server of the
// host. Without access.renew no account has a right.
func TestRightsOnTokens(t *testing.T) {
	separate := set{"access.renew": true, "host.separateWebhooks": true, "sessions.logs": true, "sessions.url": "https://sessions.example"}
	for _, test := range []struct {
		part string
		set  set
		want []string
	}{
		{"hub", separate, []string{
			`karmada-compute-token [create] ["serviceaccounts/token"] ["karmada-compute"] to karmada-compute`,
			`karmada-compute-webhook-token [create] ["serviceaccounts/token"] ["karmada-compute-webhook"] to karmada-compute-webhook`,
			`karmada-compute-sessions-token [create] ["serviceaccounts/token"] ["karmada-compute-sessions"] to karmada-compute-sessions`,
		}},
		{"host", separate, []string{
			`karmada-compute-token [get update] ["secrets"] ["karmada-compute-config"] to karmada-compute`,
			`karmada-compute-webhook-token [get update] ["secrets"] ["karmada-compute-webhook-config" "karmada-compute-sessions-config"] ` +
				`to karmada-compute-webhook`,
		}},
		{"hub", set{}, nil},
		{"host", set{}, nil},
	} {
		objects := renderFast(t, parts[test.part], test.set)
		var got []string
		for _, object := range objects {
			if object.GetKind() != "Role" || !strings.HasSuffix(object.GetName(), "-token") {
				continue
			}
			one := func(kind, path string) string { return query(t, objects, kind+"/"+object.GetName(), path) }
			got = append(got, object.GetName()+" ["+strings.Join([]string{one("Role", "{.rules[*].verbs[*]}")}, " ")+"] "+
				spaced(one("Role", "{.rules[*].resources}"))+" "+spaced(one("Role", "{.rules[*].resourceNames}"))+" to "+
				one("RoleBinding", "{.subjects[*].name}"))
		}
		slices.Sort(got)
		slices.Sort(test.want)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s, %v:\n%s\nwant\n%s", test.part, test.set, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
	objects := renderFast(t, parts["host"], separate)
	for name, want := range map[string]string{
		"karmada-compute": "true", "karmada-compute-webhook": "true", "karmada-compute-sessions": "false",
	} {
		if got := query(t, objects, "Deployment/"+name, "{.spec.template.spec.automountServiceAccountToken}"); got != want {
			t.Errorf("Pods of %s reach the host: %s", name, got)
		}
	}
}

func spaced(list string) string { return strings.ReplaceAll(list, ",", " ") }
