// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hub says what the add-on may do on the hub; role.yaml is generated from it.
package hub

// The copies of WorkloadDeployments, and nothing of their status: that is Karmada's to write.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=workloaddeployments,verbs=get;list;watch;create;patch;delete

// The per-city policies.
// +kubebuilder:rbac:groups=policy.karmada.io,resources=propagationpolicies,verbs=get;list;watch;create;patch;delete

// How many Instances each cell runs, as Karmada's scheduler decided.
// +kubebuilder:rbac:groups=work.karmada.io,resources=resourcebindings,verbs=get;list;watch

// Which cells a city has.
// +kubebuilder:rbac:groups=cluster.karmada.io,resources=clusters,verbs=get;list;watch

// Hub namespaces, and the Works that carry them into the cells of their cities.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=work.karmada.io,resources=works,verbs=get;list;watch;create;patch;delete

// The copies of what templates name, on their way to the cells. Hub namespaces come and go with the projects' namespaces,
// and a role in each would take the right to write roles, which is the right to everything; so this right has no
// namespace. There is no update and no deletecollection, and the cache holds no contents.
// +kubebuilder:rbac:groups="",resources=configmaps;secrets,verbs=get;list;watch;create;patch;delete

// The webhooks' own CA: one Secret, which is made when it is not there.
// +kubebuilder:rbac:groups="",resources=secrets,namespace=karmada-system,resourceNames=karmada-compute-webhook-ca,verbs=get;update
// +kubebuilder:rbac:groups="",resources=secrets,namespace=karmada-system,verbs=create

// Who calls the webhooks, and whether they may.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// The registration of the interpreter, in the one mode or the other.
// +kubebuilder:rbac:groups=config.karmada.io,resources=resourceinterpreterwebhookconfigurations;resourceinterpretercustomizations,verbs=create
// +kubebuilder:rbac:groups=config.karmada.io,resources=resourceinterpreterwebhookconfigurations;resourceinterpretercustomizations,resourceNames=karmada-compute,verbs=get;patch;delete

// Which replica has which shard of the projects.
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,namespace=karmada-system,verbs=get;list;watch;create;update;delete
