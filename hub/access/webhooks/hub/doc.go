// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hub declares the rights on the hub of Pods that serve webhooks only; role.yaml is generated from it.
package hub

// The instance types, against which Workloads are validated. The add-on creates the first type if none exists, and
// records in the status when a type was deprecated.
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instancetypes,verbs=list;create
// +kubebuilder:rbac:groups=compute.datumapis.com,resources=instancetypes/status,verbs=patch

// The operator's settings of load balancers and Gateways, of which a change of spec.service.exposure is warned.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=list

// The marks of projects that are about to have Workloads.
// +kubebuilder:rbac:groups="",resources=configmaps,namespace=karmada-system,verbs=list;watch;create;patch

// The webhooks' own CA and their paths: two Secrets, which are created when they do not exist.
// +kubebuilder:rbac:groups="",resources=secrets,namespace=karmada-system,resourceNames=karmada-compute-webhook-ca;karmada-compute-webhook-path,verbs=get;update
// +kubebuilder:rbac:groups="",resources=secrets,namespace=karmada-system,verbs=create

// Authentication and authorization of the callers of the webhooks.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// The registration of the interpreter, in either mode.
// +kubebuilder:rbac:groups=config.karmada.io,resources=resourceinterpreterwebhookconfigurations;resourceinterpretercustomizations,verbs=create
// +kubebuilder:rbac:groups=config.karmada.io,resources=resourceinterpreterwebhookconfigurations;resourceinterpretercustomizations,resourceNames=karmada-compute,verbs=get;patch;delete
