{{/* The URL by which webhooks are called, or nothing for the Service. The binary's webhook configurations name the Service in
karmada-system; elsewhere its DNS name is used. */}}
{{- define "karmada-compute.webhookURL" -}}
{{- if .Values.webhooks.url -}}
{{ .Values.webhooks.url }}
{{- else if ne .Release.Namespace "karmada-system" -}}
https://karmada-compute-webhook.{{ .Release.Namespace }}.svc:443
{{- end -}}
{{- end }}

{{/* Whether serving certificates come from a Secret. */}}
{{- define "karmada-compute.certificates" -}}
{{- with .Values.webhooks.certificates }}
{{- if and (ne .source "own") (not .secretName) }}
{{- fail (printf "webhooks.certificates.secretName: name the Secret with tls.crt, tls.key and ca.crt, or set webhooks.certificates.source to own (it is %s)" .source) }}
{{- end }}
{{- if and (eq .source "cert-manager") (not .issuerRef.name) }}
{{- fail "webhooks.certificates.issuerRef.name: name the issuer of cert-manager that signs the webhooks' certificate" }}
{{- end }}
{{- if ne .source "own" }}yes{{ end }}
{{- end }}
{{- end }}

{{/* The values of the credential for the hub or Milo of a component. Pods that serve webhooks only have one of their own. Takes a
list: root, "hub" or "milo", and the component. */}}
{{- define "karmada-compute.credential" -}}
{{- $access := (index . 0).Values.access -}}
{{- if eq (index . 2) "webhook" -}}{{- $access = $access.webhooks -}}{{- end -}}
{{- toYaml (index $access (index . 1)) }}
{{- end }}

{{/* The name of the Secret that the chart makes with a kubeconfig. A token's has no credential in it: all Pods use the same. Takes
the same list. */}}
{{- define "karmada-compute.accessName" -}}
{{- $token := (index (index . 0).Values.access (index . 1)).token.server -}}
karmada-compute-{{ if and (eq (index . 2) "webhook") (not $token) }}webhook-{{ end }}{{ index . 1 }}-access
{{- end }}

{{/* The sources of the projected volume with the kubeconfig for the hub or Milo. Takes the same list. */}}
{{- define "karmada-compute.access" -}}
{{- $plane := index . 1 -}}
{{- $token := (index (index . 0).Values.access $plane).token -}}
{{- $credential := include "karmada-compute.credential" . | fromYaml -}}
{{- if and $credential.kubeconfig $token.server }}
{{- $webhooks := ternary "webhooks." "" (eq (index . 2) "webhook") }}
{{- fail (printf "access.%s%s.kubeconfig and access.%s.token.server: set one of them" $webhooks $plane $plane) }}
{{- end }}
{{- if $token.server -}}
- secret:
    name: {{ include "karmada-compute.accessName" . }}
- serviceAccountToken:
    path: token
    expirationSeconds: {{ int $token.expirationSeconds }}
    {{- with $token.audience }}
    audience: {{ . | quote }}
    {{- end }}
{{- else if $credential.kubeconfig -}}
- secret:
    name: {{ include "karmada-compute.accessName" . }}
{{- else -}}
{{- include "karmada-compute.secretSources" (list (index . 0) $credential.secret (eq $plane "hub")) }}
{{- end }}
{{- end }}

{{/* The sources of a projected volume with a kubeconfig of a Secret. Takes a list: root, the Secret, and whether it is for the hub. */}}
{{- define "karmada-compute.secretSources" -}}
{{- $secret := index . 1 -}}
- secret:
    name: {{ $secret.name }}
    items:
    - key: {{ $secret.key }}
      path: kubeconfig
{{- if and (index . 2) (index . 0).Values.access.renew }}
# Not with the other source: the version before, to which a rollback goes, stores no such key.
- secret:
    name: {{ $secret.name }}
    items:
    - key: token
      path: token
    optional: true
{{- end }}
{{- end }}

{{/* The Secret of the host with the token for the hub that a component renews, or nothing. Takes a list: root and the component. */}}
{{- define "karmada-compute.renewed" -}}
{{- $credential := include "karmada-compute.credential" (list (index . 0) "hub" (index . 1)) | fromYaml -}}
{{- $access := (index . 0).Values.access -}}
{{- if and $access.renew (not $access.hub.token.server) (not $credential.kubeconfig) }}{{ $credential.secret.name }}{{ end }}
{{- end }}

