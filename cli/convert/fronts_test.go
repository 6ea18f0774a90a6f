// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"strings"
	"testing"
)

// service is a Service with this name and this spec, in YAML, of the Pods of the Deployment web.
func service(name, spec string) string {
	return "\n---\n{apiVersion: v1, kind: Service, metadata: {name: " + name + "}, spec: {selector: {app: web}" + spec + "}}"
}

// ingress is an Ingress with these rules.
func ingress(rules ...string) string {
	return "\n---\n{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {rules: [" +
		strings.Join(rules, ", ") + "]}}"
}

// rule is a rule of an Ingress for a host, a path, and a port of a Service.
func rule(host, path, name, port string) string {
	return "{host: '" + host + "', http: {paths: [{path: " + path + ", pathType: Prefix, backend: {service: {name: " + name +
		", port: " + port + "}}}]}}"
}

// route is an HTTPRoute with these rules.
func route(rules string) string {
	return "\n---\n{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web}, spec: {hostnames: [web.example.com], " +
		"parentRefs: [{name: public}], rules: [" + rules + "]}}"
}

const (
	onePort  = ", ports: [{name: http, port: 80, targetPort: 8080, protocol: TCP, appProtocol: http}]"
	twoPorts = ", ports: [{name: metrics, port: 9090}, {name: http, port: 80, targetPort: 8080}]"
	exposed  = "with exposure: Gateway they stand for the names of "
)

