// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"slices"
	"strings"
	"testing"
)

// TestHosts: the exact name of a Service is a host where a host can stand, and a domain is another host.
func TestHosts(t *testing.T) {
	m := &manifests{
		hosts: hosts{
			{"prod", "api"}: {what: "Service api"}, {"prod", "db"}: {what: "Service db"}, {"prod", "valkey-cart"}: {what: "Service valkey-cart"},
			{"prod", "web"}: {what: "Service web", instead: "web"}, {"prod", "web-headless"}: {what: "Service web-headless", instead: "web"},
			{"prod", "cache"}:         {what: "Service cache", instead: "cache.example.com"},
			{"prod", "smtp.internal"}: {what: "smtp.internal", instead: "10.1.2.3"},
			{"test", "web"}:           {what: "Service web", instead: "web"},
		},
		namespaces: map[string]bool{"prod": true, "test": true},
		workloads: []*converted{
			{from: identity{"apps", "StatefulSet", "prod", "ring"}}, {from: identity{"apps", "StatefulSet", "prod", "db"}},
		},
	}
	own := []string{"front", "db", "web"}
	variable := func(name string) slot { return slot{position: ofVariable, name: name, own: own[:1]} }
	program := func(name string) slot { return slot{position: ofVariable, name: name, own: own} }
	argument := func(before string) slot { return slot{position: ofArgument, name: before} }
	file := slot{}
	const none, api, db, cart = "", "Service api, which no cell has", "Service db, which no cell has",
		"Service valkey-cart, which no cell has"
	for _, c := range []struct {
		text string
		slot slot
		want string
	}{
		{"http://api", file, api},
		{"http://api/v1", file, api},
		{"postgres://user:secret@db:5432/x", file, db},
		{"postgres://db:secret@api/x", file, api},
		{"jdbc:postgresql://db/x", variable("JDBC"), db},
		{"api:8080", file, api},
		{"server api:8080;", file, api},
		{"server:\n  host: api\n  name: db\n", file, api},
		{`{"host":"api","name":"db"}`, file, api},
		{"upstream = \"api\"\ntitle = \"db\"\n[db]\n", file, api},
		{"until nc -z -v -w30 valkey-cart 6379; do sleep 2; done", argument("-c"), cart},
		{"until nslookup db; do sleep 2; done", argument("-c"), db},
		{"pg_isready -h db -U web", argument("-c"), db},
		{"psql --host db", argument("-c"), db},
		{"db", variable("DB_HOST"), db},
		{"db", variable("REDIS_LEADER"), db},
		{"db", variable("discovery.seed_hosts"), db},
		{"db", variable("UPSTREAM"), db},
		{"api,db", variable("PEERS"), api + "|" + db},
		{"api:80,db:90", variable("PEERS"), api + "|" + db},
		{"http://api then http://db", file, api + "|" + db},
		{"--redis-host=db", argument("-"), db},
		{"-Ddb.host=\"db\" -Xmx1g", variable("JAVA_OPTS"), db},
		{"-Ddb.host=db -Xmx1g", variable("JAVA_OPTS"), db},
		{"--peers=api,db", argument("-"), api + "|" + db},
		{"db", argument("--host"), db},
		{"db", argument("-h"), db},
		{"db.prod:5432", file, db},
		{"http://web:80", variable("URL"), none},
		{"http://web.prod:80", variable("URL"), "web.prod: its namespace has another name in a cell; write web"},
		{
			"http://web.test.svc:80", variable("URL"),
			"web.test.svc: its namespace has another name in a cell; a Workload reaches the names of its own namespace; " +
				"--project-namespace moves both to one",
		},
		{"web.prod.svc.cluster.local", file, "web.prod.svc.cluster.local: its namespace has another name in a cell; write web"},
		{"http://web-headless:80", variable("URL"), "Service web-headless, which no cell has; write web"},
		{"http://cache:80", variable("URL"), "Service cache, which no cell has; write cache.example.com"},
		{"--smtp=smtp.internal:25", argument("-"), "smtp.internal, which no Instance knows; write 10.1.2.3"},
		{"other.test.svc.cluster.local", file, "Service other.test, which no cell has"},
		{"http://x.test.svc:80", file, "Service x.test, which no cell has"},
		{"ring-0.ring,ring-1.ring", file, "Pod ring-0, which no cell has|Pod ring-1, which no cell has"},
		{"ring-0.ring.prod.svc", file, "Pod ring-0, which no cell has"},
		{"db-12", file, "Pod db-12, which no cell has"},
		{"{\"servers\":[\"db\",\"api\"],\"names\":[\"db\"]}", file, db + "|" + api},
		{"brokers:\n  - db\n  - api:6379\nroles:\n  - valkey-cart\n", file, db + "|" + api},
		{"hosts: [api, \"db\"]", file, api + "|" + db},
		{"dns:///api:80", variable("GRPC_TARGET"), api},
		{"jdbc:mysql://db,api/x?user=valkey-cart", variable("URL"), db + "|" + api},
		{"mongodb://valkey-cart:x@db:27017,api:27017/web", variable("MONGO"), db + "|" + api},
		{"-Durl=\"jdbc:postgresql://db:5432/x\" -Drole=api -Dcache='valkey-cart'", variable("JAVA_TOOL_OPTIONS"), db + "|" + cart},
		{"Server=db;Database=api;User Id=api;Password=api", variable("ODBC"), db},
		{"db", slot{position: ofFile, name: "spring.redis.host"}, db},
		{"https://kubernetes.default.svc", file, "the API server of the cell, where Instances have no identity"},
		{"db", program("DB_HOST"), db},
		{"db:5432", program("X"), db},
		// These name no host, or another one.
		{"db", program("DD_SERVICE"), none},
		{"db", slot{position: ofFile, name: "title.txt"}, none},
		{"db", variable("PGUSER"), none},
		{"db", variable("PGDATABASE"), none},
		{"db", variable("RABBITMQ_DEFAULT_VHOST"), none},
		{"db", variable("DB_VENDOR"), none},
		{"db", variable("DB_CONNECTION"), none},
		{"db,api", variable("SPRING_PROFILES_ACTIVE"), none},
		{"db", variable("OTEL_TRACES_EXPORTER"), none},
		{"service.name=api,peer.service=db", variable("OTEL_RESOURCE_ATTRIBUTES"), none},
		{"api:12", argument("--tag"), none},
		{"db:17", argument("-"), none},
		{"{\"name\":\"db\"}", variable("X"), none},
		{"db", variable("MODE"), none},
		{"db", variable("POSTGRES_USER"), none},
		{"db", variable("CACHE_DRIVER"), none},
		{"api", variable("OTEL_SERVICE_NAME"), none},
		{"front", variable("SERVICE"), none},
		{"service.name=api,deployment.environment=db", variable("OTEL_RESOURCE_ATTRIBUTES"), none},
		{"sqlite:///db/x", variable("DATABASE_URL"), none},
		{"cache:7.4", variable("IMAGE"), none},
		{"cache:7.4", argument("-"), none},
		{"cache:16", variable("CACHE_IMAGE"), none},
		{"image: cache:16", file, none},
		{"--role=api", argument("-"), none},
		{"api", argument("-"), none},
		{"api", argument("--role"), none},
		{"start the api and the db.", file, none},
		{"https://api.example.com/v1", variable("API_URL"), none},
		{"dbx:80", file, none},
		{"/db/x", file, none},
		{"my-api:80", file, none},
		{"db-0-x", file, none},
		{"ring-a", file, none},
		{"registry.example.com/api:1", file, none},
	} {
		if got := m.lostIn(c.text, "prod", c.slot); !slices.Equal(got, strings.FieldsFunc(c.want, func(r rune) bool { return r == '|' })) {
			t.Errorf("%q of %+v names %q, want %q", c.text, c.slot, got, c.want)
		}
	}
}

