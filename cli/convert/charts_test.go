// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"strings"
	"testing"
)

// chart has the expectations of a conversion.
type chart struct {
	// lines are in the list, each as the beginning of a line and a part of it. never are parts that no line has.
	lines [][2]string
	never []string
	// out are parts of the output, in YAML.
	out []string
}

var charts = map[string]chart{
	"a chart's web tier, its cache, a hook, a nightly task, an Ingress and an autoscaler": {
		out: []string{
			"  service:\n    exposure: Gateway\n    hostnames:\n    - shop.example.com\n" +
				"    ports:\n    - name: http\n      port: 80\n      targetPort: http\n",
			"  service:\n    ports:\n    - name: tcp-cache\n      port: 6379\n      targetPort: cache\n",
			"minReplicas: 3", "maxReplicas: 12", "averageUtilization: 75", "helm.sh/chart: storefront-3.2.1", "checksum/config: 9f2c",
			"networkPolicy:\n          ingress:\n          - from:\n            - podSelector: {}\n          - from:\n            - ipBlock:\n" +
				"                cidr: 0.0.0.0/0\n            - ipBlock:\n                cidr: ::/0\n            ports:\n            - port: http\n",
		},
		lines: [][2]string{
			{"error: file: Job storefront-migrate is not converted: ", "always restarted; as hook pre-install,pre-upgrade of its chart"},
			{"error: file: CronJob storefront-expire is not converted: ", "always restarted"},
			{
				"Service storefront-cache-headless: ",
				"a Workload has one Service, and Service storefront-cache-master has become spec.service of Workload storefront-cache-master",
			},
			{"StatefulSet storefront-cache-master: spec.serviceName: ", "headless"},
			{"StatefulSet storefront-cache-master: spec.volumeClaimTemplates: ", ""},
			{"StatefulSet storefront-cache-master: spec.template.spec.containers[0].volumeMounts[0]: ", "not carried over"},
			{"StatefulSet storefront-cache-master: metadata.name: ", "Instances storefront-cache-master-default-dfw-0"},
			{
				"Deployment storefront: variable SESSION_STORE of container web ",
				"storefront-cache-master.shop.svc.cluster.local: its namespace has another name in a cell; write storefront-cache-master",
			},
			{"Deployment storefront: spec.template.metadata.annotations[prometheus.io/scrape]: ", "only where the operator of a cell allows"},
			{"Workload storefront: spec.service.hostnames: ", "exposure: Gateway they stand for the names of Ingress storefront; the operator must"},
			{"Ingress storefront: spec.tls[0]: ", "the operator has the certificates"},
			{"Ingress storefront: metadata.annotations[cert-manager.io/cluster-issuer]: ", "has no place"},
			{"HorizontalPodAutoscaler storefront: spec.metrics[0]: ", "averageValue 192Mi"},
			{"Deployment storefront: spec.strategy.rollingUpdate.maxSurge: ", "Instances that metrics scale"},
			{"Deployment storefront: spec.strategy.rollingUpdate.maxUnavailable: ", ""},
		},
		never: []string{
			"CACHE_HOST", "app.toml", "wait-for-cache", "command[2]", "helm.sh/chart", "checksum", "Service storefront:",
			"Service storefront-cache-master:",
			"imagePullPolicy", "automount", "allowPrivilegeEscalation", "ingressClassName", "routes no requests",
		},
	},
	"a program that asks the Pod about itself, with a downward and a projected volume": {
		out: []string{"immutable: true", "seed.bin: AAECAwQ=", "name: TEAM", "name: CPUS", "name: IPS"},
		lines: [][2]string{
			{"Deployment surveyor: spec.template.spec.containers[0].env[0].valueFrom.fieldRef: ", "spec.nodeName: supported are"},
			{"Deployment surveyor: spec.template.spec.containers[0].env[8].value: ", "refers to NODE"},
			{"Deployment surveyor: spec.template.spec.containers[0].args[0]: ", "refers to NODE"},
			{"Deployment surveyor: args[1] of container surveyor ", "/var/run/identity, whose volume identity is not carried over"},
			{"Deployment surveyor: spec.template.spec.containers[0].args[2]: ", "refers to LABEL"},
			{"Deployment surveyor: spec.template.spec.volumes[0].downwardAPI: ", "as files have no other form"},
			{"Deployment surveyor: spec.template.spec.volumes[1].projected.sources[0].serviceAccountToken: ", "no token"},
			{"Deployment surveyor: spec.template.spec.volumes[1].projected.sources[1].configMap: ", "a volume of its own, at a folder of its own"},
			{"Deployment surveyor: spec.template.spec.volumes[1].projected.sources[2].secret: ", "a volume of its own, at a folder of its own"},
			{"Deployment surveyor: spec.template.spec.volumes[1].projected.sources[3].downwardAPI: ", "as files have no other form"},
			{"Deployment surveyor: spec.template.spec.containers[0].volumeMounts[2].subPathExpr: ", "the whole volume is mounted"},
			{"Secret surveyor-tls: ", "is left out with volume identity of Deployment surveyor"},
		},
		never: []string{"recursiveReadOnly", "name each source as a volume", "no converted object", "ConfigMap surveyor"},
	},
	"scaling by every sort of metric, to zero, by a schedule and by size": {
		out: []string{"averageUtilization: 200", "stabilizationWindowSeconds: 600"},
		lines: [][2]string{
			{"HorizontalPodAutoscaler tide: spec.metrics[1]: ", "averageUtilization or averageValue"},
			{"HorizontalPodAutoscaler tide: spec.metrics[2]: ", "of the Instance, and not of one container"},
			{"HorizontalPodAutoscaler tide: spec.metrics[3]: ", "by their cpu and memory"},
			{"HorizontalPodAutoscaler ebb: spec.minReplicas: ", "at least one"},
			{"HorizontalPodAutoscaler ebb: spec.metrics[0]: ", "by their cpu and memory"},
			{"ScaledObject tide-night: ", "maxReplicas and metrics"},
			{"VerticalPodAutoscaler tide: ", "size"},
		},
		never: []string{"maxSurge", "is scaled by its cpu"},
	},
	"secrets of other stores, marks of injectors, host names and volumes from elsewhere": {
		out: []string{"prefix: COURIER_", "- name: registry\n"},
		lines: [][2]string{
			{"Secret mirror: is not in the input", ""},
			{"Secret courier: is not in the input", "ExternalSecret courier makes it in a cluster alone"},
			{"Secret courier-smtp: is not in the input", "SealedSecret courier-smtp makes it in a cluster alone"},
			{"ExternalSecret courier: ", "create Secret courier in the project by other means"},
			{"SealedSecret courier-smtp: ", "create Secret courier-smtp in the project by other means"},
			{"Deployment courier: metadata.annotations[reloader.stakater.com/auto]: ", "spec.rollout.onDataChange"},
			{"Deployment courier: spec.template.metadata.annotations[vault.hashicorp.com/agent-inject]: ", "nothing is injected"},
			{"Deployment courier: spec.template.metadata.annotations[linkerd.io/inject]: ", "no proxy is injected"},
			{"Deployment courier: spec.template.metadata.labels[sidecar.istio.io/inject]: ", "no proxy is injected"},
			{
				"Deployment courier: spec.template.metadata.annotations[cluster-autoscaler.kubernetes.io/safe-to-evict]: ",
				"spec.disruption",
			},
			{"Deployment courier: command[2] of container courier ", "/vault/secrets, which nothing fills in a cell"},
			{"Deployment courier: command[1] of container courier ", "smtp.internal, which no Instance knows; write 10.1.2.3"},
			{"Deployment courier: spec.template.spec.hostname: ", "the host name of an Instance is its name"},
			{"Deployment courier: spec.template.spec.subdomain: ", "headless"},
			{"Deployment courier: spec.template.spec.setHostnameAsFQDN: ", "without a domain"},
			{"Deployment courier: spec.template.spec.hostAliases: ", "no entries of /etc/hosts"},
			{"Deployment courier: spec.template.spec.dnsPolicy: ", "the cell resolves"},
			{"Deployment courier: spec.template.spec.dnsConfig: ", "domains and options"},
			{"Deployment courier: spec.template.spec.containers[0].imagePullPolicy: ", ""},
			{"Deployment courier: spec.template.spec.volumes[0].ephemeral: ", ""},
			{"Deployment courier: spec.template.spec.containers[0].volumeMounts[3]: ", ""},
		},
		never: []string{"enableServiceLinks", "courier-flags", "Secret registry"},
	},
}

