// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

// TestRulesThatHarm: a role that only reads, or writes statuses, is no reason to refuse a namespace; one that reads Secrets or
// writes anything else is.
func TestRulesThatHarm(t *testing.T) {
	for name, row := range map[string]struct {
		resources, verbs []string
		harms            bool
	}{
		"external-dns reads":             {[]string{"dnsendpoints"}, []string{"get", "list", "watch"}, false},
		"external-dns writes statuses":   {[]string{"dnsendpoints/status"}, []string{"update"}, false},
		"a controller elects its leader": {[]string{"leases"}, []string{"get", "update"}, true},
		"somebody reads Secrets":         {[]string{"secrets"}, []string{"get"}, true},
		"somebody reads everything":      {[]string{"*"}, []string{"list"}, true},
		"somebody writes everything":     {[]string{"configmaps"}, []string{"*"}, true},
		"somebody asks for tokens":       {[]string{"serviceaccounts/token"}, []string{"create"}, true},
		"status and more":                {[]string{"dnsendpoints/status", "dnsendpoints"}, []string{"patch"}, true},
		"statuses of all kinds":          {[]string{"*/status"}, []string{"patch"}, false},
		"somebody becomes another user":  {[]string{"users"}, []string{"impersonate"}, true},
		"somebody runs commands":         {[]string{"pods/exec"}, []string{"get"}, true},
		"no resource":                    {nil, []string{"*"}, false},
	} {
		if got := harms(rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: row.resources, Verbs: row.verbs}); got != row.harms {
			t.Errorf("%s: harms is %v", name, got)
		}
	}
}