// TestKeys: whether the exact name of a Service is a host depends on the key that has it.
func TestKeys(t *testing.T) {
	m := &manifests{
		hosts: hosts{
			{"prod", "api"}: {what: "api"}, {"prod", "db"}: {what: "db"}, {"prod", "redis"}: {what: "redis"},
			{"prod", "valkey-cart"}: {what: "valkey-cart"},
		},
		namespaces: map[string]bool{"prod": true},
	}
	argument, shell := slot{position: ofArgument, name: "-"}, slot{position: ofArgument, name: "-c"}
	after := func(option string) slot { return slot{position: ofArgument, name: option} }
	variable := func(name string) slot { return slot{position: ofVariable, name: name} }
	for _, c := range []struct {
		slot  slot
		texts []string
		host  bool
	}{
		{argument, []string{
			"--upstream=api", "--backend=api:8080", "--backend=api", "--api=api", "--api-host=api", "-api.addr=api", "--redis=redis",
			"--cache=valkey-cart", "--cart=valkey-cart", "--db=db", "--mysql=db", "--wait-for=db", "--proxy=api",
			"--broker=redis", "--log-server=api",
			"--log=api:8080", "--name=http://api", "--peers=db,api", "--bootstrap=db,other", "--otlp=api", "--sentinel=redis",
			"--replicaof=redis", "--upstream='api'",
		}, true},
		{argument, []string{
			"--log=api", "--name=api", "--service-name=api", "--service=api", "--serviceName=api", "--log-level=api",
			"--loggers=api,db", "--only=api",
			"--process=api", "--run=api", "--enable=api", "--component=api", "--security=api", "--replicaSet=db", "--replica-set=db",
			"--label=tier=db", "--path=api", "--base-path=api", "--audience=api", "--user=db:1000", "--chown=db:999",
			"--scope=api", "--task=api", "--debug=db",
			"--cache-type=redis", "--session=redis", "--queue=redis", "--db-name=db", "--team=api",
			"--server-name=api", "--leader-election-id=api",
			"--leader-elect-lease=api", "--node-selector=db", "--metrics=api", "--x=api", "-v=api", "--dbName=db",
			"--clientId=api", "--redis-version=redis:7.4",
			"--db=redis", "--cache=redis", "--result-backend=redis",
			"--hosting=api", "--endpoint-mode=api", "--upstream-protocol=api", "--cluster-name=db", "--url-prefix=api", "--host-path=api",
		}, false},
		{after("--upstream"), []string{"api"}, true},
		{after("--redis"), []string{"redis", "redis,other"}, true},
		{after("--replicaof"), []string{"redis", "redis 6379"}, true},
		{after("--log"), []string{"api"}, false},
		{after("--name"), []string{"api"}, false},
		{after("--replicaSet"), []string{"db"}, false},
		{after("--run"), []string{"api"}, false},
		{after("-v"), []string{"api"}, false},
		{shell, []string{"exec web --upstream=api --log=debug", "web --redis=redis", "redis-cli -h redis ping", "curl -sf api/health"}, true},
		{shell, []string{
			"exec web --log=api", "api", "exec web --service-name=api", "web --only=api,db",
			"chown db:999 /data", "mkdir -p db api",
		}, false},
		{variable("JAVA_OPTS"), []string{"-Ddb.host=db", "-Dredis=redis", "-Xmx1g -Dapi.url=http://api"}, true},
		{variable("JAVA_OPTS"), []string{"-Dlog=api", "-Dapp=api -Dname=db", "-Dspring.application.name=api"}, false},
		{variable("API"), []string{"api", "db,api"}, true},
		{variable("RUST_LOG"), []string{"api", "info,api", "api=debug"}, false},
		{variable("DEBUG"), []string{"api", "api,db", "db:*"}, false},
		{variable("JWT_AUDIENCE"), []string{"api"}, false},
		{variable("BASE_PATH"), []string{"api"}, false},
		{variable("CACHE_BACKEND"), []string{"redis"}, false},
		{variable("PROCESS"), []string{"api"}, false},
		{variable("MONGO_REPLICA_SET"), []string{"db"}, false},
	} {
		for _, text := range c.texts {
			if found := m.lostIn(text, "prod", c.slot); len(found) > 0 != c.host {
				t.Errorf("%q of %q names %q", text, c.slot.name, found)
			}
		}
	}
}

