// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"maps"
	"strings"
)

var webhookCases = []optionCase{
	{option: "hub.namespace", value: "mine", object: host, query: args, want: `"--namespace=mine"`},
	{option: "admission.mode", value: "DryRun", object: host, query: args, want: `"--admission-mode=DryRun"`},
	{
		option: "admission.namespaceSelector", value: "canary=yes", object: host, query: args,
		want: `"--admission-namespace-selector=canary=yes"`,
	},
	{option: "interpreterMode", value: "webhook", object: host, query: args, want: `"--interpreter-mode=webhook"`},
	{option: "webhooks.select", value: []any{"workloads"}, object: host, query: args, want: `"--webhooks=workloads"`},
	{
		option: "webhooks.url", value: "https://hooks.example:9443", object: host, query: args,
		want: `"--webhook-url=https://hooks.example:9443"`,
	},
	{
		option: "webhooks.register", value: false,
		object: host, query: args, want: `"--register-webhooks=false"`,
		with: set{"webhooks.addOnUsers": []any{"a"}},
	},
	{option: "webhooks.addOnUsers", value: []any{"a", "b"}, object: host, query: args, want: `"--add-on-users=a,b"`},
	{option: "webhooks.shutdownDelaySeconds", value: 25, object: host, query: args, want: `"--shutdown-delay-duration=25s"`},
	{option: "webhooks.shutdownDelaySeconds", value: 25, object: host, query: pod, want: `"terminationGracePeriodSeconds":60`},
	{
		option: "webhooks.certificates.source", value: "secret", object: host, query: args,
		want: `"--webhook-cert-dir=/etc/karmada-compute/certificates"`,
	},
	{
		option: "webhooks.certificates.source", value: "secret",
		object: host, query: volumes, want: `{"name":"certificates","secret":{"defaultMode":288,"secretName":"karmada-compute-webhook-tls"}}`,
	},
	{
		// The controllers serve metrics with them.
		option: "webhooks.certificates.source", value: "secret",
		object: host, query: volumes, want: `"name":"certificates"`,
		with: set{"host.separateWebhooks": true},
	},
	{
		option: "webhooks.certificates.source", value: "cert-manager",
		object: "Certificate/karmada-compute-webhook", query: "{.spec}", want: `"secretName":"karmada-compute-webhook-tls"`,
		with: set{"webhooks.certificates.issuerRef.name": "mine"},
	},
	{
		option: "webhooks.certificates.secretName", value: "mine",
		object: host, query: volumes, want: `"secretName":"mine"`,
		with: set{"webhooks.certificates.source": "secret"},
	},
	{
		option: "webhooks.certificates.issuerRef.name", value: "yours",
		object: "Certificate/karmada-compute-webhook", query: "{.spec.issuerRef}", want: `"name":"yours"`,
		with: certManager,
	},
	{
		option: "webhooks.certificates.issuerRef.kind", value: "ClusterIssuer",
		object: "Certificate/karmada-compute-webhook", query: "{.spec.issuerRef}", want: `"kind":"ClusterIssuer"`,
		with: certManager,
	},
	{
		option: "webhooks.certificates.issuerRef.group", value: "example.com",
		object: "Certificate/karmada-compute-webhook", query: "{.spec.issuerRef}", want: `"group":"example.com"`,
		with: certManager,
	},
	{
		option: "webhooks.url", value: "https://hooks.example:9443/x",
		object: "Certificate/karmada-compute-webhook", query: "{.spec.dnsNames}",
		want: `"karmada-compute-webhook.karmada-system.svc","hooks.example"]`,
		with: certManager,
	},
	{
		option: "webhooks.url", value: "https://10.0.0.9:9443",
		object: "Certificate/karmada-compute-webhook", query: "{.spec.ipAddresses}", want: `["10.0.0.9"]`,
		with: certManager,
	},
	{option: "webhooks.certificates.caLifetime", value: "24h", object: host, query: args, want: `"--webhook-ca-lifetime=24h"`},
	{option: "webhooks.certificates.caTrustDelay", value: "1m", object: host, query: args, want: `"--webhook-ca-trust-delay=1m"`},
	{
		option: "webhooks.clientCA.secretName", value: "mine", object: host, query: args,
		want: `"--client-ca-file=/etc/karmada-compute/client-ca/ca.crt"`,
	},
	{option: "webhooks.clientCA.secretName", value: "mine", object: host, query: volumes, want: `"secretName":"mine"`},
	{
		option: "webhooks.clientCA.key", value: "tls.crt",
		object: host, query: volumes, want: `{"key":"tls.crt","path":"ca.crt"}`,
		with: set{"webhooks.clientCA.secretName": "mine"},
	},
	{
		option: "webhooks.alwaysAllowGroups", value: []any{"a", "b"}, object: host, query: args,
		want: `"--authorization-always-allow-groups=a,b"`,
	},
	{option: "webhooks.paths.lifetime", value: "6h", object: host, query: args, want: `"--webhook-path-lifetime=6h"`},
}

