// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import "testing"

// TestOccupied: a refusal names what a namespace has, within bounds, and the command that removes that and nothing else.
func TestOccupied(t *testing.T) {
	const begin, because = "namespace team-a cannot get label compute.datumapis.com/project while it has ",
		": what they have propagated would keep running, in any city. Use another namespace, or remove them and what they run: " +
			"kubectl --namespace=team-a delete "
	for name, test := range map[string]struct {
		found [][]string
		want  string
	}{
		"nothing": {[][]string{nil, nil, nil, nil}, ""},
		"a policy": {
			[][]string{{"web"}, nil, nil, nil},
			begin + "PropagationPolicy web" + because + "propagationpolicies.policy.karmada.io --all",
		},
		"a policy that is gone leaves a binding": {
			[][]string{nil, nil, {"web-deployment", "web-service"}, nil},
			begin + "ResourceBinding web-deployment, web-service" + because + "resourcebindings.work.karmada.io --all",
		},
		"all kinds, many": {
			[][]string{{"a"}, {"b"}, {"1", "2", "3", "4", "5", "6"}, {"w"}},
			begin + "PropagationPolicy a; OverridePolicy b; ResourceBinding 1, 2, 3, 4, 5 and more; Work w" + because +
				"propagationpolicies.policy.karmada.io,overridepolicies.policy.karmada.io," +
				"resourcebindings.work.karmada.io,works.work.karmada.io --all",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := occupied("team-a", test.found); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