{{/* The kubeconfig that the chart makes, or nothing. Takes the same list. Its files are beside it. */}}
{{- define "karmada-compute.kubeconfig" -}}
{{- $credential := include "karmada-compute.credential" . | fromYaml -}}
{{- if $credential.kubeconfig -}}
{{ $credential.kubeconfig }}
{{- else -}}
{{- with (index (index . 0).Values.access (index . 1)).token }}
{{- if .server -}}
apiVersion: v1
kind: Config
clusters:
- name: default
  cluster:
    server: {{ .server }}
    {{- with .ca }}
    certificate-authority-data: {{ b64enc . }}
    {{- end }}
users:
- name: default
  user:
    tokenFile: token
contexts:
- name: default
  context:
    cluster: default
    user: default
current-context: default
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The component whose credential for Milo a component has: Pods that carry streams have the one of the webhooks. Takes a list: root and
component. */}}
{{- define "karmada-compute.credentialOf" -}}
{{- if ne (index . 1) "sessions" }}{{ index . 1 }}{{ else }}{{ ternary "webhook" "karmada-compute" (index . 0).Values.host.separateWebhooks }}{{ end }}
{{- end }}

{{/* The name of the Deployment of a component. */}}
{{- define "karmada-compute.deploymentName" -}}
{{ ternary . (printf "karmada-compute-%s" .) (eq . "karmada-compute") }}
{{- end }}

{{/* The components that run as Deployments, as a JSON list. */}}
{{- define "karmada-compute.components" -}}
{{- $components := list "karmada-compute" }}
{{- if .Values.host.separateWebhooks }}{{ $components = append $components "webhook" }}{{ end }}
{{- if and .Values.sessions.separate (include "karmada-compute.sessions" .) }}{{ $components = append $components "sessions" }}{{ end }}
{{- toJson $components }}
{{- end }}

{{/* A Deployment. Takes a dict: root, component, and whether it runs controllers and webhooks. */}}
{{- define "karmada-compute.deployment" -}}
{{- $root := .root }}
{{- $component := .component }}
{{- $controllers := .controllers }}
{{- $webhooks := .webhooks }}
{{- $labels := dict }}
{{- if $webhooks }}
{{- $_ := set $labels "compute.datumapis.com/webhooks" "true" }}
{{- end }}
{{- $credential := include "karmada-compute.credentialOf" (list $root $component) }}
{{- $offered := include "karmada-compute.sessions" $root }}
{{- $streams := and $offered (eq $component (ternary "sessions" $credential $root.Values.sessions.separate)) (or $webhooks (eq $component "sessions")) }}
{{- if $streams }}
{{- $_ := set $labels "compute.datumapis.com/sessions" "true" }}
{{- end }}
{{- with $root.Values.host }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "karmada-compute.deploymentName" $component }}
  namespace: {{ $root.Release.Namespace }}
  {{- include "karmada-compute.metadata" (list $root $component .annotations) | nindent 2 }}
