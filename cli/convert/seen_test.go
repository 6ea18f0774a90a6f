// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strings"
	"testing"
)

// TestSeen has faults that were seen in lists of charts.
func TestSeen(t *testing.T) {
	stateful := func(spec, container string) string {
		return strings.Replace(deployment("", spec, "", container), "kind: Deployment", "kind: StatefulSet", 1)
	}
	hook := func(kind, when string) string {
		return deployment("", "", "", "") + "\n---\n{apiVersion: v1, kind: " + kind +
			", metadata: {name: x, annotations: {helm.sh/hook: '" + when + "'}}}"
	}
	const (
		ofPod = ", env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, " +
			"{name: ADDR, value: '$(POD).web-hl.default.svc:80'}]"
		headless = ", clusterIP: None, ports: [{port: 80}]"
		away     = "{apiVersion: v1, kind: Namespace, metadata: {name: prod, labels: {compute.datumapis.com/project: 'true'}}}\n---\n"
		advice   = "; name its namespace in --namespace"
	)
	inProd := away + strings.ReplaceAll(deployment("", "", "", ", resources: {limits: {cpu: 1, memory: 1Gi}}"),
		"metadata: {name: web", "metadata: {namespace: prod, name: web")
	for name, c := range map[string]chart{
		"a Pod of a headless Service with another name": {
			out:   []string{stateful(", serviceName: web-hl", ofPod) + service("web-hl", headless), "headless: true"},
			lines: [][2]string{{"StatefulSet web: variable ADDR of container web names ", "in a cell; write $(POD).web"}},
		},
		"a Pod of a headless Service that is left out": {
			out: []string{
				stateful(", serviceName: web-hl", ofPod+", args: ['http://web-{0...3}.web-hl.default.svc/x', '--join=web-hl']") +
					service("web-hl", headless) + service("web", onePort), "kind: Workload",
			},
			lines: [][2]string{
				{"StatefulSet web: variable ADDR of container web names ", "only with headless: true in spec.service an Instance has a name"},
				{"StatefulSet web: args[0] of container web names ", "only with headless: true in spec.service an Instance has a name"},
				{"StatefulSet web: args[1] of container web names ", "write web, which has one address for all Instances"},
			},
			never: []string{"write web\n"},
		},
		"names that a shell puts together": {
			out: []string{
				stateful(", serviceName: web", ", env: [{name: NAME, value: web}, {name: DOMAIN, value: '$(NAME).default.svc'}], "+
					"args: ['exec web --join=${NAME}-0.${DOMAIN}:80,$NAME-1.$DOMAIN:80 --own=$(hostname).${DOMAIN} --other=${OTHER}-0']") +
					service("web", headless), "headless: true",
			},
			lines: [][2]string{
				{"StatefulSet web: variable DOMAIN of container web names web.default.svc: ", "write web"},
				{"StatefulSet web: args[0] of container web names Pod web-0, ", ""},
				{"StatefulSet web: args[0] of container web names Pod web-1, ", ""},
				{"StatefulSet web: args[0] of container web names $(hostname).web.default.svc: ", "write $(hostname).web"},
			},
		},
		"several variables that are left out": {
			out: []string{
				deployment("", "", "", ", env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}, "+
					"{name: B, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}, {name: C, value: '$(A) $(B) $(A)'}], args: ['$(A)$(B)']"),
				"kind: Workload",
			},
			lines: [][2]string{
				{"Deployment web: spec.template.spec.containers[0].env[2].value: refers to A", ""},
				{"Deployment web: spec.template.spec.containers[0].env[2].value: refers to B", ""},
				{"Deployment web: spec.template.spec.containers[0].args[0]: refers to A", ""},
				{"Deployment web: spec.template.spec.containers[0].args[0]: refers to B", ""},
			},
		},
		"tokens of other identities": {
			out: []string{
				deployment("", "", "", ", args: [--token=/var/run/secrets/azure/tokens/azure-identity-token], "+
					"env: [{name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /var/run/secrets/eks.amazonaws.com/serviceaccount/token}]"), "kind: Workload",
			},
			lines: [][2]string{
				{"Deployment web: args[0] of container web names /run/secrets/azure/tokens, which no Instance has", ""},
				{"Deployment web: variable AWS_WEB_IDENTITY_TOKEN_FILE of container web names /run/secrets/eks.amazonaws.com/serviceaccount, ", ""},
			},
		},
		"the certificates of the cluster": {
			out: []string{
				deployment("", "", ", volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t}}, "+
					"{configMap: {name: kube-root-ca.crt}}]}}, {name: w, configMap: {name: kube-root-ca.crt}}]",
					", volumeMounts: [{name: v, mountPath: /v}, {name: w, mountPath: /w}]"), "kind: Workload",
			},
			lines: [][2]string{
				{"Deployment web: spec.template.spec.volumes[0].projected.sources[1].configMap: Instances have no identity", ""},
				{"ConfigMap kube-root-ca.crt: ", "is not copied to cells: name a ConfigMap of your own"},
			},
			never: []string{"is not in the input", "of its own, at"},
		},
		"a test": {
			out: []string{hook("Pod", "test"), "kind: Workload"}, never: []string{"Deployment with one", "when you"},
			lines: [][2]string{{"error: file: Pod x is not converted: ", "it tests its chart, and is no part of what runs"}},
		},
		"hooks of a removal": {
			out:   []string{hook("ReplicaSet", "post-delete"), "kind: Workload"},
			lines: [][2]string{{"error: file: ReplicaSet x is not converted: ", "run it by other means, when you delete the Workloads"}},
		},
		"hooks of an upgrade": {
			out:   []string{hook("ReplicaSet", "post-upgrade,pre-delete"), "kind: Workload"},
			lines: [][2]string{{"error: file: ReplicaSet x is not converted: ", "run it by other means, after you apply the Workloads"}},
		},
		"hooks before and after": {
			out:   []string{hook("ReplicaSet", "post-install,pre-upgrade"), "kind: Workload"},
			lines: [][2]string{{"error: file: ReplicaSet x is not converted: ", "run it by other means, when you apply the Workloads"}},
		},
		"more surge than is possible, and metrics": {
			out: []string{
				deployment("", ", strategy: {rollingUpdate: {maxSurge: 200%}}", "", ", resources: {limits: {cpu: 1, memory: 1Gi}}") +
					object("autoscaling/v2", "HorizontalPodAutoscaler", ", spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: web}}"),
				"maxReplicas: 3",
			},
			lines: [][2]string{{"Deployment web: spec.strategy.rollingUpdate.maxSurge: ", "have no additional Instances"}}, never: []string{"100%"},
		},
		"what has no namespace, and goes with what has one": {
			out: []string{
				inProd + service("web", onePort) +
					object("policy/v1", "PodDisruptionBudget", ", spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}") +
					object("autoscaling/v2", "HorizontalPodAutoscaler", ", spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: web}}"),
				"kind: Workload",
			},
			lines: [][2]string{
				{"Service web: ", "of no converted object" + advice},
				{"PodDisruptionBudget web: ", "of no converted object" + advice},
				{"HorizontalPodAutoscaler web: ", "is no converted object" + advice},
			},
		},
		"an Ingress without a namespace": {
			out: []string{
				inProd + strings.Replace(service("web", onePort), "name: web}", "namespace: prod, name: web}", 1) +
					ingress(rule("example.com", "/", "web", "{number: 80}")),
				"service:",
			},
			lines: [][2]string{{"Ingress web: is not converted: ", "of no Workload" + advice}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := manifestsOf(c.out[0])
			if err != nil {
				t.Fatal(err)
			}
			c.out = c.out[1:]
			checkLines(t, result, &c)
		})
	}
}
