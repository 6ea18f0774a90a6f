// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hub declares the rights of the add-on on the hub; role.yaml is generated from it.
package hub

// The copies of WorkloadDeployments. Karmada writes their status.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloaddeployments,verbs=get;list;watch;create;patch;delete

// The slices of large deployments, beside their copies. Karmada propagates them to cells, and collects the status that
// the agents there write into its ResourceBindings.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instanceslices,verbs=get;list;watch;create;patch;delete

// The instance types, which operators write. The add-on creates the first type if none exists, and records in the
// status when a type was deprecated.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instancetypes,verbs=list;create
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instancetypes/status,verbs=patch

// The per-city policies.
// +kubebuilder:rbac:groups=policy.karmada.io,resources=propagationpolicies,verbs=get;list;watch;create;patch;delete

// The number of Instances of each cell, which Karmada's scheduler decides, and the cells' reports. The audit triggers a
// Karmada reconcile of a binding, or deletes a leftover one.
// +kubebuilder:rbac:groups=work.karmada.io,resources=resourcebindings,verbs=get;list;watch;patch;delete

// The agents' objects without a namespace, whose Works are repaired.
// +kubebuilder:rbac:groups=work.karmada.io,resources=clusterresourcebindings,verbs=get;list;watch;patch

// Karmada's Events about a copy that it does not send: they name the override policy that it cannot apply.
// +kubebuilder:rbac:groups="",resources=events,verbs=list

// The cells of a city, and the condition with the status of their agents.
// +kubebuilder:rbac:groups=cluster.karmada.io,resources=clusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.karmada.io,resources=clusters/status,verbs=update

// Whether an agent of a cell in pull mode may write Clusters: then an operator confirms the cities of new cells. The roles of
// agents, and who else has rights in the namespace of a cell's Works, are reported.
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterrolebindings;rolebindings,verbs=list
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=get

// The generation of the agents' Deployment, where the cells report different ones.
// +kubebuilder:rbac:groups=apps,resources=deployments,resourceNames=karmada-compute-cell,verbs=get

// The DNS names of Workloads, where the hub has the kind of external-dns.
// +kubebuilder:rbac:groups=externaldns.k8s.io,resources=dnsendpoints,namespace=karmada-system,verbs=get;list;watch;create;patch;delete

// Hub namespaces, and the Works that carry them into the cells of their cities. The audit reads Karmada's Works, and
// repairs the Works that Karmada has forgotten.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=work.karmada.io,resources=works,verbs=get;list;watch;create;patch;delete

// The RoleBinding that gives the add-on the ConfigMaps and Secrets of a hub namespace, and of no other namespace. RBAC
// cannot limit a creation by name or to these namespaces: the ValidatingAdmissionPolicy of the chart does. The cache
// watches the RoleBindings of this name alone.
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings,verbs=create
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings,resourceNames=karmada-compute,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,resourceNames=karmada-compute-namespace,verbs=bind

// The marks of projects that have Workloads, and the record of Milo's identity.
// +kubebuilder:rbac:groups="",resources=configmaps,namespace=karmada-system,verbs=get;list;watch;create;patch;delete

// The webhooks' own CA and their paths: two Secrets, which are created when they do not exist.
// +kubebuilder:rbac:groups="",resources=secrets,namespace=karmada-system,resourceNames=karmada-compute-webhook-ca;karmada-compute-webhook-path,verbs=get;update
// +kubebuilder:rbac:groups="",resources=secrets,namespace=karmada-system,verbs=create

// The key of the hashes of data, which is created when it does not exist, and never changed.
// +kubebuilder:rbac:groups="",resources=secrets,namespace=karmada-system,resourceNames=karmada-compute-data-key,verbs=get

// Authentication and authorization of the callers of the webhooks.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// The registration of the interpreter, in either mode.
// +kubebuilder:rbac:groups=config.karmada.io,resources=resourceinterpreterwebhookconfigurations;resourceinterpretercustomizations,verbs=create
// +kubebuilder:rbac:groups=config.karmada.io,resources=resourceinterpreterwebhookconfigurations;resourceinterpretercustomizations,resourceNames=karmada-compute,verbs=get;patch;delete

// The Lease that shows whether a karmada-controller-manager is running.
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,namespace=karmada-system,resourceNames=karmada-controller-manager,verbs=get

// The Leases of the replicas, and the record of their shards.
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,namespace=karmada-system,verbs=get;list;watch;create;update;delete
