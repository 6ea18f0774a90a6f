// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package podfields

import (
	"maps"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	template   = "spec.template"
	spec       = template + ".spec"
	sandbox    = spec + ".runtime.sandbox"
	containers = sandbox + ".containers[]"
	volumes    = spec + ".volumes[]"
	scale      = "spec.placements[].scaleSettings"
	interfaces = spec + ".networkInterfaces[]"
)

// Reasons that several fields share.
const (
	placed    = "the platform chooses the nodes of a city; choose cities in spec.placements, and isolation in runtime.class"
	shared    = "Instances share nothing with their node"
	named     = "the host name of an Instance is its name"
	noStorage = "cells attach configMap, secret and emptyDir volumes"
	noDevice  = "cells attach no devices"
	noIDs     = "Instances have no identity in their cell, and no token"
	waits     = "rollouts and drained nodes wait for it"
	profiles  = "cells set the profiles that keep Instances apart"
	ownVolume = "make it a volume of its own, at a folder of its own"
	asFiles   = "use variables with fieldRef for single fields; all labels and annotations as files have no other form"
	chosen    = "the cell chooses the addresses of the Service"
)

func at(path string) Entry             { return Entry{Path: path} }
func but(path, text string) Entry      { return Entry{Path: path, Text: text} }
func no(text string) Entry             { return Entry{Text: text} }
func only(text string, s ...any) Entry { return Entry{Text: text, Same: s} }
func harmless(text string) Entry       { return Entry{Text: text, Harmless: true} }
func table[T any](f fields) Table      { return Table{Type: reflect.TypeFor[T](), Fields: f} }
func each(text string, n ...string) fields {
	return every(no(text), n...)
}

func every(entry Entry, n ...string) fields {
	result := fields{}
	for _, name := range n {
		result[name] = entry
	}
	return result
}

type fields map[string]Entry

// and adds other fields.
func (f fields) and(others ...fields) fields {
	for _, other := range others {
		maps.Copy(f, other)
	}
	return f
}

