// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strings"
	"testing"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/webhook/validation"
)

// deployment is a Deployment with these fields of its spec, of its Pods' spec and of its container, in YAML.
func deployment(metadata, spec, pod, container string) string {
	return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web" + metadata + "}, spec: {selector: {matchLabels: {app: web}}" + spec +
		", template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: 'registry.example.com/web:1'" +
		container + "}]" + pod + "}}}}"
}

// TestKinds: each kind of manifest that people have gives a Workload that admission takes, and names what is lost, and
// nothing else.
func TestKinds(t *testing.T) {
	cases := map[string]struct {
		in string
		// lost are parts of the lines, in their order. All lines are named.
		lost []string
		// problems are parts of the errors, in their order.
		problems []string
		// out are parts of the Workload in YAML.
		out []string
	}{
		"nothing is lost": {in: deployment("", "", "", ""), out: []string{"maxSurge: 25%"}},
		"empty lists and structs": {in: deployment("", "",
			", affinity: {}, tolerations: [], nodeSelector: {}, hostAliases: [], topologySpreadConstraints: [], "+
				"securityContext: {sysctls: [], supplementalGroups: [], seLinuxOptions: {}}",
			", securityContext: {capabilities: {drop: [all]}, seLinuxOptions: {}}")},
		"variables of a Service": {
			in: deployment("", "", "", ", args: ['$(DB_MAIN_SERVICE_HOST)', '$$(DB_MAIN_PORT)', '$(OWN_PORT)', "+
				"'echo ${DB_MAIN_PORT} ${KUBERNETES_SERVICE_HOST}'], "+
				"env: [{name: OWN_PORT, value: '80'}, {name: U, value: 'tcp://$(DB_MAIN_PORT_5432_TCP_ADDR)'}]") +
				"\n---\n{apiVersion: v1, kind: Service, metadata: {name: db-main}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: own}}",
			lost: []string{
				"Service db-main: is not", "Service own: is not",
				"variable U of container web names Service db-main by variable DB_MAIN_PORT_5432_TCP_ADDR, which no Instance has",
				"args[0] of container web names Service db-main by variable DB_MAIN_SERVICE_HOST, which no Instance has",
				"args[3] of container web names Service db-main by variable DB_MAIN_PORT",
			},
		},
		"pull policy of the tag latest": {in: strings.ReplaceAll(deployment("", "", "", ", imagePullPolicy: Always"), "web:1", "web:latest")},
		"another pull policy": {
			in: deployment("", "", "", ", imagePullPolicy: Always"), lost: []string{"imagePullPolicy: cells use the default, IfNotPresent"},
		},
		"paused, history": {
			in: deployment("", ", paused: true, revisionHistoryLimit: 2", "", ""), out: []string{"paused: true", "revisionHistoryLimit: 2"},
		},
		"too much history": {
			in: deployment("", ", revisionHistoryLimit: 80", "", ""), lost: []string{"is at most 50"}, out: []string{"revisionHistoryLimit: 50"},
		},
		"surge of 200 %": {
			in: deployment("", ", strategy: {rollingUpdate: {maxSurge: 200%}}", "", ""), lost: []string{"is at most 100%"},
			out: []string{"maxSurge: 100%"},
		},
		"bounds": {
			in: deployment("", "", ", terminationGracePeriodSeconds: 1200, volumes: [{name: s, emptyDir: {sizeLimit: '0'}}]",
				", workingDir: src, resources: {requests: {cpu: 0}}, lifecycle: {preStop: {sleep: {seconds: 900}}}, "+
					"livenessProbe: {tcpSocket: {port: 80}, terminationGracePeriodSeconds: 900}, volumeMounts: [{name: s, mountPath: /s}]"),
			lost: []string{
				"terminationGracePeriodSeconds: is at most 600", "workingDir: must be absolute",
				"livenessProbe.terminationGracePeriodSeconds: is at most 600", "sleep.seconds: is at most 600", "preStop: nothing of the grace period",
			},
		},
		"the last of equal variables": {
			in: deployment("", "", ", imagePullSecrets: [{name: mirror}, {name: mirror}]",
				", env: [{name: A, value: '1'}, {name: A, value: '2'}]"),
			lost: []string{"env[0]: A is set again", "Secret mirror: is not in the input"}, out: []string{`value: "2"`},
		},
		"dependents of a variable": {
			in: deployment("", "", "",
				", args: ['--id=$(POD_UID)', '$$(POD_UID)'], env: [{name: POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}, "+
					"{name: ADDR, value: 'http://$(POD_UID):1'}, {name: NEXT, value: '$(ADDR)/x'}]"),
			lost: []string{
				"env[0].valueFrom.fieldRef", "env[1].value: refers to POD_UID", "env[2].value: refers to ADDR", "args[0]: refers to POD_UID",
			},
		},
		"ports of two containers": {
			in: strings.Replace(deployment("", "", ", initContainers: [{name: i, image: i, ports: [{name: http, containerPort: 8080}]}]",
				", ports: [{name: http, containerPort: 8080}, {name: m, containerPort: 1}]"), "}]}]",
				"}]}, {name: b, image: b, ports: [{name: m, containerPort: 2}, {containerPort: 8080}], "+
					"readinessProbe: {httpGet: {port: m}}}]", 1),
			out: []string{"name: tcp-8080", "- name: m\n              port: 2\n"},
		},
		"a request without a limit": {
			in:   deployment("", "", "", ", resources: {requests: {memory: 20Mi}}"),
			lost: []string{"containers: not every container has a limit of memory"}, out: []string{"memory: 20Mi"},
		},
		"larger than a type": {
			in:  deployment("", "", "", ", resources: {limits: {cpu: '2', memory: 4Gi}}"),
			out: []string{"requests:\n            cpu: \"2\"\n            memory: 4Gi"},
		},
		"a device": {
			in:   deployment("", "", "", ", resources: {limits: {nvidia.com/gpu: 1}, requests: {nvidia.com/gpu: 1}}"),
			lost: []string{"limits.nvidia.com/gpu: cells attach no devices"},
		},
		"rights of a container": {
			in: deployment("", "", "", ", securityContext: {runAsUser: 0, capabilities: {add: [NET_ADMIN, CAP_MKNOD, net_bind_service]}}"),
			lost: []string{
				"add[0]: no cell gives NET_ADMIN to a container", "add[1]: containers have MKNOD only where the operator",
				"add[2]: containers keep NET_BIND_SERVICE anyway",
			},
		},
		"an init container that changes owners": {
			in: deployment("", "", ", initContainers: [{name: i, image: 'registry.example.com/i:1', securityContext: {runAsUser: 0}}]", ""),
		},
		"files of the service account": {
			in:   deployment("", "", "", ", args: [--token=/var/run/secrets/kubernetes.io/serviceaccount/token]"),
			lost: []string{"args[0] of container web names /run/secrets/kubernetes.io/serviceaccount, which no Instance has"},
		},
		"hosts in data": {
			in: "{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, data: {DB_HOST: db, APP_NAME: db, app.toml: 'title = \"db\"'}}\n---\n" +
				"{apiVersion: v1, kind: Secret, metadata: {name: conf}, data: {url: " +
				"cG9zdGdyZXM6Ly91OnBAZGI6NTQzMi94}, stringData: {other: 'http://db'}}\n---\n" +
				"{apiVersion: v1, kind: Service, metadata: {name: db}}\n---\n" +
				deployment("", "", "", ", envFrom: [{configMapRef: {name: conf}}, {secretRef: {name: conf}}]"),
			lost: []string{
				"Service db: is not converted", "ConfigMap conf: data[DB_HOST]: names Service db", "Secret conf: data[url]: names Service db",
				"Secret conf: stringData[other]: names Service db",
			},
		},
		"a parameter of the kernel": {
			in:   deployment("", "", ", securityContext: {sysctls: [{name: net.ipv4.ip_unprivileged_port_start, value: '0'}]}", ""),
			lost: []string{"sysctls[0]: net.ipv4.ip_unprivileged_port_start: a program of another user than root"},
		},
		"a name with dots": {
			in: deployment("", "", "", "")[:0] + strings.Replace(deployment("", "", "", ""), "name: web",
				"name: api.v1.example.com", 1), lost: []string{
				"it is api-v1-example-com here",
			},
		},
		"metadata of other tools": {
			in: deployment(", labels: {team: a, app.kubernetes.io/managed-by: Helm, kustomize.toolkit.fluxcd.io/name: apps}, "+
				"annotations: {note: x, "+
				"kubectl.kubernetes.io/last-applied-configuration: '{}', argocd.argoproj.io/tracking-id: web}", "", "", ""),
			lost: []string{"managed-by", "kustomize.toolkit.fluxcd.io/name", "argocd.argoproj.io/tracking-id"}, out: []string{"note: x", "team: a"},
		},
		"unknown fields": {
			in:   strings.Replace(deployment("", ", replica: 2", "", ", nome: a"), "}}}}", "}}}, status: {newCounter: 3}}", 1),
			lost: []string{`unknown field "spec.replica"`, `unknown field "spec.template.spec.containers[0].nome"`},
		},
		"a StatefulSet": {
			in:   strings.Replace(deployment("", ", serviceName: db, minReadySeconds: 900", "", ""), "kind: Deployment", "kind: StatefulSet", 1),
			lost: []string{"Instances web-default-dfw-0", "spec.serviceName"},
			out:  []string{"minReadySeconds: 900", "progressDeadlineSeconds: 1500"},
		},
		"a budget and an autoscaler": {
			in: "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: {maxUnavailable: 1, selector: " +
				"{matchLabels: {app: web}}}}\n---\n" +
				"{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}, spec: {minReplicas: 2, " +
				"maxReplicas: 10, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, " +
				"metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]}}\n---\n" + deployment("", "",
				"", ", resources: {requests: {cpu: 200m}}"),
			lost: []string{
				"averageValue 140m is the same use", "not every container has a limit of cpu",
			}, out: []string{
				"disruption:\n    maxUnavailable: 1", "maxReplicas: 10", "averageUtilization: 70",
			},
		},
		"a budget whose Instances that are not Ready always leave": {
			in: "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: {maxUnavailable: 1, selector: " +
				"{matchLabels: {app: web}}, unhealthyPodEvictionPolicy: AlwaysAllow}}\n---\n" + deployment("", "", "", ""),
		},
		"a budget of others": {
			in: "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: {maxUnavailable: 1, selector: " +
				"{matchLabels: {app: other}}}}\n---\n" + deployment("", "", "", ""),
			lost: []string{"PodDisruptionBudget b: is not converted"},
		},
		"kinds that have no place": {
			in: "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}}\n---\n{apiVersion: batch/v1, kind: CronJob, " +
				"metadata: {name: c}}\n---\n" +
				"{apiVersion: v1, kind: Service, metadata: {name: db}}\n---\n" +
				deployment("", "", "", ", env: [{name: URL, value: 'http://db:80'}, {name: OTHER, value: dbx}]"),
			lost:     []string{"Service db: is not converted: it has no selector", "variable URL of container web names Service db"},
			problems: []string{"DaemonSet d is not converted: a DaemonSet runs on each node", "CronJob c is not converted"},
		},
		"twice": {
			in:   deployment("", ", replicas: 2", "", "") + "\n---\n" + deployment("", ", replicas: 3", "", ""),
			lost: []string{"in the input more than once"}, out: []string{"minReplicas: 3"},
		},
		"a startup longer than the default deadline": {
			in:  deployment("", "", "", ", startupProbe: {tcpSocket: {port: 80}, initialDelaySeconds: 60, failureThreshold: 90}"),
			out: []string{"progressDeadlineSeconds: 1560"},
		},
		"a startup longer than the deadline, after a sidecar": {
			in: deployment("", ", progressDeadlineSeconds: 300", ", initContainers: [{name: i, image: i, restartPolicy: Always, "+
				"startupProbe: {tcpSocket: {port: 80}, periodSeconds: 20, failureThreshold: 10}}]",
				", readinessProbe: {tcpSocket: {port: 80}, initialDelaySeconds: 100}"),
			lost: []string{"spec.progressDeadlineSeconds: is 900 here: an Instance may take 300 seconds"},
			out:  []string{"progressDeadlineSeconds: 900"},
		},
		"a startup within the deadline": {
			in:  deployment("", ", progressDeadlineSeconds: 301", "", ", startupProbe: {tcpSocket: {port: 80}, failureThreshold: 30}"),
			out: []string{"progressDeadlineSeconds: 301"},
		},
		"marks that ask for nothing": {
			in: strings.Replace(deployment(", annotations: {reloader.stakater.com/auto: 'false'}", "", "", ""), "labels: {app: web}}, spec",
				"labels: {app: web, sidecar.istio.io/inject: 'false'}, annotations: {linkerd.io/inject: disabled, vault.hashicorp.com/agent-inject: "+
					"'false', cluster-autoscaler.kubernetes.io/safe-to-evict: 'true', karpenter.sh/do-not-disrupt: 'false', "+
					"container.apparmor.security.beta.kubernetes.io/web: runtime/default}}, spec", 1),
		},
		"marks with consequences": {
			in: strings.Replace(deployment("", "", "", ", args: [--db=/creds/db]"), "labels: {app: web}}, spec",
				"labels: {app: web}, annotations: {vault.hashicorp.com/secret-volume-path: /creds, k8s.v1.cni.cncf.io/networks: a, "+
					"kubernetes.io/egress-bandwidth: 1M, container.apparmor.security.beta.kubernetes.io/web: localhost/a}}, spec", 1),
			lost: []string{
				"apparmor.security.beta.kubernetes.io/web]: cells set the profiles", "networks]: Instances have the networks of networkInterfaces",
				"bandwidth]: cells bound no bandwidth", "nothing is injected", "args[0] of container web names /creds, which nothing fills",
			},
		},
		"nothing left of the grace period": {
			in:   deployment("", "", "", ", lifecycle: {preStop: {exec: {command: [sh, -c, 'quit; sleep 30']}}}"),
			lost: []string{"lifecycle.preStop: nothing of the grace period of 30 seconds is left for SIGTERM"},
		},
		"a short sleep": {in: deployment("", "", "", ", lifecycle: {preStop: {exec: {command: [sleep, '5']}}}")},
		"pull secrets of the service account": {
			in: "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}, imagePullSecrets: [{name: mirror}]}\n---\n" +
				"{apiVersion: v1, kind: Secret, metadata: {name: mirror}}\n---\n" + deployment("", "", "", ""),
			lost: []string{"ServiceAccount default: is not converted"}, out: []string{"imagePullSecrets:\n          - name: mirror", "kind: Secret"},
		},
		"data of volumes that are dropped": {
			in: "{apiVersion: v1, kind: Secret, metadata: {name: nodes}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: files}}\n---\n" +
				deployment("", "", ", volumes: [{name: a, csi: {driver: d, nodePublishSecretRef: {name: nodes}}}, "+
					"{name: b, azureFile: {secretName: files, shareName: s}}]", ""),
			lost: []string{
				"volumes[0].csi", "volumes[1].azureFile", "Secret nodes: is left out with volume a of Deployment web",
				"Secret files: is left out with volume b of Deployment web",
			},
		},
		"the API server of a cell": {
			in:   deployment("", "", "", ", env: [{name: API, value: 'https://kubernetes.default.svc:443'}]"),
			lost: []string{"variable API of container web names the API server of the cell, where Instances have no identity"},
		},
		"data with a token's path": {
			in: "{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, data: {a.yaml: " +
				"'file: /var/run/secrets/kubernetes.io/serviceaccount/token'}}\n---\n" +
				deployment("", "", "", ", envFrom: [{configMapRef: {name: conf}}]"),
			lost: []string{"ConfigMap conf: data[a.yaml]: names /run/secrets/kubernetes.io/serviceaccount, which no Instance has"},
		},
		"a surge of its own that an autoscaler ends": {
			in: deployment("", ", strategy: {rollingUpdate: {maxSurge: 25%}}", "", ", resources: {limits: {cpu: 1, memory: 1Gi}}") +
				"\n---\n{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: h}, spec: {maxReplicas: 3, " +
				"targetCPUUtilizationPercentage: 50, scaleTargetRef: {kind: Deployment, name: web}}}",
			lost: []string{"spec.strategy.rollingUpdate.maxSurge: Instances that metrics scale have no additional"},
		},
		"a name of the cluster elsewhere": {
			in: "{apiVersion: v1, kind: Service, metadata: {name: db}, spec: {type: ExternalName, externalName: db.data.svc.cluster.local}}\n---\n" +
				deployment("", "", "", ", env: [{name: DB_HOST, value: db}]"),
			lost: []string{
				"Service db: is not converted: no cell has another name for db.data",
				"DB_HOST of container web names Service db, which no cell has",
			},
		},
		"the Service that a StatefulSet names": {
			in: strings.Replace(deployment("", ", serviceName: web-headless", "", ", env: [{name: SELF, value: '$(POD).web-headless'}, "+
				"{name: PEERS, value: 'http://web-headless:80'}]"), "kind: Deployment", "kind: StatefulSet", 1) +
				service("web", ", ports: [{port: 80}]"),
			lost: []string{
				"Instances web-default-dfw-0", "serviceName: Service web is not headless",
				"variable SELF of container web names Service web-headless, which no cell has; only with headless: true",
				"variable PEERS of container web names Service web-headless, which no cell has; write web, which has one address",
			},
		},
		"objects of the add-on": {
			in: "{apiVersion: compute.datumapis.com/v1alpha, kind: Workload, metadata: {name: w}}\n---\n" + deployment("", "", "", "") +
				"\n---\n{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}, " +
				"spec: {scaleTargetRef: {kind: Workload, name: w}}}",
			lost: []string{
				"HorizontalPodAutoscaler h: is not converted: set maxReplicas and metrics in the scaleSettings of Workload w",
				"Workload w: is not converted: it is one of the add-on already: apply it as it is",
			},
		},
		"a stream of JSON and Windows' line ends": {in: "\ufeff" + strings.ReplaceAll(
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`+"\n"+
				`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"spec":{"containers":[{"name":"a","image":"a","envFrom":[{"configMapRef":{"name":"c"}}]}]}}}}`,
			"\n", "\r\n")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			result, err := manifestsOf(c.in)
			if err != nil || len(result.Problems) != len(c.problems) {
				t.Fatal(err, result)
			}
			for i, want := range c.problems {
				if got := result.Problems[i].Error(); !strings.Contains(got, want) {
					t.Errorf("error %q, want %q", got, want)
				}
			}
			checkKind(t, result, c.lost, c.out)
			again, err := manifestsOf(c.in)
			if err != nil || printed(t, again) != printed(t, result) {
				t.Errorf("the same input gives another output: %v", err)
			}
		})
	}
}

func checkKind(t *testing.T, result *Result, lost, out []string) {
	t.Helper()
	var lines []string
	for _, loss := range result.Losses {
		lines = append(lines, loss.String())
	}
	for i, line := range lines {
		if i >= len(lost) || !strings.Contains(line, lost[i]) {
			t.Errorf("lost: %s", line)
		}
	}
	if len(lines) < len(lost) {
		t.Errorf("%d lines, want %q", len(lines), lost)
	}
	text := printed(t, result)
	for _, want := range out {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for _, object := range result.Objects {
		if workload, ok := object.(*v1alpha.Workload); ok {
			if problems := validation.Workload(workload, nil); len(problems) > 0 {
				t.Errorf("admission refuses the Workload: %v", problems)
			}
		}
	}
}

func printed(t *testing.T, result *Result) string {
	t.Helper()
	var out strings.Builder
	if err := result.Print(&out, "yaml"); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
