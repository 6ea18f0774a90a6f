// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/karmada-compute/karmada-compute/charts"
)

// An optionCase sets an option, and has the result of a query in an object that must follow from it, and that the
// default must not have.
type optionCase struct {
	option string
	value  any
	object string
	query  string
	want   string
	// with are further values, also for the comparison with the default.
	with set
}

const (
	host       = "Deployment/karmada-compute"
	serve      = "Deployment/karmada-compute-webhook"
	agent      = "Deployment/karmada-compute-cell"
	account    = "ServiceAccount/karmada-compute"
	podMonitor = "PodMonitor/karmada-compute"
	alerts     = "PrometheusRule/karmada-compute"
	overview   = "ConfigMap/karmada-compute-dashboard-service"
	service    = "Service/karmada-compute-webhook"
	policy     = "ClusterPropagationPolicy/karmada-compute-cell"
	limits     = "ValidatingAdmissionPolicy/karmada-compute"
	pod        = "{.spec.template.spec}"
	args       = "{.spec.template.spec.containers[0].args}"
	container  = "{.spec.template.spec.containers[0]}"
	volumes    = "{.spec.template.spec.volumes}"
	certs      = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"
)

var (
	scraped = set{"monitoring.podMonitor.enabled": true}
	shown   = set{"monitoring.dashboards.enabled": true}
	// separate has Pods that serve webhooks only.
	separate = set{"host.separateWebhooks": true}
)

// other is a map of strings, as labels and annotations are.
var other = map[string]any{"example.com/team": "compute"}

// cases by part.
var cases = map[string][]optionCase{
	"host": slices.Concat(hostCases, webhookCases, accessCases, sessionHostCases),
	"hub":  slices.Concat(hubCases, agentCases, sessionHubCases),
	"milo": miloCases,
}

func TestOptions(t *testing.T) {
	for part, enabled := range parts {
		// Rendering takes most of the time, and many options have the same others.
		without := map[string][]*unstructured.Unstructured{}
		for _, c := range cases[part] {
			others := fmt.Sprint(c.with)
			if without[others] == nil {
				without[others] = renderFast(t, enabled, c.with)
			}
			t.Run(fmt.Sprintf("%s/%s=%v", part, c.option, c.value), func(t *testing.T) {
				if got := query(t, renderFast(t, enabled, c.with, set{c.option: c.value}), c.object, c.query); !strings.Contains(got, c.want) {
					t.Errorf("%s has %s without %s", c.object, got, c.want)
				}
				if got := query(t, without[others], c.object, c.query); strings.Contains(got, c.want) {
					t.Errorf("%s has %s with the default, too: %s", c.object, c.want, got)
				}
			})
		}
	}
}

// TestEveryOptionHasCases: there is a case for every option of values.yaml, and for no other.
func TestEveryOptionHasCases(t *testing.T) {
	options, _, err := charts.Options()
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for _, c := range slices.Concat(cases["host"], cases["hub"], cases["milo"]) {
		tested[c.option] = true
	}
	for _, option := range options {
		if !tested[option.Key] {
			t.Errorf("%s is not tested", option.Key)
		}
		delete(tested, option.Key)
		if option.Comment == "" {
			t.Errorf("%s has no comment", option.Key)
		}
	}
	for key := range tested {
		t.Errorf("%s is tested but not in values.yaml", key)
	}
}

