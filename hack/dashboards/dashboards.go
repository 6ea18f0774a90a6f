// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

// Grafana's units.
const (
	seconds = "s"
	count   = "short"
	ratio   = "percentunit"
	ops     = "ops"
	minutes = "opm"
	bytesOf = "bytes"
)

var dashboards = []dashboard{service, controllers, cells}

// service shows the service level.
var service = dashboard{
	name: "service", title: "karmada-compute / Service",
	about: "The service level: time until Workloads are ready, freshness of the status in projects, and admission.",
	rows: []row{
		{title: "Now", panels: []panel{
			{
				title: "Replicas that serve admission", about: "They are ready. With 0, Workloads cannot be created or changed.", unit: count,
				number: true, bad: new(1.0), below: true,
				queries: []query{{`sum(karmada_compute_ready` + chosen + ` and karmada_compute_milo_reachable` + chosen + `)`, ""}},
			},
			{
				title: "Shards without an owner", about: "Projects in them are not reconciled.", unit: count, number: true, bad: new(1.0),
				queries: []query{{`max(karmada_compute_shards` + chosen + `) - sum(karmada_compute_shards_owned` + chosen + `)`, ""}},
			},
			{
				title: "Milo answers", about: "1 while its root answers all replicas.", unit: count, number: true, bad: new(1.0), below: true,
				queries: []query{{`min(karmada_compute_milo_reachable` + chosen + `)`, ""}},
			},
			{
				title: "Cells without an agent", about: "The agent is missing, not ready or outdated: the cell does not report.", unit: count,
				number: true, bad: new(1.0),
				queries: []query{{`sum(1 - max by (cell) (karmada_compute_cell_agent_ready` + chosen + `))`, ""}},
			},
			{
				title: "Instances without quota", about: "They do not start. By reason further below.", unit: count, number: true,
				queries: []query{{`sum(karmada_compute_quota_withheld_instances` + chosen + `)`, ""}},
			},
			{
				title: "Certificate expires in", about: "The first one: the webhooks' serving certificates and their CA.", unit: seconds,
				number: true, bad: new(86400.0), below: true,
				queries: []query{{`min(karmada_compute_webhook_certificate_expiry_timestamp_seconds` + chosen + `) - time()`, ""}},
			},
		}},
		{title: "Workloads", panels: []panel{
			{
				title: "Time to Ready", about: "From the creation of a deployment in its project until it is available for the first time, waiting for quota and data included.",
				unit: seconds, queries: []query{
					{quantile("0.5", "karmada_compute_workload_ready_seconds", "city"), "{{city}} p50"},
					{quantile("0.9", "karmada_compute_workload_ready_seconds", "city"), "{{city}} p90"},
				},
			},
			{
				title: "Freshness of what is shown", about: "From a change of an Instance's Ready in its cell until the project shows it.",
				unit: seconds, queries: []query{
					{quantile("0.5", "karmada_compute_status_lag_seconds", "city"), "{{city}} p50"},
					{quantile("0.9", "karmada_compute_status_lag_seconds", "city"), "{{city}} p90"},
				},
			},
			{
				title: "Deployments that became available", about: "Per minute, for the first time.", unit: minutes,
				queries: []query{{"60 * " + perSecond("karmada_compute_workload_ready_seconds_count"+chosen, "city"), "{{city}}"}},
			},
			{
				title: "Waiting for quota", about: "How long Instances waited for their quota.", unit: seconds, queries: []query{
					{quantile("0.5", "karmada_compute_quota_wait_seconds"), "p50"},
					{quantile("0.99", "karmada_compute_quota_wait_seconds"), "p99"},
				},
			},
			{
				title: "Instances without quota", about: "By the reason of their condition QuotaGranted. QuotaExceeded is for consumers to resolve.", unit: count,
				queries: []query{{"sum by (reason) (karmada_compute_quota_withheld_instances" + chosen + ")", "{{reason}}"}},
			},
			{
				title: "Deployments with a fault", about: "The path to the cells has had a fault for too long. Projects show Unknown, or an old state.", unit: count,
				queries: []query{{"sum by (reason) (karmada_compute_audit_faults" + chosen + ")", "{{reason}}"}},
			},
		}},
		{title: "Admission", panels: []panel{
			{
				title: "Latency", about: "Of all requests to webhooks, as the replicas measure it.", unit: seconds, queries: []query{
					{quantile("0.5", "karmada_compute_webhook_request_duration_seconds", "webhook"), "{{webhook}} p50"},
					{quantile("0.99", "karmada_compute_webhook_request_duration_seconds", "webhook"), "{{webhook}} p99"},
				},
			},
			{
				title: "Requests", about: "By outcome. Errors are of this side: error, unavailable (Milo's root). elsewhere is a project that is down.", unit: ops,
				queries: []query{{perSecond("karmada_compute_webhook_requests_total"+chosen, "outcome"), "{{outcome}}"}},
			},
			{
				title: "Allowed or denied for a reason", about: "The rest fails because of this side. Less than 99 % is an alert.", unit: ratio,
				queries: []query{{
					perSecond(`karmada_compute_webhook_requests_total{namespace=~"$namespace", outcome!~"error|unavailable"}`, "webhook") +
						" / " + perSecond("karmada_compute_webhook_requests_total"+chosen, "webhook"), "{{webhook}}",
				}},
			},
			{
				title: "Lookups of projects", about: "Answered from the cache (hit), by Milo (miss), from the cache because Milo does not answer (stale), or not (error).", unit: ops,
				queries: []query{{perSecond("karmada_compute_milo_lookups_total"+chosen, "outcome"), "{{outcome}}"}},
			},
			{
				title: "Milo's latency", about: "Of requests of admission to Milo.", unit: seconds,
				queries: []query{{quantile("0.99", "karmada_compute_milo_request_duration_seconds", "kind"), "{{kind}} p99"}},
			},
			{
				title: "Interpreter", about: "Requests of Karmada, where it calls the webhook instead of running Lua itself.", unit: ops,
				queries: []query{{perSecond("karmada_compute_interpreter_requests_total"+chosen, "operation", "outcome"), "{{operation}} {{outcome}}"}},
			},
		}},
	},
}