// TestCharts converts whole charts: each line of their lists is there, true, and there once.
func TestCharts(t *testing.T) {
	_, shapes := corpus(t)
	for name, want := range charts {
		t.Run(name, func(t *testing.T) {
			if shapes[name] == "" {
				t.Fatal("the corpus has no such shape")
			}
			result, err := manifestsOf(shapes[name])
			if err != nil {
				t.Fatal(err)
			}
			checkLines(t, result, &want)
		})
	}
}

// linesOf are the lines of the list, and the errors.
func linesOf(result *Result) []string {
	var lines []string
	for _, loss := range result.Losses {
		lines = append(lines, loss.String())
	}
	for _, problem := range result.Problems {
		lines = append(lines, fmt.Sprintf("error: %v", problem))
	}
	return lines
}

func checkLines(t *testing.T, result *Result, want *chart) {
	t.Helper()
	lines := linesOf(result)
	all := strings.Join(lines, "\n")
	for _, line := range want.lines {
		found := 0
		for _, got := range lines {
			if rest, begins := strings.CutPrefix(got, line[0]); begins && strings.Contains(rest, line[1]) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%d lines are %s…%s in\n%s", found, line[0], line[1], all)
		}
	}
	for _, never := range want.never {
		if strings.Contains(all, never) {
			t.Errorf("%q is in\n%s", never, all)
		}
	}
	text := printed(t, result)
	for _, part := range want.out {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}