var certManager = set{"webhooks.certificates.source": "cert-manager", "webhooks.certificates.issuerRef.name": "mine"}

// pathSecret is the suffix of a path.
var pathSecret = strings.Repeat("0f", 32)

// made are the values with which the chart creates the webhook configurations instead of the add-on.
var made = set{"webhooks.register": false, "webhooks.addOnUsers": []any{"add-on"}}

var miloCases = func() []optionCase {
	const admission = "ValidatingWebhookConfiguration/karmada-compute"
	return []optionCase{
		{
			option: "milo.enabled", value: false, object: "CustomResourceDefinition/workloads.compute.datumapis.com",
			query: "{.spec.group}", want: none,
		},
		{option: "milo.enabled", value: false, object: "ClusterRole/karmada-compute-project", query: "{.rules}", want: none},
		{
			option: "milo.iam.enabled", value: true, object: "ProtectedResource/compute.datumapis.com-workload",
			query: "{.spec.plural}", want: "workloads",
		},
		{
			option: "milo.iam.namespace", value: "mine", object: "Role/compute.datumapis.com-viewer", query: "{.metadata.namespace}", want: "mine",
			with: set{"milo.iam.enabled": true},
		},
		{
			option: "milo.quota.enabled", value: true,
			object: "ResourceRegistration/karmada-compute-vcpus", query: "{.spec.unitConversionFactor}", want: "1000",
		},
		{
			option: "milo.quota.workloads", value: true, object: "ClaimCreationPolicy/karmada-compute-workloads",
			query: "{.spec.trigger.resource.kind}", want: "Workload", with: set{"milo.quota.enabled": true},
		},
		{
			option: "milo.quota.grant", value: map[string]any{"memory": 7}, object: "GrantCreationPolicy/karmada-compute-default",
			query: "{.spec.target.resourceGrantTemplate.spec.allowances[1].buckets[0].amount}", want: "7", with: set{"milo.quota.enabled": true},
		},
		{
			option: "milo.subjects", value: []any{map[string]any{"kind": "Group", "name": "add-ons"}},
			object: "ClusterRoleBinding/karmada-compute-project", query: "{.subjects}",
			want: `[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"add-ons"}]`,
		},
		{
			option: "milo.webhookSubjects", value: []any{map[string]any{"kind": "User", "name": "reviewer"}},
			object: "ClusterRoleBinding/karmada-compute-webhook", query: "{.subjects}", with: separate,
			want: `[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"reviewer"}]`,
		},
		{
			option: "host.separateWebhooks", value: true,
			object: "ClusterRoleBinding/karmada-compute-webhook", query: "{.subjects[*].name}", want: "karmada-compute-webhook",
		},
		{
			option: "webhooks.register", value: false,
			object: admission, query: "{.webhooks[*].clientConfig.service.path}", want: "/validate-workload /validate-owned",
			with: set{"webhooks.addOnUsers": []any{"a"}},
		},
		{
			option: "webhooks.paths.secrets", value: map[string]any{"validate-workload": pathSecret, "validate-owned": pathSecret},
			object: admission, query: "{.webhooks[*].clientConfig.service.path}",
			want: "/validate-workload/" + pathSecret + " /validate-owned/" + pathSecret,
			with: made,
		},
		{
			option: "webhooks.paths.secrets", value: map[string]any{"validate-workload": pathSecret},
			object: admission, query: "{.webhooks[*].clientConfig.url}",
			want: "https://hooks.example/validate-workload/" + pathSecret + " https://hooks.example/validate-owned",
			with: set{"webhooks.register": false, "webhooks.addOnUsers": []any{"add-on"}, "webhooks.url": "https://hooks.example/"},
		},
		{
			option: "webhooks.addOnUsers", value: []any{"a", `o'b\`},
			object: admission, query: "{.webhooks[1].matchConditions[0].expression}", want: `in ['a', 'o\'b\\'])`,
			with: made,
		},
		{
			option: "webhooks.caBundle", value: certs,
			object: admission, query: "{.webhooks[*].clientConfig.caBundle}", want: "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1BPT0K",
			with: made,
		},
		{
			option: "webhooks.configurationAnnotations", value: other,
			object: admission, query: "{.metadata.annotations}", want: "example.com/team",
			with: made,
		},
		{
			option: "webhooks.url", value: "https://hooks.example/",
			object: admission, query: "{.webhooks[*].clientConfig.url}",
			want: "https://hooks.example/validate-workload https://hooks.example/validate-owned",
			with: made,
		},
		{option: "admission.mode", value: "Ignore", object: admission, query: "{.webhooks[*].failurePolicy}", want: "Ignore Ignore", with: made},
		{
			option: "admission.namespaceSelector", value: "canary=yes, tier==a",
			object: admission, query: "{.webhooks[0].namespaceSelector}", want: `{"matchLabels":{"canary":"yes","tier":"a"}}`,
			with: made,
		},
	}
}()

var accessCases = func() []optionCase {
	cases := []optionCase{
		{option: "access.kubeAPIQPS", value: 50.5, object: host, query: args, want: `"--kube-api-qps=50.5"`},
		{option: "access.renew", value: true, object: host, query: args, want: `"--token-secret=karmada-system/karmada-compute-config"`},
		{option: "access.renew", value: true, object: host, query: pod, want: `"automountServiceAccountToken":true`},
		{
			option: "access.renew", value: true, object: host, query: volumes,
			want: `{"secret":{"items":[{"key":"token","path":"token"}],"name":"karmada-compute-config","optional":true}}`,
		},
		{option: "access.kubeAPIBurst", value: 100, object: host, query: args, want: `"--kube-api-burst=100"`},
	}
	for _, plane := range []string{"hub", "milo"} {
		key, secret := "access."+plane, "Secret/karmada-compute-"+plane+"-access"
		token := set{key + ".token.server": "https://api.example"}
		cases = append(cases,
			optionCase{option: key + ".secret.name", value: "mine", object: host, query: volumes, want: `"name":"mine"`},
			optionCase{
				option: key + ".secret.key", value: "mine.config", object: host, query: volumes, want: `{"key":"mine.config","path":"kubeconfig"}`,
			},
			optionCase{
				option: key + ".kubeconfig", value: "apiVersion: v1", object: secret, query: "{.data.kubeconfig}", want: "YXBpVmVyc2lvbjogdjE=",
			},
			optionCase{
				option: key + ".kubeconfig", value: "apiVersion: v1",
				object: host, query: volumes, want: `{"secret":{"name":"karmada-compute-` + plane + `-access"}}`,
			},
			// Another kubeconfig replaces the Pods.
			optionCase{
				option: key + ".kubeconfig", value: "apiVersion: v1",
				object: host, query: "{.spec.template.metadata.annotations}", want: "compute.datumapis.com/access",
			},
			// In Base64.
			optionCase{
				option: key + ".token.server", value: "https://api.example",
				object: secret, query: "{.data.kubeconfig}", want: "c2VydmVyOiBodHRwczovL2FwaS5leGFtcGxl",
			},
			optionCase{
				option: key + ".token.server", value: "https://api.example",
				object: host, query: volumes, want: `{"serviceAccountToken":{"expirationSeconds":3600,"path":"token"}}`,
			},
			optionCase{
				option: key + ".token.ca", value: certs, object: secret, query: "{.data.kubeconfig}", want: "hdXRob3JpdHktZGF0YTog", with: token,
			},
			optionCase{option: key + ".token.audience", value: "karmada", object: host, query: volumes, want: `"audience":"karmada"`, with: token},
			optionCase{
				option: key + ".token.expirationSeconds", value: 900, object: host, query: volumes, want: `"expirationSeconds":900`, with: token,
			},
		)
		key, secret = "access.webhooks."+plane, "Secret/karmada-compute-webhook-"+plane+"-access"
		cases = append(cases,
			optionCase{option: key + ".secret.name", value: "mine", object: serve, query: volumes, want: `"name":"mine"`, with: separate},
			optionCase{
				option: key + ".secret.key", value: "mine.config", object: serve, query: volumes,
				want: `{"key":"mine.config","path":"kubeconfig"}`, with: separate,
			},
			optionCase{
				option: key + ".kubeconfig", value: "apiVersion: v1", object: secret, query: "{.data.kubeconfig}",
				want: "YXBpVmVyc2lvbjogdjE=", with: separate,
			},
			optionCase{
				option: key + ".kubeconfig", value: "apiVersion: v1", with: separate,
				object: serve, query: volumes, want: `{"secret":{"name":"karmada-compute-webhook-` + plane + `-access"}}`,
			},
			optionCase{
				option: key + ".kubeconfig", value: "apiVersion: v1", with: separate,
				object: serve, query: "{.spec.template.metadata.annotations}", want: "compute.datumapis.com/access",
			},
		)
	}
	return cases
}()

var hubCases = []optionCase{
	{
		option: "hub.enabled", value: false, object: "CustomResourceDefinition/instances.compute.datumapis.com",
		query: "{.spec.group}", want: none,
	},
	{option: "hub.enabled", value: false, object: "ClusterRole/karmada-compute-hub", query: "{.rules}", want: none},
	{option: "hub.namespace", value: "mine", object: "Role/karmada-compute-hub", query: "{.metadata.namespace}", want: "mine"},
	{
		option: "hub.namespace", value: "mine",
		object: "ClusterRoleBinding/karmada-compute-hub", query: "{.subjects}",
		want: `{"kind":"ServiceAccount","name":"karmada-compute","namespace":"mine"}`,
	},
	{
		option: "hub.subjects", value: []any{map[string]any{"kind": "User", "name": "me"}},
		object: "RoleBinding/karmada-compute-hub", query: "{.subjects}",
		want: `[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"me"}]`,
	},
	{
		option: "hub.subjects", value: []any{map[string]any{"kind": "ServiceAccount", "name": "mine", "namespace": "there"}},
		object: "ClusterRoleBinding/karmada-compute-hub", query: "{.subjects}", want: `"namespace":"there"`,
	},
	{
		option: "hub.subjects", value: []any{map[string]any{"kind": "ServiceAccount", "name": "mine"}},
		object: "ServiceAccount/mine", query: "{.metadata.namespace}", want: "karmada-system",
	},
	{
		option: "hub.subjects", value: []any{
			map[string]any{"kind": "User", "name": "it's me"}, map[string]any{"kind": "Group", "name": "add-ons"},
		},
		object: limits, query: "{.spec.matchConditions[0].expression}",
		want: `request.userInfo.username in ['it\'s me'] || request.userInfo.groups.exists(g, g in ['add-ons'])`,
	},
	{
		option: "hub.namespace", value: "mine",
		object: limits, query: "{.spec.matchConditions[0].expression}", want: "'system:serviceaccount:mine:karmada-compute'",
	},
	{
		option: "hub.namespace", value: "mine",
		object: limits, query: "{.spec.variables[?(@.name=='inOwnNamespace')].expression}", want: "request.namespace == 'mine'",
	},
	{
		option: "hub.webhookSubjects", value: []any{map[string]any{"kind": "User", "name": "reviewer"}},
		object: "RoleBinding/karmada-compute-webhook", query: "{.subjects}", with: separate,
		want: `[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"reviewer"}]`,
	},
	{
		option: "hub.webhookSubjects", value: []any{map[string]any{"kind": "User", "name": "reviewer"}},
		object: limits, query: "{.spec.matchConditions[0].expression}", with: separate, want: "'reviewer'",
	},
	{
		option: "host.separateWebhooks", value: true,
		object: "ServiceAccount/karmada-compute-webhook", query: "{.metadata.namespace}", want: "karmada-system",
	},
	{
		option: "hub.metricsReaders", value: []any{map[string]any{"kind": "User", "name": "prometheus"}},
		object: "ClusterRoleBinding/karmada-compute-metrics-reader", query: "{.roleRef.name} {.subjects}",
		want: `karmada-compute-metrics-reader [{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"prometheus"}]`,
	},
	{
		option: "hub.metricsReaders", value: []any{map[string]any{"kind": "ServiceAccount", "name": "prometheus"}},
		object: "ClusterRole/karmada-compute-metrics-reader", query: "{.rules}", want: `[{"nonResourceURLs":["/metrics"],"verbs":["get"]}]`,
	},
	{option: "hub.protection.enabled", value: false, object: deletions, query: "{.metadata.name}", want: none},
	{option: "hub.protection.action", value: "Audit", object: deletionsOn, query: "{.spec.validationActions}", want: `["Audit"]`},
	{
		option: "hub.protection.deleters", value: []any{map[string]any{"kind": "User", "name": "closer"}},
		object: deletions, query: `{.spec.matchConditions[?(@.name=="other-user")].expression}`,
		want: `!(request.userInfo.username in ["system:kube-controller-manager","system:apiserver",` +
			`"system:serviceaccount:kube-system:generic-garbage-collector","system:serviceaccount:kube-system:namespace-controller",` +
			`"system:serviceaccount:karmada-system:karmada-compute","closer"])`,
	},
	{
		option: "hub.guard.karmada", value: []any{map[string]any{"kind": "User", "name": "karmada"}},
		object: guard, query: "{.spec.matchConditions[0].expression}", want: `"karmada"]`,
	},
	{
		option: "hub.guard.writers", value: []any{map[string]any{"kind": "Group", "name": "backups"}},
		object: guard, query: "{.spec.matchConditions[0].expression}", want: `["system:masters","backups"]`,
	},
	{
		option: "hub.keepPodSecurity", value: false,
		object: "ResourceInterpreterCustomization/karmada-compute-namespaces", query: "{.spec.target.kind}", want: none,
	},
	{option: "hub.createServiceAccounts", value: false, object: account, query: "{.metadata.name}", want: none},
	{
		option: "webhooks.register", value: false,
		object: "ResourceInterpreterCustomization/karmada-compute", query: "{.spec.target.kind}", want: "WorkloadDeployment",
	},
	{
		option: "webhooks.url", value: "https://hooks.example",
		object: interpreter, query: "{.webhooks[*].clientConfig.url}", want: "https://hooks.example/interpret-workloaddeployment",
		with: called,
	},
	{
		option: "interpreterMode", value: "webhook", object: interpreter, query: "{.webhooks[0].rules[0].kinds}",
		want: "WorkloadDeployment", with: made,
	},
	{
		option: "interpreterMode", value: "webhook", object: "ResourceInterpreterCustomization/karmada-compute",
		query: "{.spec}", want: none, with: made,
	},
}

const interpreter = "ResourceInterpreterWebhookConfiguration/karmada-compute"

// called are the values with which the chart registers the interpreter as a webhook.
var called = set{"webhooks.register": false, "interpreterMode": "webhook"}

var agentCases = func() []optionCase {
	const override = "ClusterOverridePolicy/karmada-compute-cell-dfw"
	dfw := func(what map[string]any) any {
		result := map[string]any{"city": "DFW"}
		maps.Copy(result, what)
		return []any{result}
	}
	return []optionCase{
		{option: "commonLabels", value: other, object: agent, query: "{.spec.template.metadata.labels}", want: "example.com/team"},
		{
			option: "commonAnnotations", value: other, object: "Namespace/karmada-compute-system",
			query: "{.metadata.annotations}", want: "example.com/team",
		},
		{option: "logging.verbosity", value: 4, object: agent, query: args, want: `"-v=4"`},
		{option: "logging.format", value: "json", object: agent, query: args, want: `"--logging-format=json"`},
		{option: "profiling", value: true, object: agent, query: args, want: `"--profiling=true"`},
		{option: "agents.enabled", value: false, object: agent, query: pod, want: none},
		{option: "agents.enabled", value: false, object: policy, query: "{.spec}", want: none},
		{option: "agents.namespace", value: "cells", object: agent, query: args, want: `"--leader-elect-resource-namespace=cells"`},
		{option: "agents.namespace", value: "cells", object: "Role/karmada-compute-cell", query: "{.metadata.namespace}", want: "cells"},
		{
			option: "agents.namespace", value: "cells",
			object: policy, query: "{.spec.resourceSelectors}", want: `{"apiVersion":"v1","kind":"Namespace","name":"cells"}`,
		},
		{
			option: "agents.namespace", value: "cells", object: "ClusterOverridePolicy/karmada-compute-cell-subjects",
			query: "{.spec.overrideRules[0].overriders.plaintext[0].value}", want: `"namespace":"cells"`,
		},
		{
			option: "agents.image.registry", value: "registry.example",
			object: agent, query: container, want: `"registry.example/karmada-compute/karmada-compute-cell:`,
		},
		{option: "agents.image.repository", value: "mine/cell", object: agent, query: container, want: `"image":"ghcr.io/mine/cell:`},
		{
			option: "agents.image.tag", value: "v9", object: agent, query: container,
			want: `"image":"ghcr.io/karmada-compute/karmada-compute-cell:v9"`,
		},
		{
			option: "agents.image.digest", value: "sha256:" + strings.Repeat("ab", 32),
			object: agent, query: container, want: `"image":"ghcr.io/karmada-compute/karmada-compute-cell@sha256:abab`,
		},
		{option: "agents.image.pullPolicy", value: "Always", object: agent, query: container, want: `"imagePullPolicy":"Always"`},
		{
			option: "agents.imagePullSecrets", value: pullSecret, object: agent,
			query: "{.spec.template.spec.imagePullSecrets[*].name}", want: "mine",
		},
		{
			option: "agents.imagePullSecrets", value: pullSecret,
			object: policy, query: "{.spec.resourceSelectors}",
			want: `{"apiVersion":"v1","kind":"Secret","name":"mine","namespace":"karmada-compute-system"}`,
		},
		{option: "agents.replicas", value: 1, object: agent, query: "{.spec.replicas}", want: "1"},
		{option: "agents.bindAddress", value: "$(POD_IP)", object: agent, query: args, want: `"--health-probe-bind-address=$(POD_IP):8081"`},
		{option: "agents.bindAddress", value: "$(POD_IP)", object: agent, query: args, want: `"--metrics-bind-address=$(POD_IP):8080"`},
		{option: "agents.concurrency", value: 3, object: agent, query: args, want: `"--concurrency=3"`},
		{option: "agents.kubeAPIQPS", value: 50, object: agent, query: args, want: `"--kube-api-qps=50"`},
		{option: "agents.kubeAPIQPS", value: 2.5, object: agent, query: args, want: `"--kube-api-qps=2.5"`},
		{option: "agents.kubeAPIBurst", value: 3, object: agent, query: args, want: `"--kube-api-burst=3"`},
		{option: "agents.nodeLossAfter", value: "2m", object: agent, query: args, want: `"--node-loss-after=2m"`},
		{option: "agents.extraArgs", value: []any{"--cell=x"}, object: agent, query: args, want: `"--cell=x"]`},
		{
			option: "agents.extraEnv", value: []any{map[string]any{"name": "GOGC", "value": "50"}},
			object: agent, query: container, want: `{"name":"GOGC","value":"50"}`,
		},
		{option: "agents.podLabels", value: other, object: agent, query: "{.spec.template.metadata.labels}", want: "example.com/team"},
		{option: "agents.podAnnotations", value: other, object: agent, query: "{.spec.template.metadata.annotations}", want: "example.com/team"},
		{
			option: "agents.resources", value: map[string]any{"limits": map[string]any{"cpu": "2"}}, object: agent,
			query: container, want: `"cpu":"2"`,
		},
		{option: "agents.nodeSelector", value: other, object: agent, query: pod, want: `"nodeSelector":{"example.com/team":"compute"}`},
		{
			option: "agents.tolerations", value: []any{map[string]any{"operator": "Exists"}},
			object: agent, query: pod, want: `"tolerations":[{"operator":"Exists"}]`,
		},
		{option: "agents.priorityClassName", value: "mine", object: agent, query: pod, want: `"priorityClassName":"mine"`},
		{option: "agents.networkPolicy.enabled", value: false, object: "NetworkPolicy/karmada-compute-cell", query: "{.spec}", want: none},
		{
			option: "agents.networkPolicy.enabled", value: true,
			object: policy, query: "{.spec.resourceSelectors}", want: "NetworkPolicy",
			with: set{"agents.networkPolicy.enabled": false},
		},
		{
			option: "agents.networkPolicy.metricsFrom", value: peers,
			object: "NetworkPolicy/karmada-compute-cell", query: "{.spec.ingress}",
			want: `{"from":[{"ipBlock":{"cidr":"10.0.0.0/8"}}],"ports":[{"port":"metrics"}]}`,
		},
		{option: "agents.protection.enabled", value: false, object: protection, query: "{.spec}", want: none},
		{option: "agents.protection.action", value: "Warn", object: protectionOn, query: "{.spec.validationActions}", want: "Warn"},
		{
			option: "agents.protection.karmada", value: []any{map[string]any{"kind": "User", "name": "karmada"}},
			object: protection, query: "{.spec.matchConditions[*].expression}", want: `"karmada"]`,
		},
		{
			option: "agents.protection.writers", value: []any{map[string]any{"kind": "Group", "name": "machines"}},
			object: protection, query: "{.spec.matchConditions[*].expression}", want: `"machines"]`,
		},
		{option: "agents.metrics.enabled", value: false, object: agent, query: args, want: `"--metrics-bind-address=0"`},
		{
			option: "agents.overrides", value: dfw(map[string]any{"imageRegistry": "mirror.example"}),
			object: override, query: "{.spec.overrideRules[0].overriders.imageOverrider}",
			want: `[{"component":"Registry","operator":"replace","value":"mirror.example"}]`,
		},
		{
			option: "agents.overrides", value: dfw(map[string]any{"imageRegistry": "mirror.example"}),
			object: override, query: "{.spec.overrideRules[0].targetCluster}", want: `"values":["dfw","DFW"]`,
		},
		{
			option: "agents.overrides", value: dfw(map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": "2"}}}),
			object: override, query: "{.spec.overrideRules[0].overriders.plaintext}",
			want: `{"operator":"add","path":"/spec/template/spec/containers/0/resources","value":{"limits":{"cpu":"2"}}}`,
		},
		{
			option: "agents.overrides", value: dfw(map[string]any{"nodeSelector": other}),
			object: override, query: "{.spec.overrideRules[0].overriders.plaintext}", want: `"path":"/spec/template/spec/nodeSelector"`,
		},
		{
			option: "agents.overrides", value: dfw(map[string]any{"tolerations": []any{map[string]any{"operator": "Exists"}}}),
			object: override, query: "{.spec.overrideRules[0].overriders.plaintext}", want: `"path":"/spec/template/spec/tolerations"`,
		},
		{
			option: "agents.overrides", value: dfw(map[string]any{"extraArgs": []any{"-v=4"}}),
			object: override, query: "{.spec.overrideRules[0].overriders.argsOverrider}",
			want: `[{"containerName":"karmada-compute-cell","operator":"add","value":["-v=4"]}]`,
		},
	}
}()