// controllers shows the work of the replicas on the host, and the findings of the audit.
var controllers = dashboard{
	name: "controllers", title: "karmada-compute / Controllers",
	about: "The controllers at the host: their queues, their errors, and the faults and repairs of the audit.",
	rows: []row{
		{title: "Queues", panels: []panel{
			{
				title: "Depth", about: "Objects that wait to be reconciled.", unit: count,
				queries: []query{{"sum by (controller) (workqueue_depth" + replicas + ")", "{{controller}}"}},
			},
			{
				title: "Time in the queue", about: "Of nine in ten objects.", unit: seconds,
				queries: []query{{quantileOf(replicas, "0.9", "workqueue_queue_duration_seconds", "controller"), "{{controller}} p90"}},
			},
			{
				title: "Time of a reconcile", about: "Of nine in ten.", unit: seconds,
				queries: []query{{quantileOf(replicas, "0.9", "controller_runtime_reconcile_time_seconds", "controller"), "{{controller}} p90"}},
			},
		}},
		{title: "Reconciles", panels: []panel{
			{
				title: "Reconciles", about: "Without changes there are hardly any.", unit: ops,
				queries: []query{{of(replicas, "controller_runtime_reconcile_total", "controller"), "{{controller}}"}},
			},
			{
				title: "Errors", about: "Each is tried again. The log has them.", unit: ops,
				queries: []query{{of(replicas, "controller_runtime_reconcile_errors_total", "controller"), "{{controller}}"}},
			},
			{
				title: "Shards by replica", about: "Other replicas take over the shards of a replica that ends within seconds.", unit: count,
				queries: []query{{"sum by (instance) (karmada_compute_shards_owned" + chosen + ")", "{{instance}}"}},
			},
		}},
		{title: "Audit", panels: []panel{
			{
				title: "Found", about: "Deployments with a fault on the path to the cells.", unit: count,
				queries: []query{{"sum by (reason) (karmada_compute_audit_faults" + chosen + ")", "{{reason}}"}},
			},
			{
				title: "Repaired", about: "Repairs that trigger a Karmada reconcile, per minute.", unit: minutes,
				queries: []query{{"60 * " + perSecond("karmada_compute_repairs_total"+chosen, "kind", "reason"), "{{kind}} {{reason}}"}},
			},
			{
				title: "Repairs that failed", about: "Per minute.", unit: minutes,
				queries: []query{{"60 * " + perSecond("karmada_compute_repair_errors_total"+chosen, "kind", "reason"), "{{kind}} {{reason}}"}},
			},
			{
				title: "Projects that are gone", about: "Leftover objects on the hub: not withdrawn yet, and withdrawn per minute.", unit: count, queries: []query{
					{"sum(karmada_compute_projects_gone" + chosen + ")", "left"},
					{"sum(karmada_compute_projects_held" + chosen + ")", "waiting for an operator"},
					{"60 * " + perSecond("karmada_compute_projects_withdrawn_total"+chosen), "withdrawn"},
				},
			},
			{
				title: "Networks", about: "Answers of projects about NetworkBindings, where the feature gate is on.", unit: ops,
				queries: []query{{perSecond("karmada_compute_network_bindings_total"+chosen, "answer"), "{{answer}}"}},
			},
		}},
		{title: "Processes", panels: []panel{
			{
				title: "CPU", about: "Cores of each replica.", unit: count,
				queries: []query{{of(replicas, "process_cpu_seconds_total", "instance"), "{{instance}}"}},
			},
			{
				title: "Memory", about: "Resident memory of each replica.", unit: bytesOf,
				queries: []query{{"sum by (instance) (process_resident_memory_bytes" + replicas + ")", "{{instance}}"}},
			},
			{
				title: "Requests to API servers", about: "By code, of all replicas.", unit: ops,
				queries: []query{{of(replicas, "rest_client_requests_total", "code"), "{{code}}"}},
			},
		}},
	},
}