// Tables has the tables of all types whose fields are not all honoured by the same names, in the order of the
// reference.
var Tables = []Table{
	table[corev1.PodSpec](fields{
		"volumes":                       but(volumes, "each is attached by a container"),
		"initContainers":                at(sandbox + ".initContainers[]"),
		"containers":                    at(containers),
		"restartPolicy":                 only("containers are always restarted; a job is no Workload", corev1.RestartPolicyAlways),
		"terminationGracePeriodSeconds": but(sandbox+".terminationGracePeriodSeconds", "at most 600: "+waits),
		"securityContext":               at(sandbox + ".securityContext"),
		"imagePullSecrets":              but(sandbox+".imagePullSecrets[]", "each name once"),
		"ephemeralContainers":           no("they are added to a running Pod, and are no part of a template"),
		"activeDeadlineSeconds":         no("Instances have no deadline"),
		"dnsPolicy": only("the cell resolves all names, and names of its Services first", corev1.DNSClusterFirst,
			corev1.DNSClusterFirstWithHostNet),
		"dnsConfig":                    no("the cell resolves all names: servers, domains and options here do not count; write full names"),
		"hostAliases":                  no("Instances have no entries of /etc/hosts: write the address where a program names the host"),
		"subdomain":                    no("with headless: true in spec.service an Instance is named <instance>.<workload>"),
		"schedulerName":                only(placed, corev1.DefaultSchedulerName),
		"serviceAccountName":           only(noIDs, "default"),
		"serviceAccount":               only(noIDs, "default"),
		"automountServiceAccountToken": only(noIDs, false, true),
		"shareProcessNamespace":        only("containers of an Instance do not see each other's processes", false),
		"runtimeClassName":             no("name a class of the platform in " + spec + ".runtime.class"),
		"enableServiceLinks":           only("Instances see no Services of their cell", false, corev1.DefaultEnableServiceLinks),
		"readinessGates":               no("conditions of other controllers do not exist in a cell; use a readiness probe"),
		"overhead":                     no("the RuntimeClass of the cell sets it"),
		"os":                           only("cells run Linux", corev1.PodOS{Name: corev1.Linux}),
		"hostUsers":                    only(profiles, true),
		"nodeSelector":                 only(placed, map[string]string{corev1.LabelOSStable: string(corev1.Linux)}),
		"priority":                     only(placed, int32(0)),
		"preemptionPolicy":             only(placed, corev1.PreemptLowerPriority),
		"setHostnameAsFQDN":            only(named+", without a domain", false),
		"schedulingGates":              no("the add-on has gates of its own"),
		"resourceClaims":               no(noDevice),
		"resources":                    no("set the size of the Instance in " + spec + ".runtime.resources"),
		"workloadRef":                  no("it names an object of the cell"),
	}.and(
		each(placed, "nodeName", "affinity", "tolerations", "topologySpreadConstraints", "priorityClassName"),
		each(shared, "hostNetwork", "hostPID", "hostIPC"),
		each(named, "hostname", "hostnameOverride"),
	)),
	table[corev1.Container](fields{
		"name":                     at(containers + ".name"),
		"image":                    at(containers + ".image"),
		"command":                  at(containers + ".command"),
		"args":                     at(containers + ".args"),
		"workingDir":               but(containers+".workingDir", "absolute: a runtime starts no container in another folder"),
		"ports":                    at(containers + ".ports[]"),
		"envFrom":                  at(containers + ".envFrom"),
		"env":                      but(containers+".env[]", "each name once: the API server merges variables by name"),
		"resources":                at(containers + ".resources"),
		"restartPolicy":            but(sandbox+".initContainers[].restartPolicy", "only Always, of an init container: a sidecar"),
		"volumeMounts":             at(containers + ".volumeAttachments[]"),
		"livenessProbe":            at(containers + ".livenessProbe"),
		"readinessProbe":           at(containers + ".readinessProbe"),
		"startupProbe":             at(containers + ".startupProbe"),
		"lifecycle":                at(containers + ".lifecycle"),
		"securityContext":          at(containers + ".securityContext"),
		"resizePolicy":             no("the size of an Instance changes with its template"),
		"restartPolicyRules":       no("not every cell supports it"),
		"volumeDevices":            no(noDevice),
		"terminationMessagePath":   only("cells use the default", corev1.TerminationMessagePathDefault),
		"terminationMessagePolicy": only("cells use the default", corev1.TerminationMessageReadFile),
		"imagePullPolicy": Entry{
			Text: "cells use the default: Always for the tag latest, else IfNotPresent; name a digest", Harmless: true,
		},
	}.and(each("Instances have no console", "stdin", "stdinOnce", "tty"))),
	table[corev1.ContainerPort](fields{
		"name":          but(containers+".ports[].name", "required: the API server merges ports by name"),
		"containerPort": at(containers + ".ports[].port"),
		"protocol":      at(containers + ".ports[].protocol"),
	}.and(each(shared, "hostPort", "hostIP"))),
	table[corev1.EnvVar](fields{
		"name": at(containers + ".env[].name"), "value": at(containers + ".env[].value"), "valueFrom": at(containers + ".env[].valueFrom"),
	}),
	table[corev1.EnvVarSource](fields{
		"fieldRef": but(containers+".env[].valueFrom.fieldRef", "metadata.name, metadata.namespace (of the project), metadata.labels['<key>'], "+
			"metadata.annotations['<key>'], status.podIP and status.podIPs; not of the node, the service account or the UID"),
		"resourceFieldRef": but(containers+".env[].valueFrom.resourceFieldRef", "limits and requests of cpu and memory"),
		"configMapKeyRef":  at(containers + ".env[].valueFrom.configMapKeyRef"),
		"secretKeyRef":     at(containers + ".env[].valueFrom.secretKeyRef"),
		"fileKeyRef":       no("not every cell supports it"),
	}),
	table[corev1.ResourceRequirements](fields{
		"limits": but(containers+".resources.limits", "at most 1Pi; together at most the instance type, or runtime.resources.requests"),
		"requests": but(containers+".resources.requests",
			"at most 1Pi; without a limit a container may take what the others leave of the size of the Instance"),
		"claims": no(noDevice),
	}),
	table[corev1.VolumeMount](fields{
		"name":        at(containers + ".volumeAttachments[].name"),
		"readOnly":    at(containers + ".volumeAttachments[].readOnly"),
		"mountPath":   but(containers+".volumeAttachments[].mountPath", "absolute, without .."),
		"subPath":     at(containers + ".volumeAttachments[].subPath"),
		"subPathExpr": no("the whole volume is mounted here, without a folder for each Instance; for one folder use subPath"),
		"recursiveReadOnly": only("volumes of Instances have no mounts below them", corev1.RecursiveReadOnlyDisabled,
			corev1.RecursiveReadOnlyIfPossible),
		"mountPropagation": only(shared, corev1.MountPropagationNone),
	}),
	table[corev1.Probe](fields{
		"exec":      but(containers+".readinessProbe.exec", "a command of at most 64 items and 16 KiB: nodes run it every few seconds"),
		"httpGet":   at(containers + ".readinessProbe.httpGet"),
		"tcpSocket": at(containers + ".readinessProbe.tcpSocket"), "grpc": at(containers + ".readinessProbe.grpc"),
		"initialDelaySeconds":           but(containers+".readinessProbe.initialDelaySeconds", "at most 3600: "+waits),
		"timeoutSeconds":                but(containers+".readinessProbe.timeoutSeconds", "at most 3600: "+waits),
		"periodSeconds":                 but(containers+".readinessProbe.periodSeconds", "at most 3600: "+waits),
		"successThreshold":              but(containers+".readinessProbe.successThreshold", "at most 1000: "+waits),
		"failureThreshold":              but(containers+".readinessProbe.failureThreshold", "at most 1000: "+waits),
		"terminationGracePeriodSeconds": but(containers+".livenessProbe.terminationGracePeriodSeconds", "at most 600: "+waits),
	}),
	table[corev1.HTTPGetAction](fields{
		"path": at(containers + ".readinessProbe.httpGet.path"), "port": at(containers + ".readinessProbe.httpGet.port"),
		"scheme": at(containers + ".readinessProbe.httpGet.scheme"), "httpHeaders": at(containers + ".readinessProbe.httpGet.httpHeaders"),
		"host": no("a node probes the Instance itself only; for a virtual host set the header Host"),
	}),
	table[corev1.TCPSocketAction](fields{
		"port": at(containers + ".readinessProbe.tcpSocket.port"), "host": no("a node probes the Instance itself only"),
	}),
	table[corev1.Lifecycle](fields{
		"postStart": at(containers + ".lifecycle.postStart"), "preStop": at(containers + ".lifecycle.preStop"),
		"stopSignal": no("not every cell supports it; set STOPSIGNAL in the image, or use preStop"),
	}),
	table[corev1.LifecycleHandler](fields{
		"exec": at(containers + ".lifecycle.preStop.exec"), "httpGet": at(containers + ".lifecycle.preStop.httpGet"),
		"sleep":     but(containers+".lifecycle.preStop.sleep", "at least a second, and at most the grace period"),
		"tcpSocket": no("Kubernetes does not support it either"),
	}),
	table[corev1.SecurityContext](fields{
		"runAsUser":                at(containers + ".securityContext.runAsUser"),
		"runAsGroup":               at(containers + ".securityContext.runAsGroup"),
		"runAsNonRoot":             at(containers + ".securityContext.runAsNonRoot"),
		"readOnlyRootFilesystem":   at(containers + ".securityContext.readOnlyRootFilesystem"),
		"allowPrivilegeEscalation": only("no container may gain privileges", false),
		"privileged":               only("no container is privileged", false),
		"capabilities":             harmless("the operator of a cell decides which capabilities containers keep; all others are dropped"),
		"seccompProfile": only("every container has profile RuntimeDefault",
			corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}),
		"procMount":       only(profiles, corev1.DefaultProcMount),
		"appArmorProfile": only(profiles, corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}),
	}.and(each(profiles, "seLinuxOptions", "windowsOptions"))),
	table[corev1.PodSecurityContext](fields{
		"runAsUser":    at(sandbox + ".securityContext.runAsUser"),
		"runAsGroup":   at(sandbox + ".securityContext.runAsGroup"),
		"runAsNonRoot": at(sandbox + ".securityContext.runAsNonRoot"),
		"fsGroup":      at(sandbox + ".securityContext.fsGroup"),
		"fsGroupChangePolicy": only("volumes of Instances are small and new", corev1.FSGroupChangeAlways,
			corev1.FSGroupChangeOnRootMismatch),
		"supplementalGroups":       no("use fsGroup for files of volumes"),
		"supplementalGroupsPolicy": only("cells use the default", corev1.SupplementalGroupsPolicyMerge),
		"sysctls":                  harmless("cells set no parameters of the kernel: ports below 1024 are for root"),
		"seccompProfile": only("every container has profile RuntimeDefault",
			corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}),
		"appArmorProfile":     only(profiles, corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}),
		"seLinuxChangePolicy": only(profiles, corev1.SELinuxChangePolicyMountOption),
	}.and(each(profiles, "seLinuxOptions", "windowsOptions"))),
	table[corev1.Volume](fields{
		"name":      at(volumes + ".name"),
		"configMap": at(volumes + ".configMap"),
		"secret":    at(volumes + ".secret"),
		"emptyDir":  but(volumes+".emptyDir", "without a sizeLimit, the cell's limit for the disk of a container counts"),
		"projected": but(volumes, "no volume has several sources"), "downwardAPI": no(asFiles),
		"hostPath": no(shared), "image": no("not every cell supports it"),
	}.and(each(noStorage, "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs",
		"persistentVolumeClaim", "rbd", "flexVolume", "cinder", "cephfs",
		"flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk", "photonPersistentDisk", "portworxVolume",
		"scaleIO", "storageos", "csi", "ephemeral"))),
	table[corev1.ProjectedVolumeSource](fields{
		"sources": but(volumes, "each by itself"), "defaultMode": harmless("a volume of its own has its own mode"),
	}),
	table[corev1.VolumeProjection](fields{
		"secret": no(ownVolume), "configMap": no(ownVolume), "downwardAPI": no(asFiles), "serviceAccountToken": no(noIDs),
		"clusterTrustBundle": no("put the certificates into a ConfigMap"), "podCertificate": no(noIDs),
	}),
	table[appsv1.DeploymentSpec](fields{
		"replicas":                at(scale + ".minReplicas"),
		"selector":                harmless("the add-on selects the Instances of a Workload"),
		"template":                at(template),
		"strategy":                at("spec.rollout"),
		"minReadySeconds":         but("spec.minReadySeconds", "at most 3600"),
		"revisionHistoryLimit":    but("spec.rollout.revisionHistoryLimit", "at most 50"),
		"paused":                  at("spec.rollout.paused"),
		"progressDeadlineSeconds": at("spec.rollout.progressDeadlineSeconds"),
	}),
	table[appsv1.DeploymentStrategy](fields{
		"type": but("spec.rollout.maxUnavailable", "Recreate is 100%, without additional Instances"), "rollingUpdate": at("spec.rollout"),
	}),
	table[appsv1.RollingUpdateDeployment](fields{
		"maxUnavailable": but("spec.rollout.maxUnavailable", "at least 1: an Instance is replaced in its place"),
		"maxSurge":       but("spec.rollout.maxSurge", "at most 100%"),
	}),
	table[appsv1.StatefulSetSpec](fields{
		"replicas":             at(scale + ".minReplicas"),
		"selector":             harmless("the add-on selects the Instances of a Workload"),
		"template":             at(template),
		"podManagementPolicy":  at(scale + ".instanceManagementPolicy"),
		"updateStrategy":       at("spec.rollout"),
		"minReadySeconds":      but("spec.minReadySeconds", "at most 3600"),
		"revisionHistoryLimit": but("spec.rollout.revisionHistoryLimit", "at most 50"),
		"serviceName":          but("spec.service.headless", "the Service has the name of the Workload"),
		"volumeClaimTemplates": no(noStorage),
		"persistentVolumeClaimRetentionPolicy": only(noStorage, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
			WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType, WhenScaled: appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
		}),
		"ordinals": no("indices begin at 0"),
	}),
	table[appsv1.StatefulSetUpdateStrategy](fields{
		"type":          only("Instances of an earlier template are always replaced", appsv1.RollingUpdateStatefulSetStrategyType),
		"rollingUpdate": at("spec.rollout"),
	}),
	table[appsv1.RollingUpdateStatefulSetStrategy](fields{
		"partition":      only("a rollout replaces all Instances", int32(0)),
		"maxUnavailable": but("spec.rollout.maxUnavailable", "with policy Parallel"),
	}),
	table[corev1.ServiceSpec](fields{
		"ports":     at("spec.service.ports[]"),
		"selector":  harmless("the Service of a Workload has its Instances"),
		"clusterIP": but("spec.service.headless", "None is true; "+chosen),
		"type": but("spec.service.exposure", "LoadBalancer is exposure LoadBalancer; NodePort has nothing that stands for it; "+
			"of ExternalName write the name where a program names the Service"),
		"publishNotReadyAddresses": at("spec.service.publishNotReadyAddresses"),
		"sessionAffinity": only("requests of one client may reach any Instance: keep sessions in a store that all reach",
			corev1.ServiceAffinityNone),
		"loadBalancerIP": no("the load balancer of each cell gives the address; spec.service.hostnames are the same in all cities"),
		"loadBalancerSourceRanges": but(interfaces+".networkPolicy", "the ranges that may connect; they count where the load balancer "+
			"of a cell keeps the address of clients"),
		"loadBalancerClass": no("the operator names the class of each cell"),
		"externalTrafficPolicy": only("cells use the default, and programs may see the address of a node instead of a client",
			corev1.ServiceExternalTrafficPolicyCluster),
		"internalTrafficPolicy": only("requests may reach Instances at any node of the cell", corev1.ServiceInternalTrafficPolicyCluster),
		"trafficDistribution":   no("requests reach all Instances of the cell alike, and none of another city"),
		"ipFamilyPolicy":        only(chosen, corev1.IPFamilyPolicySingleStack, corev1.IPFamilyPolicyPreferDualStack),
		"externalIPs":           no(chosen),
	}.and(every(harmless("servers set it, or it goes with another field"), "clusterIPs", "ipFamilies", "healthCheckNodePort", "externalName",
		"sessionAffinityConfig", "allocateLoadBalancerNodePorts"))),
	table[corev1.ServicePort](fields{
		"name": at("spec.service.ports[].name"), "port": at("spec.service.ports[].port"), "targetPort": at("spec.service.ports[].targetPort"),
		"protocol": at("spec.service.ports[].protocol"), "appProtocol": at("spec.service.ports[].appProtocol"),
		"nodePort": no("no node of a cell answers for Instances"),
	}),
	table[corev1.PodTemplateSpec](fields{"metadata": but(template+".metadata", "labels and annotations"), "spec": at(spec)}),
}