var hostCases = []optionCase{
	{
		option: "image.registry", value: "registry.example:5000",
		object: host, query: container, want: `"registry.example:5000/karmada-compute/karmada-compute:`,
	},
	{option: "image.repository", value: "mine/compute", object: host, query: container, want: `"image":"ghcr.io/mine/compute:`},
	{option: "image.tag", value: "v9", object: host, query: container, want: `"image":"ghcr.io/karmada-compute/karmada-compute:v9"`},
	{
		option: "image.digest", value: "sha256:" + strings.Repeat("ab", 32),
		object: host, query: container, want: `"image":"ghcr.io/karmada-compute/karmada-compute@sha256:abab`,
	},
	{option: "image.pullPolicy", value: "Always", object: host, query: container, want: `"imagePullPolicy":"Always"`},
	{option: "imagePullSecrets", value: pullSecret, object: host, query: "{.spec.template.spec.imagePullSecrets[*].name}", want: "mine"},
	{option: "commonLabels", value: other, object: service, query: "{.metadata.labels}", want: "example.com/team"},
	{option: "commonLabels", value: other, object: host, query: "{.spec.template.metadata.labels}", want: "example.com/team"},
	{option: "commonAnnotations", value: other, object: service, query: "{.metadata.annotations}", want: "example.com/team"},
	{option: "logging.verbosity", value: 4, object: host, query: args, want: `"-v=4"`},
	{option: "logging.format", value: "json", object: host, query: args, want: `"--logging-format=json"`},
	{option: "profiling", value: true, object: host, query: args, want: `"--profiling=true"`},
	{option: "controllers.select", value: []any{"*", "-projection"}, object: host, query: args, want: `"--controllers=*,-projection"`},
	{option: "controllers.concurrency", value: 3, object: host, query: args, want: `"--concurrency=3"`},
	{option: "controllers.projectConcurrency", value: 3, object: host, query: args, want: `"--project-concurrency=3"`},
	{option: "controllers.shards", value: 3, object: host, query: args, want: `"--shards=3"`},
	{option: "controllers.leaseDuration", value: "1m30s", object: host, query: args, want: `"--lease-duration=1m30s"`},
	{option: "controllers.holdCities", value: true, object: host, query: args, want: `"--hold-cities=true"`},
	{option: "controllers.cellFailoverAfter", value: "0s", object: host, query: args, want: `"--cell-failover-after=0s"`},
	{option: "projects.idleAfter", value: "0s", object: host, query: args, want: `"--project-idle-after=0s"`},
	{option: "projects.mode", value: "namespaces", object: host, query: args, want: `"--projects=namespaces"`},
	{option: "projects.sweep", value: "24h", object: host, query: args, want: `"--project-sweep=24h"`},
	{option: "defaultInstanceType", value: "small", object: host, query: args, want: `"--default-instance-type=small"`},
	{option: "limits.templateBytes", value: 1048576, object: host, query: args, want: `"--max-template-bytes=1048576"`},
	{option: "limits.cityBytes", value: 134217728, object: host, query: args, want: `"--max-city-bytes=134217728"`},
	{option: "limits.projectInstances", value: 0, object: host, query: args, want: `"--max-project-instances=0"`},
	{option: "limits.projectBytes", value: 0, object: host, query: args, want: `"--max-project-bytes=0"`},
	{option: "limits.projectDataBytes", value: 0, object: host, query: args, want: `"--max-project-data-bytes=0"`},
	{
		option: "names.pattern", value: "{workload}.{project}.apps.example.com", object: host, query: args,
		want: `"--names-pattern={workload}.{project}.apps.example.com"`,
	},
	{
		option: "names.domains", value: map[string]any{"shop": []any{"shop.example", "shop.test"}}, object: host, query: args,
		want: `"--names-domain=shop=shop.example","--names-domain=shop=shop.test"`,
	},
	{option: "names.ttl", value: "1m", object: host, query: args, want: `"--names-ttl=1m"`},
	{option: "names.returnAfter", value: "1m", object: host, query: args, want: `"--names-return-after=1m"`},
	{option: "names.panicThreshold", value: 70, object: host, query: args, want: `"--names-panic-threshold=70"`},
	{option: "names.resolver", value: "10.0.0.53:53", object: host, query: args, want: `"--names-resolver=10.0.0.53:53"`},
	{
		option: "names.properties", value: map[string]any{"*": map[string]any{"aws/weight": "100"}}, object: host, query: args,
		want: `"--names-property=*:aws/weight=100"`,
	},
	{option: "controllers.quota.enabled", value: true, object: host, query: args, want: `"--quota"`},
	{
		option: "controllers.quota.projectSelector", value: "quota=yes", with: set{"controllers.quota.enabled": true},
		object: host, query: args, want: `"--quota-projects=quota=yes"`,
	},
	{option: "monitoring.podMonitor.enabled", value: true, object: podMonitor, query: "{.spec.podMetricsEndpoints[0].scheme}", want: "https"},
	{
		option: "monitoring.podMonitor.labels", value: other, with: scraped,
		object: podMonitor, query: "{.metadata.labels}", want: `"example.com/team":"compute"`,
	},
	{option: "monitoring.podMonitor.interval", value: "15s", with: scraped, object: podMonitor, query: "{.spec}", want: `"interval":"15s"`},
	{
		option: "monitoring.podMonitor.tlsConfig", value: map[string]any{
			"keySecret": map[string]any{"name": "mine", "key": "tls.key"},
		}, with: scraped,
		object: podMonitor, query: "{.spec.podMetricsEndpoints[0].tlsConfig}", want: `"keySecret":{"key":"tls.key","name":"mine"}`,
	},
	{
		option: "monitoring.podMonitor.authorization", value: map[string]any{
			"credentials": map[string]any{"name": "mine", "key": "token"},
		}, with: scraped,
		object: podMonitor, query: "{.spec.podMetricsEndpoints[0].authorization}", want: `"credentials":{"key":"token","name":"mine"}`,
	},
	{
		option: "monitoring.dashboards.enabled", value: true,
		object: overview, query: "{.data}", want: `karmada_compute_workload_ready_seconds_bucket`,
	},
	{option: "monitoring.dashboards.enabled", value: true, object: overview, query: "{.metadata.labels}", want: `"grafana_dashboard":"1"`},
	{
		option: "monitoring.dashboards.labels", value: other, with: shown,
		object: overview, query: "{.metadata.labels}", want: `"example.com/team":"compute"`,
	},
	{
		option: "monitoring.dashboards.annotations", value: other, with: shown,
		object: overview, query: "{.metadata.annotations}", want: `"example.com/team":"compute"`,
	},
	{
		option: "monitoring.rules.enabled", value: true, object: alerts, query: "{.spec.groups[*].rules[*].alert}",
		want: "KarmadaComputeShardsNotOwned",
	},
	{
		option: "monitoring.rules.labels", value: other, with: set{"monitoring.rules.enabled": true},
		object: alerts, query: "{.metadata.labels}", want: `"example.com/team":"compute"`,
	},
	{option: "host.enabled", value: false, object: host, query: pod, want: none},
	{option: "host.replicas", value: 3, object: host, query: "{.spec.replicas}", want: "3"},
	{option: "host.separateWebhooks", value: true, object: host, query: args, want: `"--webhooks="`},
	{option: "host.separateWebhooks", value: true, object: serve, query: args, want: `"--controllers=-*"`},
	{
		option: "host.separateWebhooks", value: true,
		object: "PodDisruptionBudget/karmada-compute-webhook", query: "{.spec.selector.matchLabels}", want: `"webhook"`,
	},
	{option: "host.bindAddress", value: "$(POD_IP)", object: host, query: args, want: `"--webhook-bind-address=$(POD_IP)"`},
	{option: "host.bindAddress", value: "$(POD_IP)", object: host, query: args, want: `"--metrics-bind-address=$(POD_IP):8080"`},
	{option: "host.bindAddress", value: "$(POD_IP)", object: host, query: args, want: `"--health-probe-bind-address=$(POD_IP):8081"`},
	{option: "host.extraArgs", value: []any{"--shards=5"}, object: host, query: args, want: `"--shards=5"]`},
	{
		option: "host.extraEnv", value: []any{map[string]any{"name": "GOGC", "value": "50"}},
		object: host, query: container, want: `{"name":"GOGC","value":"50"}`,
	},
	{option: "host.podLabels", value: other, object: host, query: "{.spec.template.metadata.labels}", want: "example.com/team"},
	{option: "host.podAnnotations", value: other, object: host, query: "{.spec.template.metadata.annotations}", want: "example.com/team"},
	{option: "host.annotations", value: other, object: host, query: "{.metadata.annotations}", want: "example.com/team"},
	{option: "host.resources", value: map[string]any{"limits": map[string]any{"cpu": "2"}}, object: host, query: container, want: `"cpu":"2"`},
	{option: "host.nodeSelector", value: other, object: host, query: pod, want: `"nodeSelector":{"example.com/team":"compute"}`},
	{
		option: "host.tolerations", value: []any{map[string]any{"operator": "Exists"}},
		object: host, query: pod, want: `"tolerations":[{"operator":"Exists"}]`,
	},
	{
		option: "host.antiAffinity", value: "required",
		object: host, query: pod, want: `"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{`,
	},
	{
		option: "host.affinity", value: map[string]any{"nodeAffinity": map[string]any{}},
		object: host, query: "{.spec.template.spec.affinity}", want: `{"nodeAffinity":{}}`,
	},
	{
		option: "host.extraVolumes", value: []any{map[string]any{"name": "mine", "emptyDir": map[string]any{}}},
		object: host, query: volumes, want: `{"emptyDir":{},"name":"mine"}`,
	},
	{
		option: "host.extraVolumeMounts", value: []any{map[string]any{"name": "mine", "mountPath": "/mine"}},
		object: host, query: container, want: `{"mountPath":"/mine","name":"mine"}`,
	},
	{
		option: "host.podSecurityContext", value: map[string]any{"fsGroup": 7},
		object: host, query: "{.spec.template.spec.securityContext}", want: `"fsGroup":7,"runAsGroup":65532`,
	},
	{
		option: "host.securityContext", value: map[string]any{"runAsUser": 7},
		object: host, query: container, want: `"readOnlyRootFilesystem":true,"runAsUser":7`,
	},
	{
		option: "host.extraObjects", value: []any{map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "mine", "namespace": "{{ .Release.Namespace }}"},
		}},
		object: "ConfigMap/mine", query: "{.metadata.namespace}", want: "karmada-system",
	},
	{
		option: "host.topologySpreadConstraints",
		value:  []any{map[string]any{"topologyKey": "rack", "maxSkew": 2, "whenUnsatisfiable": "DoNotSchedule"}},
		object: host, query: pod, want: `"maxSkew":2,"topologyKey":"rack","whenUnsatisfiable":"DoNotSchedule"`,
	},
	{
		option: "host.topologySpreadConstraints", value: []any{}, object: host,
		query: "spread: {.spec.template.spec.topologySpreadConstraints}.", want: "spread: .",
	},
	{option: "host.priorityClassName", value: "mine", object: host, query: pod, want: `"priorityClassName":"mine"`},
	{option: "host.podDisruptionBudget.enabled", value: false, object: "PodDisruptionBudget/karmada-compute", query: "{.spec}", want: none},
	{
		option: "host.podDisruptionBudget.maxUnavailable", value: "50%",
		object: "PodDisruptionBudget/karmada-compute", query: "{.spec.maxUnavailable}", want: "50%",
	},
	{option: "host.networkPolicy.enabled", value: false, object: "NetworkPolicy/karmada-compute", query: "{.spec}", want: none},
	{
		option: "host.networkPolicy.webhookFrom", value: peers,
		object: "NetworkPolicy/karmada-compute", query: "{.spec.ingress}",
		want: `{"from":[{"ipBlock":{"cidr":"10.0.0.0/8"}}],"ports":[{"port":"webhook"}]}`,
	},
	{
		option: "host.networkPolicy.metricsFrom", value: peers,
		object: "NetworkPolicy/karmada-compute", query: "{.spec.ingress}",
		want: `{"from":[{"ipBlock":{"cidr":"10.0.0.0/8"}}],"ports":[{"port":"metrics"}]}`,
	},
	{
		option: "host.networkPolicy.egress", value: []any{map[string]any{"to": peers}},
		object: "NetworkPolicy/karmada-compute", query: "{.spec}", want: `"policyTypes":["Ingress","Egress"]`,
	},
	{option: "host.serviceAccount.create", value: false, object: account, query: "{.metadata.labels}", want: none},
	{option: "host.serviceAccount.name", value: "mine", object: host, query: pod, want: `"serviceAccountName":"mine"`},
	{option: "host.serviceAccount.webhookName", value: "mine", object: serve, query: pod, want: `"serviceAccountName":"mine"`, with: separate},
	{
		option: "host.serviceAccount.webhookName", value: "mine", object: "ServiceAccount/mine", query: "{.kind}",
		want: "ServiceAccount", with: separate,
	},
	{option: "host.serviceAccount.annotations", value: other, object: account, query: "{.metadata.annotations}", want: "example.com/team"},
	{option: "host.service.type", value: "LoadBalancer", object: service, query: "{.spec.type}", want: "LoadBalancer"},
	{option: "host.service.annotations", value: other, object: service, query: "{.metadata.annotations}", want: "example.com/team"},
	{
		option: "host.service.nodePort", value: 30443,
		object: service, query: "{.spec.ports[0].nodePort}", want: "30443",
		with: set{"host.service.type": "NodePort"},
	},
	{option: "host.metrics.enabled", value: false, object: host, query: args, want: `"--metrics-bind-address=0"`},
	{
		option: "featureGates", value: map[string]any{"NetworkAccessReview": false, "ReferencedDataAccessReview": true},
		object: host, query: args, want: `"--feature-gates=NetworkAccessReview=false,ReferencedDataAccessReview=true"`,
	},
}

var pullSecret = []any{map[string]any{"name": "mine"}}

var peers = []any{map[string]any{"ipBlock": map[string]any{"cidr": "10.0.0.0/8"}}}
