// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import "strings"

// remedy is a line that names a remedy, and the edit of the file that applies it: the line is listed before, and not after. from is
// replaced by to; "" adds to at the end.
type remedy struct{ line, in, from, to string }

// object is an object of a kind in a version, with more of its fields.
func object(version, kind, fields string) string {
	return "\n---\n{apiVersion: " + version + ", kind: " + kind + ", metadata: {name: web}" + fields + "}"
}

// configMap is the ConfigMap conf with one key.
func configMap(key, value string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, data: {" + key + ": '" + value + "'}}\n---\n"
}

func remedies() []remedy {
	plain := deployment("", "", "", "")
	pod := func(fields string) string { return deployment("", "", fields, "") }
	container := func(fields string) string { return deployment("", "", "", fields) }
	stateful := func(fields string) string {
		return strings.Replace(deployment("", fields, "", ""), "kind: Deployment", "kind: StatefulSet", 1)
	}
	both := plain + "\n---\n" + strings.Replace(plain, "name: web", "name: green", 1)
	budget := object("policy/v1", "PodDisruptionBudget", ", spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}")
	scaler := func(spec string) string {
		return object("autoscaling/v2", "HorizontalPodAutoscaler",
			", spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: web}"+spec+"}")
	}
	metric := func(fields string) string { return scaler(", metrics: [{" + fields + "}]") }
	const cpu = "type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}"
	sized := container(", resources: {limits: {cpu: 1, memory: 1Gi}}")
	volume := func(source string) string {
		return deployment("", "", ", volumes: [{name: v, "+source+"}]", ", volumeMounts: [{name: v, mountPath: /v}]")
	}
	mark := func(key, value string) string {
		return strings.Replace(plain, "labels: {app: web}}, spec", "labels: {app: web}, annotations: {"+key+": '"+value+"'}}, spec", 1)
	}
	named := plain + service("web", onePort)
	first := rule("example.com", "/", "web", "{number: 80}")
	gone := func(kind, version string) remedy {
		return remedy{kind + " web: ", plain + object(version, kind, ""), object(version, kind, ""), ""}
	}
	// instead is the remedy of a kind that runs Pods: its Pods are in a Deployment.
	more := func(text string) string { return strings.Replace(text, "name: web", "name: more", 1) }
	instead := func(line, version, kind, spec string) remedy {
		from := more(object(version, kind, spec))
		return remedy{line, plain + from, from, "\n---\n" + more(plain)}
	}
	const template = ", spec: {template: {spec: {containers: [{name: a, image: a}]}}}"
	return []remedy{
		// Names.
		{
			"write db.example.com",
			container(", env: [{name: URL, value: 'http://db'}]") +
				strings.Replace(object("v1", "Service", ", spec: {type: ExternalName, externalName: db.example.com}"), "name: web", "name: db", 1),
			"http://db",
			"http://db.example.com",
		},
		{
			"another name in a cell; write web",
			container(", env: [{name: URL, value: 'http://web.default.svc'}]") + service("web", onePort),
			"http://web.default.svc",
			"http://web",
		},
		{
			"names Service web-svc, which no cell has; write web",
			container(", args: ['http://web-svc']") + service("web-svc", onePort),
			"http://web-svc",
			"http://web",
		},
		{"write the addresses where a program names", plain + object("v1", "Service", ""), object("v1", "Service", ""), ""},
		{
			"no Instance has; write web",
			container(", args: ['$(WEB_SVC_SERVICE_HOST)']") + service("web-svc", onePort),
			"$(WEB_SVC_SERVICE_HOST)",
			"web",
		},
		{
			"smtp.internal, which no Instance knows; write 10.1.2.3",
			deployment("", "", ", hostAliases: [{ip: 10.1.2.3, hostnames: [smtp.internal]}]", ", args: [--smtp=smtp.internal]"),
			"--smtp=smtp.internal",
			"--smtp=10.1.2.3",
		},
		{
			"write the address where a program names the host",
			pod(", hostAliases: [{ip: 10.1.2.3, hostnames: [a]}]"),
			", hostAliases: [{ip: 10.1.2.3, hostnames: [a]}]",
			"",
		},
		{
			"write it where a program names the Service",
			plain + object("v1", "Service", ", spec: {type: ExternalName, externalName: db.example.com}"),
			object("v1", "Service", ", spec: {type: ExternalName, externalName: db.example.com}"),
			"",
		},
		{"write full names", pod(", dnsConfig: {searches: [example.com]}"), ", dnsConfig: {searches: [example.com]}", ""},
		{
			"refers to the value that A has",
			container(", env: [{name: A, value: b}, {name: B, value: '$(A)'}, {name: A, value: c}]"),
			"'$(A)'",
			"b",
		},
		// Namespaces and data.
		{
			"Namespace prod: must be",
			deployment(", namespace: prod", "", "", ""),
			"",
			"\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: prod, labels: {compute.datumapis.com/project: 'true'}}}",
		},
		{
			"--project-namespace moves both",
			strings.ReplaceAll(container(", env: [{name: URL, value: 'http://api.back'}]"), "name: web}", "name: web, namespace: front}") +
				"\n---\n{apiVersion: v1, kind: Service, metadata: {name: api, namespace: back}, " +
				"spec: {selector: {app: api}}}\n---\n" +
				strings.ReplaceAll(strings.ReplaceAll(plain, "web", "api"), "name: api}", "name: api, namespace: back}"),
			"http://api.back",
			"http://api.example.com",
		},
		{"name a ConfigMap of your own", container(", envFrom: [{configMapRef: {name: kube-root-ca.crt}}]"), "kube-root-ca.crt", "own"},
		{"create it in the project", container(", envFrom: [{configMapRef: {name: conf}}]"), "", "\n---\n" + configMap("A", "b")},
		{
			"name its namespace in --namespace",
			configMap("A", "b") + deployment(", namespace: prod", "", "", ", envFrom: [{configMapRef: {name: conf}}]"),
			"{name: conf}, data",
			"{name: conf, namespace: prod}, data",
		},
		{
			"create Secret web in the project",
			plain + object("bitnami.com/v1alpha1", "SealedSecret", ""),
			object("bitnami.com/v1alpha1", "SealedSecret", ""),
			"",
		},
		// Services and what leads to them.
		{"set spec.service of each", both + service("web", onePort), service("web", onePort), ""},
		{
			"add port 90 to its spec.service.ports",
			named + service("more", ", ports: [{port: 90}]"),
			"appProtocol: http}",
			"appProtocol: http}, {name: more, port: 90}",
		},
		{
			"spec.serviceName: set spec.service with headless: true",
			stateful(", serviceName: web"),
			"",
			service("web", ", clusterIP: None, ports: [{port: 80}]"),
		},
		{
			"only with headless: true in spec.service",
			stateful(", serviceName: names") + service("names", ", clusterIP: None") + service("web", ", ports: [{port: 80}]"),
			", ports:",
			", clusterIP: None, ports:",
		},
		{"with headless: true in spec.service an Instance is named", pod(", subdomain: web"), ", subdomain: web", ""},
		{"type LoadBalancer, or an Ingress for its name", named[:len(named)-2] + ", type: NodePort}}", "", ingress(first)},
		{
			"keep sessions in a store",
			plain + service("web", onePort+", sessionAffinity: ClientIP"),
			", sessionAffinity: ClientIP",
			"",
		},
		{
			"by names without wildcards; set exposure",
			named + ingress(rule("", "/", "web", "{number: 80}")),
			"{host: ''",
			"{host: example.com",
		},
		{
			"give each path a name of its own",
			named + ingress(rule("example.com", "/api", "web", "{number: 80}")),
			"path: /api",
			"path: /",
		},
		{
			"give each Service a name of its own",
			named + ingress(first, rule("example.com", "/", "b", "{number: 80}")),
			rule("example.com", "/", "b", "{number: 80}"),
			rule("b.example.com", "/", "b", "{number: 80}"),
		},
		{
			"or set headless: false and exposure: Gateway",
			plain + service("web", ", clusterIP: None, ports: [{port: 80}]") + ingress(first),
			", clusterIP: None",
			"",
		},
		gone("Gateway", "gateway.networking.k8s.io/v1"),
		gone("TCPRoute", "gateway.networking.k8s.io/v1"),
		gone("GRPCRoute", "gateway.networking.k8s.io/v1"),
		gone("Kustomization", "kustomize.config.k8s.io/v1beta1"),
		gone("Workload", "compute.datumapis.com/v1alpha"),
		// Budgets and scaling.
		{
			"set spec.disruption of each Workload",
			strings.Replace(both, "labels: {app: web}}, spec", "labels: {app: web, color: blue}}, spec", 1) + budget,
			"matchLabels: {app: web}}}",
			"matchLabels: {color: blue}}}",
		},
		{
			"set maxReplicas and metrics in the scaleSettings",
			sized + strings.Replace(scaler(""), "kind: Deployment", "kind: Workload", 1),
			"kind: Workload",
			"kind: Deployment",
		},
		{
			"set maxReplicas and metrics of the Workload",
			deployment("", ", replicas: 0", "", "") + metric(cpu),
			"replicas: 0",
			"replicas: 1",
		},
		{
			"write apiVersion autoscaling/v2",
			sized + strings.Replace(metric(cpu), "autoscaling/v2", "autoscaling/v2beta1", 1),
			"autoscaling/v2beta1",
			"autoscaling/v2",
		},
		{"spec.minReplicas: at least one", sized + scaler(", minReplicas: 0"), "minReplicas: 0", "minReplicas: 1"},
		{
			"a metric of type Resource has it",
			sized +
				metric("type: ContainerResource, containerResource: {name: cpu, container: web, "+
					"target: {type: Utilization, averageUtilization: 50}}"),
			"type: ContainerResource, containerResource: {name: cpu, container: web",
			"type: Resource, resource: {name: cpu",
		},
		{
			"averageValue 200m is the same use",
			container(", resources: {requests: {cpu: 250m}, limits: {cpu: 1, memory: 1Gi}}") +
				strings.Replace(metric(cpu), "averageUtilization: 50", "averageUtilization: 80", 1),
			"type: Utilization, averageUtilization: 80",
			"type: AverageValue, averageValue: 200m",
		},
		// Kinds.
		instead("put it into a Deployment", "v1", "Pod", ""),
		instead("write it as a Deployment", "v1", "ReplicationController", ""),
		instead("convert its Deployment", "apps/v1", "ReplicaSet", ""),
		instead("spec.rollout of a Workload has the steps", "argoproj.io/v1alpha1", "Rollout", ""),
		instead("it runs Pods by a controller of example.com/v1; write it", "example.com/v1", "Fleet", template),
		instead("write apiVersion apps/v1", "extensions/v1beta1", "Deployment", template),
		{
			"run it by other means, before you apply",
			plain + "\n---\n{apiVersion: batch/v1, kind: Job, metadata: {name: j, annotations: {helm.sh/hook: pre-install}}}",
			"\n---\n{apiVersion: batch/v1, kind: Job, metadata: {name: j, annotations: {helm.sh/hook: pre-install}}}",
			"",
		},
		{"render the chart first", plain + "\n---\nname: {{ .Values.name }}\n", "\n---\nname: {{ .Values.name }}\n", ""},
		{"put it in quotes", container(", env: [{name: A, value: 1}]"), "value: 1", "value: '1'"},
		{"remove the quotes", deployment("", ", replicas: '1'", "", ""), "'1'", "1"},
		// Containers.
		{
			"choose such a port",
			pod(", securityContext: {sysctls: [{name: net.ipv4.ip_unprivileged_port_start, value: '0'}]}"),
			", securityContext: {sysctls: [{name: net.ipv4.ip_unprivileged_port_start, value: '0'}]}",
			"",
		},
		{
			"choose a shorter sleep",
			container(", lifecycle: {preStop: {exec: {command: [sh, -c, sleep 30]}}}"),
			"sleep 30",
			"sleep 20",
		},
		{
			"or a terminationGracePeriodSeconds up to 600",
			deployment("", "", ", terminationGracePeriodSeconds: 30", ", lifecycle: {preStop: {sleep: {seconds: 30}}}"),
			"PeriodSeconds: 30",
			"PeriodSeconds: 60",
		},
		{
			"spec.progressDeadlineSeconds: is 1500 here",
			deployment("", ", progressDeadlineSeconds: 300", "", ", startupProbe: {tcpSocket: {port: 80}, periodSeconds: 10, failureThreshold: 90}"),
			"Seconds: 300",
			"Seconds: 901",
		},
		{
			"maxUnavailable: an Instance is replaced",
			deployment("", ", strategy: {rollingUpdate: {maxUnavailable: 0}}", "", ""),
			"able: 0",
			"able: 1",
		},
		{"name a digest", container(", imagePullPolicy: Always"), "web:1'", "web:latest'"},
		{
			"remove it, or change it",
			pod(", initContainers: [{name: i, image: i, securityContext: {privileged: true}}]"),
			"privileged: true",
			"privileged: false",
		},
		{
			"or set spec.template.spec.runtime.resources.requests",
			container(", resources: {requests: {cpu: 1}}"),
			"requests",
			"limits",
		},
		{"name a Secret of the project", mark("vault.hashicorp.com/role", "web"), "vault.hashicorp.com/role", "role"},
		{"put it into the image", mark("sidecar.opentelemetry.io/inject", "true"), "'true'", "'false'"},
		{"no proxy is injected", mark("linkerd.io/inject", "enabled"), "enabled", "disabled"},
		{"spec.disruption bounds how many", mark("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"), "'false'", "'true'"},
		{"spec.rollout.onDataChange", mark("reloader.stakater.com/auto", "true"), "'true'", "'false'"},
		{"choose cities in spec.placements", pod(", nodeName: a"), ", nodeName: a", ""},
		{"name a class of the platform", pod(", runtimeClassName: gvisor"), ", runtimeClassName: gvisor", ""},
		{"use a readiness probe", pod(", readinessGates: [{conditionType: a}]"), ", readinessGates: [{conditionType: a}]", ""},
		{"set the size of the Instance", pod(", resources: {limits: {cpu: 1}}"), ", resources: {limits: {cpu: 1}}", ""},
		{
			"use fsGroup for files of volumes",
			pod(", securityContext: {supplementalGroups: [1]}"),
			"supplementalGroups: [1]",
			"fsGroup: 1",
		},
		{
			"set STOPSIGNAL in the image, or use preStop",
			container(", lifecycle: {stopSignal: SIGINT}"),
			"stopSignal: SIGINT",
			"preStop: {exec: {command: [quit]}}",
		},
		{
			"for a virtual host set the header Host",
			container(", readinessProbe: {httpGet: {port: 80, host: a}}"),
			"host: a",
			"httpHeaders: [{name: Host, value: a}]",
		},
		{
			"for one folder use subPath",
			deployment("", "", ", volumes: [{name: v, emptyDir: {}}]", ", volumeMounts: [{name: v, mountPath: /v, subPathExpr: $(A)}]"),
			"subPathExpr: $(A)",
			"subPath: a",
		},
		{
			"make it a volume of its own",
			volume("projected: {sources: [{secret: {name: s}}]}"),
			"projected: {sources: [{secret: {name: s}}]}",
			"secret: {secretName: s}",
		},
		{
			"use variables with fieldRef",
			volume("downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}"),
			"downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}",
			"emptyDir: {}",
		},
		{
			"put the certificates into a ConfigMap",
			volume("projected: {sources: [{clusterTrustBundle: {name: b, path: a}}]}"),
			"projected: {sources: [{clusterTrustBundle: {name: b, path: a}}]}",
			"configMap: {name: b}",
		},
		{
			"supported are metadata.name",
			container(", env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}]"),
			"metadata.uid",
			"metadata.name",
		},
	}
}