spec:
  replicas: {{ int .replicas }}
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 1
      maxUnavailable: 0
  selector:
    matchLabels:
      {{- include "karmada-compute.selector" (list $root $component) | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "karmada-compute.podLabels" (list $root $component (merge $labels .podLabels)) | nindent 8 }}
      {{- $annotations := deepCopy .podAnnotations }}
      {{- with printf "%s%s" (include "karmada-compute.kubeconfig" (list $root "hub" $credential)) (include "karmada-compute.kubeconfig" (list $root "milo" $credential)) }}
      {{- /* A kubeconfig is read at the start: another one needs new Pods. */}}
      {{- $_ := set $annotations "compute.datumapis.com/access" (sha256sum . | trunc 16) }}
      {{- end }}
      {{- with $annotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      {{- include "karmada-compute.scheduling" . | nindent 6 }}
      serviceAccountName: {{ ternary .serviceAccount.webhookName .serviceAccount.name (eq $credential "webhook") }}
      # Pods that carry streams alone renew no token.
      automountServiceAccountToken: {{ and (ne $component "sessions") (ne (include "karmada-compute.renewed" (list $root $component)) "") }}
      # Requests are served for the shutdown delay, and those in flight are finished (docs/decisions/webhook-server.md).
      terminationGracePeriodSeconds: {{ add $root.Values.webhooks.shutdownDelaySeconds 35 }}
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        {{- mustMergeOverwrite (include "karmada-compute.podSecurity" $root | fromYaml) (deepCopy .podSecurityContext) | toYaml | nindent 8 }}
      {{- include "karmada-compute.spread" (list $root $component) | nindent 6 }}
      containers:
      - name: karmada-compute
        image: {{ include "karmada-compute.image" (list $root $root.Values.image) }}
        imagePullPolicy: {{ $root.Values.image.pullPolicy }}
        args:
        {{- include "karmada-compute.hostArgs" (list $root $controllers $webhooks $streams) | nindent 8 }}
        env:
        {{- include "karmada-compute.env" .extraEnv | nindent 8 }}
        ports:
        {{- if $webhooks }}
        - name: webhook
          containerPort: 9443
        {{- end }}
        {{- if $streams }}
        - name: sessions
          containerPort: 9444
        {{- end }}
        {{- if $controllers }}
        - name: peers
          containerPort: 9445
        {{- end }}
        {{- if .metrics.enabled }}
        - name: metrics
          containerPort: 8080
        {{- end }}
        - name: health
          containerPort: 8081
        {{- include "karmada-compute.probes" $root | nindent 8 }}
        resources:
          {{- toYaml .resources | nindent 10 }}
        securityContext:
          {{- mustMergeOverwrite (include "karmada-compute.containerSecurity" $root | fromYaml) (deepCopy .securityContext) | toYaml | nindent 10 }}
        volumeMounts:
        {{- include "karmada-compute.volumeMounts" $root | nindent 8 }}
        {{- with .extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- if and $offered (or $webhooks $streams) }}
        - name: sessions
          mountPath: /etc/karmada-compute/sessions
          readOnly: true
        {{- end }}
      volumes:
      {{- include "karmada-compute.volumes" (list $root $component) | nindent 6 }}
      {{- with .extraVolumes }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      {{- if and $offered (or $webhooks $streams) }}
      # Only Pods that record or carry sessions have this credential.
      - name: sessions
        projected:
          defaultMode: 0440
          sources:
          {{- include "karmada-compute.secretSources" (list $root $root.Values.sessions.secret true) | nindent 10 }}
      {{- end }}
{{- end }}
{{- end }}

{{/* Where Pods may run. Takes the values of the host. */}}
{{- define "karmada-compute.scheduling" -}}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* How the replicas of a Deployment are spread. matchLabelKeys: a new revision need not avoid the nodes of the old one. */}}
{{- define "karmada-compute.spread" -}}
{{- $selector := include "karmada-compute.selector" . -}}
{{- with (index . 0).Values.host -}}
affinity:
{{- if .affinity }}
  {{- toYaml .affinity | nindent 2 }}
{{- else }}
  podAntiAffinity:
    {{- if eq .antiAffinity "required" }}
    requiredDuringSchedulingIgnoredDuringExecution:
    - topologyKey: kubernetes.io/hostname
      labelSelector:
        matchLabels:
          {{- $selector | nindent 10 }}
      matchLabelKeys: [pod-template-hash]
    {{- else }}
    preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm:
        topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            {{- $selector | nindent 12 }}
        matchLabelKeys: [pod-template-hash]
    {{- end }}
{{- end }}
{{- with .topologySpreadConstraints }}
topologySpreadConstraints:
{{- range . }}
- topologyKey: {{ .topologyKey }}
  maxSkew: {{ int (.maxSkew | default 1) }}
  whenUnsatisfiable: {{ .whenUnsatisfiable | default "ScheduleAnyway" }}
  labelSelector:
    matchLabels:
      {{- $selector | nindent 6 }}
  matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Volumes and their mounts. The volumes take a list: root and component. */}}
{{- define "karmada-compute.volumes" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- range include "karmada-compute.planes" $root | fromJsonArray }}
- name: {{ . }}
  projected:
    defaultMode: 0440
    sources:
    {{- if and (eq . "hub") (eq $component "sessions") }}
    {{- include "karmada-compute.secretSources" (list $root $root.Values.sessions.secret true) | nindent 4 }}
    {{- else }}
    {{- include "karmada-compute.access" (list $root . (include "karmada-compute.credentialOf" (list $root $component))) | nindent 4 }}
    {{- end }}
{{- end }}
{{- if include "karmada-compute.certificates" $root }}
- name: certificates
  secret:
    secretName: {{ $root.Values.webhooks.certificates.secretName }}
    defaultMode: 0440
{{- end }}
{{- with $root.Values.webhooks.clientCA.secretName }}
- name: client-ca
  secret:
    secretName: {{ . }}
    defaultMode: 0440
    items:
    - key: {{ $root.Values.webhooks.clientCA.key }}
      path: ca.crt
{{- end }}
{{- end }}
{{- define "karmada-compute.volumeMounts" -}}
{{- $root := . -}}
- name: hub
  mountPath: /etc/karmada-compute/hub
  readOnly: true
{{- if not (include "karmada-compute.namespaces" $root) }}
- name: milo
  mountPath: /etc/karmada-compute/milo
  readOnly: true
{{- end }}
{{- if include "karmada-compute.certificates" $root }}
- name: certificates
  mountPath: /etc/karmada-compute/certificates
  readOnly: true
{{- end }}
{{- if $root.Values.webhooks.clientCA.secretName }}
- name: client-ca
  mountPath: /etc/karmada-compute/client-ca
  readOnly: true
{{- end }}
{{- end }}