// TestFronts: what clients reach Pods by becomes spec.service, or is listed with the reason.
func TestFronts(t *testing.T) {
	web := deployment("", "", "", ", ports: [{name: http, containerPort: 8080}], env: [{name: URL, value: 'http://web-svc'}]")
	other := strings.ReplaceAll(deployment("", "", "", ""), "name: web", "name: other")
	stateful := strings.Replace(deployment("", ", serviceName: web", "", ""), "kind: Deployment", "kind: StatefulSet", 1)
	var nineRules []string
	for i := range 9 {
		nineRules = append(nineRules, rule(fmt.Sprintf("h%d.example.com", i), "/", "web", "{number: 80}"))
	}
	for name, c := range map[string]chart{
		"a Service with all that a Workload has": {out: []string{
			web + service("web", onePort+", publishNotReadyAddresses: true, sessionAffinity: None, internalTrafficPolicy: Cluster, type: ClusterIP"),
			"service:\n    ports:\n    - appProtocol: http\n      name: http\n      port: 80\n      protocol: TCP\n      targetPort: 8080\n" +
				"    publishNotReadyAddresses: true\n",
		}, never: []string{"Service web:"}},
		"another name": {out: []string{web + service("web-svc", onePort), "service:"}, lines: [][2]string{
			{"Service web-svc: metadata.name: ", "is web in each cell"},
			{"Deployment web: variable URL of container web names Service web-svc", "write web"},
		}},
		"a second Service, with another port": {
			out: []string{web + service("web-svc", ", ports: [{port: 9090}]") + service("web", onePort), "port: 80"},
			lines: [][2]string{
				{
					"Service web-svc: is not converted: a Workload has one Service, and Service web has become spec.service of Workload web",
					"add port 9090",
				},
				{"Deployment web: variable URL of container web names Service web-svc", "write web"},
			},
		},
		"a second Service, with another target": {
			out:   []string{web + service("hook", ", ports: [{port: 80, targetPort: 9090}]") + service("web", onePort), "targetPort: 8080"},
			lines: [][2]string{{"Service hook: is not converted: ", "port 80 leads to 8080 there, and not to 9090"}},
		},
		"the Service of the names of Pods": {
			out:   []string{stateful + service("web", ", clusterIP: None, ports: [{port: 80}]"), "headless: true"},
			never: []string{"serviceName", "Service web:"},
		},
		"an address for the Service of the names of Pods": {
			out: []string{stateful + service("web", onePort), "service:"}, never: []string{"serviceName"},
		},
		"an address beside the Service of the names of Pods": {
			out: []string{
				strings.Replace(stateful, "serviceName: web", "serviceName: names", 1) + service("names", ", clusterIP: None") +
					service("web", onePort),
				"service:",
			},
			lines: [][2]string{{"StatefulSet web: spec.serviceName: ", "not headless"}, {"Service names: ", "a Workload has one Service"}},
		},
		"two objects behind one Service": {
			out: []string{web + "\n---\n" + other + service("all", onePort), "kind: Workload"}, never: []string{"spec.service:"},
			lines: [][2]string{{"Service all: is not converted: ", "the Pods of web and other"}},
		},
		"no Pods": {
			out: []string{strings.ReplaceAll(web, "app: web", "app: x") + service("web-svc", onePort), "kind: Workload"},
			lines: [][2]string{
				{"Service web-svc: is not converted: ", "of no converted object"},
				{"Deployment web: variable URL", "which no cell has"},
			},
		},
		"another name of a host": {
			out: []string{web + service("web-svc", ", type: ExternalName, externalName: db.example.com"), "kind: Workload"},
			lines: [][2]string{
				{"Service web-svc: is not converted: ", "db.example.com; write it"},
				{"Deployment web: variable URL", "write db.example.com"},
			},
		},
		"a port of nodes, and sessions": {
			out:   []string{web + service("web", ", type: NodePort, ports: [{port: 80, nodePort: 30080}], sessionAffinity: ClientIP"), "service:"},
			lines: [][2]string{{"Service web: spec.type: ", "no node"}, {"Service web: spec.sessionAffinity: ", "any Instance"}},
		},
		"a load balancer for some addresses": {
			out: []string{
				web + service("web", onePort+", type: LoadBalancer, loadBalancerSourceRanges: [192.0.2.0/24], externalTrafficPolicy: Local"),
				"exposure: LoadBalancer", "cidr: 192.0.2.0/24\n            ports:\n            - port: 8080\n              protocol: TCP\n",
			},
			lines: [][2]string{
				{"Service web: spec.type: ", "an address in each city"},
				{"Service web: spec.loadBalancerSourceRanges: ", "networkPolicy"},
				{"Service web: spec.externalTrafficPolicy: ", ""},
			},
			never: []string{"0.0.0.0/0"},
		},
		"a load balancer with an annotation for some addresses": {
			out: []string{
				strings.Replace(web+service("web", onePort+", type: LoadBalancer"), "kind: Service, metadata: {",
					"kind: Service, metadata: {annotations: "+
						"{service.beta.kubernetes.io/load-balancer-source-ranges: '192.0.2.0/24, 198.51.100.0/24'}, ", 1),
				"cidr: 192.0.2.0/24\n            - ipBlock:\n                cidr: 198.51.100.0/24\n",
			},
			lines: [][2]string{{"Service web: spec.type: ", ""}, {"Service web: spec.loadBalancerSourceRanges: ", "networkPolicy"}},
			never: []string{"0.0.0.0/0", "annotations"},
		},
		"an Ingress for a port of nodes": {
			out: []string{
				web + service("web", onePort+", type: NodePort") + ingress(rule("example.com", "/", "web", "{number: 80}")), "exposure: Gateway",
			},
			never: []string{"Service web: spec.type"},
		},
		"an Ingress for two names and the second port": {
			out: []string{
				web + service("web", twoPorts) +
					ingress(rule("example.com", "/", "web", "{number: 80}"), rule("www.example.com", "/", "web", "{number: 80}")),
				"exposure: Gateway\n    hostnames:\n    - example.com\n    - www.example.com\n    ports:\n    - name: http\n",
			},
			lines: [][2]string{{"Workload web: spec.service.hostnames: ", exposed + "Ingress web"}},
		},
		"an Ingress for a path": {
			out:   []string{web + service("web", onePort) + ingress(rule("example.com", "/api", "web", "{name: http}")), "service:\n    ports:"},
			lines: [][2]string{{"Ingress web: is not converted: ", "all requests for its names"}},
		},
		"an Ingress for every name": {
			out:   []string{web + service("web", onePort) + ingress(rule("", "/", "web", "{name: http}")), "service:\n    ports:"},
			lines: [][2]string{{"Ingress web: is not converted: ", "by names without wildcards"}},
		},
		"an Ingress for two Services, one of which is elsewhere": {
			out: []string{
				web + service("web", onePort) +
					ingress(rule("b.example.com", "/", "b", "{number: 80}"), rule("a.example.com", "/", "web", "{number: 80}")),
				"exposure: Gateway\n    hostnames:\n    - a.example.com\n    ports:",
			},
			lines: [][2]string{
				{"Workload web: spec.service.hostnames: ", exposed + "Ingress web"},
				{"Ingress web: spec.rules[0].http.paths[0]: ", "Service b has become spec.service of no Workload"},
			},
			never: []string{"Ingress web: is not converted"},
		},
		"an Ingress for two Workloads": {
			out: []string{
				web + service("web", onePort) + "\n---\n" + strings.ReplaceAll(other, "app: web", "app: other") +
					strings.ReplaceAll(service("other", onePort), "app: web", "app: other") +
					ingress(rule("a.example.com", "/", "web", "{number: 80}"), rule("b.example.com", "/", "other", "{name: http}")),
				"hostnames:\n    - a.example.com\n    ports:", "hostnames:\n    - b.example.com\n    ports:",
			},
			lines: [][2]string{
				{"Workload web: spec.service.hostnames: ", exposed + "Ingress web"},
				{"Workload other: spec.service.hostnames: ", exposed + "Ingress web"},
			},
			never: []string{"Ingress web: "},
		},
		"an Ingress for two Services at one name and path": {
			out: []string{
				web + service("web", onePort) +
					ingress(rule("example.com", "/", "web", "{number: 80}"), rule("example.com", "/", "b", "{number: 80}")),
				"service:\n    ports:",
			},
			lines: [][2]string{{"Ingress web: is not converted: ", "a name leads to one Workload"}},
		},
		"an Ingress for all paths, some of another Service": {
			out: []string{
				web + service("web", onePort) +
					ingress(rule("example.com", "/api", "b", "{number: 80}"), rule("example.com", "/", "web", "{number: 80}"),
						rule("example.com", "/assets", "web", "{number: 80}"), rule("*.example.com", "/", "web", "{number: 80}")),
				"hostnames:\n    - example.com\n    ports:",
			},
			lines: [][2]string{
				{"Workload web: spec.service.hostnames: ", exposed + "Ingress web"},
				{"Ingress web: spec.rules[0].http.paths[0]: ", "all requests for its names as they are; give each path a name"},
				{"Ingress web: spec.rules[3].http.paths[0]: ", "names without wildcards"},
			},
			never: []string{"spec.rules[1]", "spec.rules[2]", "is not converted"},
		},
		"an Ingress for a pattern of all paths, and the rest of all names": {
			out: []string{
				web + service("web", onePort) + strings.Replace(ingress(rule("example.com", "/(.*)", "web", "{number: 80}")), "spec: {",
					"spec: {defaultBackend: {service: {name: web, port: {number: 80}}}, ", 1),
				"hostnames:\n    - example.com\n    ports:",
			},
			lines: [][2]string{
				{"Workload web: spec.service.hostnames: ", exposed + "Ingress web"},
				{"Ingress web: spec.defaultBackend: ", "names without wildcards"},
			},
		},
		"an Ingress for two ports": {
			out: []string{
				web + service("web", twoPorts) +
					ingress(rule("example.com", "/", "web", "{number: 80}"), rule("metrics.example.com", "/", "web", "{name: metrics}")),
				"hostnames:\n    - example.com\n    ports:\n    - name: http\n",
			},
			lines: [][2]string{
				{"Workload web: spec.service.hostnames: ", exposed + "Ingress web"},
				{"Ingress web: spec.rules[1].http.paths[0]: ", "exposed otherwise already"},
			},
		},
		"an Ingress for more names than a Workload has": {
			out: []string{web + service("web", onePort) + ingress(nineRules...), "- h7.example.com\n    ports:"},
			lines: [][2]string{
				{"Workload web: spec.service.hostnames: ", exposed + "Ingress web"},
				{"Ingress web: spec.rules[8].http.paths[0]: ", "Workload web has 8 names already"},
			},
		},
		"two objects for one name": {
			out: []string{
				web + service("web", onePort) + "\n---\n" + strings.ReplaceAll(other, "app: web", "app: other") +
					strings.ReplaceAll(service("other", onePort), "app: web", "app: other") +
					ingress(rule("web.example.com", "/", "other", "{number: 80}")) + route("{backendRefs: [{name: web, port: 80}]}"),
				"hostnames:\n    - web.example.com\n",
			},
			lines: [][2]string{
				{"Workload other: spec.service.hostnames: ", exposed + "Ingress web"},
				{"HTTPRoute web: is not converted: ", "Workload other has web.example.com"},
			},
		},
		"an Ingress for a Service that is elsewhere": {
			out:   []string{web + ingress(rule("example.com", "/", "gone", "{number: 80}")), "kind: Workload"},
			lines: [][2]string{{"Ingress web: is not converted: ", "Service gone has become spec.service of no Workload"}},
		},
		"an Ingress for a port that is not there": {
			out:   []string{web + service("web", onePort) + ingress(rule("example.com", "/", "web", "{number: 81}")), "service:"},
			lines: [][2]string{{"Ingress web: is not converted: ", "Service web has no port 81"}},
		},
		"an Ingress for a headless Service": {
			out: []string{
				web + service("web", ", clusterIP: None, ports: [{port: 80}]") + ingress(rule("example.com", "/", "web", "{number: 80}")),
				"headless: true",
			},
			lines: [][2]string{{"Ingress web: is not converted: ", "headless"}},
		},
		"an Ingress for a load balancer": {
			out: []string{
				web + service("web", onePort+", type: LoadBalancer") + ingress(rule("example.com", "/", "web", "{number: 80}")),
				"exposure: LoadBalancer",
			},
			lines: [][2]string{{"Ingress web: is not converted: ", "exposed otherwise already"}},
		},
		"a route": {
			out: []string{
				web + service("web", onePort) + route("{timeouts: {request: 10s}, matches: [{path: {type: PathPrefix, value: /}}], "+
					"backendRefs: [{name: web, port: 80}]}"), "exposure: Gateway\n    hostnames:\n    - web.example.com\n",
			},
			lines: [][2]string{
				{"Workload web: spec.service.hostnames: ", exposed + "HTTPRoute web"},
				{"HTTPRoute web: spec.rules[0].timeouts: ", "has none"},
			},
		},
		"a route for a path": {
			out: []string{
				web + service("web", onePort) + route("{matches: [{path: {value: /api}}], backendRefs: [{name: web, port: 80}]}"), "service:",
			},
			lines: [][2]string{{"HTTPRoute web: is not converted: ", "as they are"}},
		},
		"a route for a method": {
			out: []string{
				web + service("web", onePort) + route("{matches: [{method: GET}], backendRefs: [{name: web, port: 80}]}"), "service:",
			},
			lines: [][2]string{{"HTTPRoute web: is not converted: ", "as they are"}},
		},
		"a route with weights": {
			out: []string{
				web + service("web", onePort) + route("{backendRefs: [{name: web, port: 80, weight: 9}, {name: b, port: 80, weight: 1}]}"), "service:",
			},
			lines: [][2]string{{"HTTPRoute web: is not converted: ", "a name leads to one Workload"}},
		},
		"a route that changes requests": {
			out: []string{
				web + service("web", onePort) + route("{filters: [{type: URLRewrite}], backendRefs: [{name: web, port: 80}]}"), "service:",
			},
			lines: [][2]string{{"HTTPRoute web: is not converted: ", "as they are"}},
		},
		"a route of several rules, and a name that is a pattern": {
			out: []string{
				web + service("web", onePort) + strings.Replace(route("{matches: [{path: {type: Exact, value: /old}}], "+
					"filters: [{type: RequestRedirect}]}, {matches: [{path: {value: /api}}], backendRefs: [{name: b, port: 80}]}, "+
					"{filters: [{type: RequestHeaderModifier}], matches: [{path: {value: /x}}, {path: {value: /}}], "+
					"backendRefs: [{name: b, port: 80, weight: 0}, {name: web, port: 80, weight: 1}]}"),
					"[web.example.com]", "[web.example.com, '*.example.com']", 1),
				"exposure: Gateway\n    hostnames:\n    - web.example.com\n    ports:",
			},
			lines: [][2]string{
				{"Workload web: spec.service.hostnames: ", exposed + "HTTPRoute web"},
				{"HTTPRoute web: spec.rules[0]: ", "it leads to no Service"},
				{"HTTPRoute web: spec.rules[1]: ", "give each path a name of its own"},
				{"HTTPRoute web: spec.rules[2].filters: ", "has none"},
				{"HTTPRoute web: spec.hostnames[1]: ", "names without wildcards"},
			},
			never: []string{"is not converted", "spec.rules[2]: "},
		},
		"a route that redirects": {
			out:   []string{web + service("web", onePort) + route("{filters: [{type: RequestRedirect}]}"), "service:"},
			lines: [][2]string{{"HTTPRoute web: is not converted: ", "it leads to no Service"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := c.out[0]
			c.out = c.out[1:]
			result, err := manifestsOf(in)
			if err != nil || len(result.Problems) > 0 {
				t.Fatal(err, result.Problems)
			}
			checkLines(t, result, &c)
			for _, line := range linesOf(result) {
				if strings.Contains(line, "admission refuses") {
					t.Error(line)
				}
			}
		})
	}
}