// cells shows the hub's state of the cells, and the work of their agents.
var cells = dashboard{
	name: "cells", title: "karmada-compute / Cells and agents", cells: true,
	about: "The cells as the hub sees them, and their agents, where these are scraped with a label cell.",
	rows: []row{
		{title: "As the hub sees them", panels: []panel{
			{
				title: "Agents", about: "1: the agent is ready and current. 0 with the reason why not.", unit: count,
				queries: []query{{`max by (cell, reason) (karmada_compute_cell_agent_ready{namespace=~"$namespace", cell=~"$cell"})`, "{{cell}} {{reason}}"}},
			},
			{
				title: "Inventory", about: "Deployments that a cell lacks, and deployments that the hub does not expect there.", unit: count,
				queries: []query{{`sum by (cell, direction) (karmada_compute_cell_inventory_mismatch{namespace=~"$namespace", cell=~"$cell"})`, "{{cell}} {{direction}}"}},
			},
			{
				title: "Freshness of what is shown", about: "From a change in a cell of the city until the project shows it.", unit: seconds,
				queries: []query{{quantile("0.9", "karmada_compute_status_lag_seconds", "city"), "{{city}} p90"}},
			},
		}},
		{title: "Agents", panels: []panel{
			{
				title: "Reconciles", about: "Of all controllers of the active agent.", unit: ops,
				queries: []query{{of(agents, "controller_runtime_reconcile_total", "cell"), "{{cell}}"}},
			},
			{
				title: "Errors", about: "Each is tried again. The agent's log has them.", unit: ops,
				queries: []query{{of(agents, "controller_runtime_reconcile_errors_total", "cell", "controller"), "{{cell}} {{controller}}"}},
			},
			{
				title: "Queue depth", about: "Objects that wait to be reconciled.", unit: count,
				queries: []query{{"sum by (cell, controller) (workqueue_depth" + agents + ")", "{{cell}} {{controller}}"}},
			},
			{
				title: "Strays", about: "Objects whose controller was deleted, per minute, by action.", unit: minutes,
				queries: []query{{"60 * " + perSecond(`karmada_compute_cell_strays_total{cell=~"$cell"}`, "cell", "kind", "action"), "{{cell}} {{kind}} {{action}}"}},
			},
			{
				title: "Empty namespaces", about: "Namespaces of projects without anything of the add-on.", unit: count,
				queries: []query{{`sum by (cell) (karmada_compute_cell_empty_namespaces{cell=~"$cell"})`, "{{cell}}"}},
			},
			{
				title: "Memory", about: "Resident memory of the agents of a cell.", unit: bytesOf,
				queries: []query{{"sum by (cell) (process_resident_memory_bytes" + agents + ")", "{{cell}}"}},
			},
		}},
	},
}
