{{/*
Names are fixed, because the binaries and Karmada's addons know them: one release of a part per namespace.
*/}}

{{/* Labels that select the Pods of a component. Takes a list: the root context and the component. */}}
{{- define "karmada-compute.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: karmada-compute
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* Labels of a component's Pods. Takes a list: root, component and more labels, which cannot replace the chart's own. */}}
{{- define "karmada-compute.podLabels" -}}
{{- $root := index . 0 -}}
{{- $own := include "karmada-compute.selector" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/part-of" "karmada-compute" -}}
{{- $_ := set $own "app.kubernetes.io/version" $root.Chart.AppVersion -}}
{{- toYaml (merge $own (deepCopy (index . 2)) $root.Values.commonLabels) }}
{{- end }}

{{/* Labels of an object. Takes a list: root and component. */}}
{{- define "karmada-compute.labels" -}}
{{- $root := index . 0 -}}
{{- $chart := printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" -}}
{{- include "karmada-compute.podLabels" (list $root (index . 1) (dict "helm.sh/chart" $chart "app.kubernetes.io/managed-by" $root.Release.Service)) }}
{{- end }}

{{/* The whole metadata but name and namespace. Takes a list: root, component and, optionally, more annotations. */}}
{{- define "karmada-compute.metadata" -}}
{{- $root := index . 0 -}}
labels:
  {{- include "karmada-compute.labels" . | nindent 2 }}
{{- $annotations := deepCopy $root.Values.commonAnnotations }}
{{- if gt (len .) 2 }}
{{- $annotations = merge (deepCopy (index . 2)) $annotations }}
{{- end }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The reference of an image. Takes a list: root and the image's values. */}}
{{- define "karmada-compute.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- with $image.registry }}{{ . }}/{{ end }}{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default $root.Chart.AppVersion }}{{ end }}
{{- end }}

{{/* Arguments for the log and profiling, which both binaries have. Defaults are left out. Takes a list: root, and host or agents. */}}
{{- define "karmada-compute.args" -}}
{{- $values := (index . 0).Values }}
{{- with $values.logging }}
{{- if ne (int .verbosity) 0 }}
- -v={{ int .verbosity }}
{{- end }}
{{- if ne .format "text" }}
- --logging-format={{ .format }}
{{- end }}
{{- end }}
{{- if $values.profiling }}
{{- if not (index $values (index . 1)).metrics.enabled }}
{{- fail (printf "profiling: profiles are served beside the metrics; set %s.metrics.enabled, too" (index . 1)) }}
{{- end }}
- --profiling=true
{{- end }}
{{- end }}

{{/* The security contexts of the Pod security standard "restricted". */}}
{{- define "karmada-compute.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}
{{- define "karmada-compute.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* Environment of every container. Takes the extraEnv. */}}
{{- define "karmada-compute.env" -}}
- name: POD_IP
  valueFrom:
    fieldRef:
      fieldPath: status.podIP
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
{{- with . }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Probes on the health port. */}}
{{- define "karmada-compute.probes" -}}
livenessProbe:
  httpGet:
    path: /healthz
    port: health
  periodSeconds: 10
  failureThreshold: 3
  timeoutSeconds: 5
readinessProbe:
  httpGet:
    path: /readyz
    port: health
  periodSeconds: 2
  failureThreshold: 2
  timeoutSeconds: 2
{{- end }}

{{/* Roles from a generated file. Takes a dict: root, file, component, and namespace for those that have one. */}}
{{- define "karmada-compute.roles" -}}
{{- $root := .root }}
{{- $component := .component }}
{{- $namespace := .namespace }}
{{- range splitList "---\n" ($root.Files.Get .file) }}
{{- $role := fromYaml . }}
{{- if $role.kind }}
---
apiVersion: {{ $role.apiVersion }}
kind: {{ $role.kind }}
metadata:
  name: {{ $role.metadata.name }}
  {{- if $role.metadata.namespace }}
  namespace: {{ $namespace }}
  {{- end }}
  {{- include "karmada-compute.metadata" (list $root $component) | nindent 2 }}
rules:
{{ toYaml $role.rules }}
{{- end }}
{{- end }}
{{- end }}

{{/* Bindings of these roles. Takes the same dict, and subjects. */}}
{{- define "karmada-compute.bindings" -}}
{{- $root := .root }}
{{- $component := .component }}
{{- $namespace := .namespace }}
{{- $subjects := .subjects }}
{{- range splitList "---\n" ($root.Files.Get .file) }}
{{- $role := fromYaml . }}
{{- if $role.kind }}
---
apiVersion: {{ $role.apiVersion }}
kind: {{ $role.kind }}Binding
metadata:
  name: {{ $role.metadata.name }}
  {{- if $role.metadata.namespace }}
  namespace: {{ $namespace }}
  {{- end }}
  {{- include "karmada-compute.metadata" (list $root $component) | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $role.kind }}
  name: {{ $role.metadata.name }}
subjects:
{{- if not $subjects }} []{{ end }}
{{- include "karmada-compute.subjects" (list $subjects $namespace) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The subjects of a binding. Takes a list: the subjects, and the namespace of ServiceAccounts without one. */}}
{{- define "karmada-compute.subjects" -}}
{{- $namespace := index . 1 }}
{{- range index . 0 }}
- kind: {{ .kind }}
  name: {{ .name | quote }}
  {{- if eq .kind "ServiceAccount" }}
  namespace: {{ .namespace | default $namespace }}
  {{- else }}
  apiGroup: rbac.authorization.k8s.io
  {{- end }}
{{- end }}
{{- end }}

{{/* The name of the user that a subject other than a group is. Takes a list: the subject, and the namespace of ServiceAccounts without
one. */}}
{{- define "karmada-compute.username" -}}
{{- $namespace := index . 1 -}}
{{- with index . 0 -}}
{{- if eq .kind "ServiceAccount" -}}
system:serviceaccount:{{ .namespace | default $namespace }}:{{ .name }}
{{- else -}}
{{ .name }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The user as which Karmada's proxy makes the requests of sessions in cells. */}}
{{- define "karmada-compute.sessionUser" -}}karmada-compute-sessions{{- end }}

{{/* Whether projects are namespaces of the hub: a text that is not empty. */}}
{{- define "karmada-compute.namespaces" -}}
{{- if eq .Values.projects.mode "namespaces" -}}true{{- end -}}
{{- end }}

{{/* The control planes that the host needs a credential for, as a list in JSON. */}}
{{- define "karmada-compute.planes" -}}
{{- if include "karmada-compute.namespaces" . -}}["hub"]{{- else -}}["hub","milo"]{{- end -}}
{{- end }}

{{/* Whether sessions of any type are offered: a text that is not empty. */}}
{{- define "karmada-compute.sessions" -}}
{{- if or .Values.sessions.logs .Values.sessions.exec -}}true{{- end -}}
{{- end }}