// TestStrangers: a name of a cluster at a place for hosts alone, which no Service of the input has, is listed.
func TestStrangers(t *testing.T) {
	m := &manifests{
		hosts: hosts{
			{"prod", "api"}: {what: "Service api", instead: "api"}, {"prod", "ring"}: {what: "Service ring", instead: "ring"},
		},
		namespaces: map[string]bool{"prod": true},
	}
	own := []string{"front"}
	variable := func(name string) slot { return slot{position: ofVariable, name: name, own: own} }
	argument, file := slot{position: ofArgument, name: "-c", own: own}, slot{own: own}
	const short, long = ", which no Service of the input has: a cell knows it only by a Workload of this name",
		", which no Service of the input has, and no cell knows"
	for _, c := range []struct {
		text string
		slot slot
		want []string
	}{
		{"mysql", variable("DB_HOST"), []string{"mysql" + short}},
		{"mysql:3306", variable("CONNECTION"), nil},
		{"kafka:9092,kafka-b:9092", variable("KAFKA_BROKERS"), []string{"kafka" + short, "kafka-b" + short}},
		{"redis://:secret@cache:6379/0", variable("X"), []string{"cache" + short}},
		{"jdbc:mysql://billing-db/billing", variable("X"), []string{"billing-db" + short}},
		{"until nc -z db 5432; do sleep 2; done", argument, []string{"db" + short}},
		{"(echo > /dev/tcp/sq-postgresql/5432) && exit 0", argument, []string{"sq-postgresql" + short}},
		{"--db=postgres://u@pg:5432/x", argument, []string{"pg" + short}},
		{"[database]\ntype = mysql\nhost = mysql:3306\n", file, []string{"mysql" + short}},
		{"- name: Tempo\n  url: http://tempo:3200\n", file, []string{"tempo" + short}},
		{"connstr = addr=cache:6379,pool_size=100", file, []string{"cache" + short}},
		{"http://prometheus.monitoring:80", variable("X"), []string{"prometheus.monitoring" + long}},
		{"memcached-0.memcached:11211", variable("SERVERS"), []string{"memcached-0.memcached" + long}},
		// These are known, no names of a cluster, or no hosts.
		{"api", variable("DB_HOST"), nil},
		{"http://api.prod", variable("X"), []string{"api.prod: its namespace has another name in a cell; write api"}},
		{"front:80", variable("DB_HOST"), nil},
		{"localhost:80", variable("DB_HOST"), nil},
		{"smtp.example.com", variable("DB_HOST"), nil},
		{"https://example.com", variable("X"), nil},
		{"db.internal:5432", variable("X"), nil},
		{"index.html", variable("BASE_URL"), nil},
		{"10.0.0.1:80", variable("DB_HOST"), nil},
		{"hostname", variable("K8S_ADDRESS_TYPE"), nil},
		{"user", variable("MAIL_FROM_ADDRESS"), nil},
		{"mysql", variable("DB_DRIVER"), nil},
		{"mysql", variable("DATABASE"), nil},
		{"redis:7.4", variable("X"), nil},
		{"app:v1", variable("IMAGE"), nil},
		{"curl -f --user user:x 127.0.0.1:15672/api", argument, nil},
		{"sleep 300; listen 80", argument, nil},
		{"s3://bucket/key", variable("X"), nil},
		{"sqlite:///db/x", variable("X"), nil},
		{"CLIENT://placeholder:9092", file, nil},
		{"upstream backend { server 127.0.0.1:80; } proxy_pass http://backend;", file, nil},
		{"{\"host\":\"api\",\"name\":\"db\"}", file, nil},
		{"timeout: 300\nport:8080\nlevel: info", file, nil},
		{"address: $(POD_IP)", file, nil},
		{"HOST", variable("DB_HOST"), nil},
	} {
		if found := m.lostIn(c.text, "prod", c.slot); !slices.Equal(found, c.want) {
			t.Errorf("%q of %v names %q, want %q", c.text, c.slot, found, c.want)
		}
	}
}
