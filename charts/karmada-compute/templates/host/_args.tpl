{{/* Arguments of the host's binary. Takes a list: root, and whether it runs controllers, webhooks, and streams alone. */}}
{{- define "karmada-compute.hostArgs" -}}
{{- $root := index . 0 -}}
{{- $bind := $root.Values.host.bindAddress -}}
- --kubeconfig=/etc/karmada-compute/hub/kubeconfig
{{- if or (index . 1) (index . 2) }}
{{- with include "karmada-compute.renewed" (list $root (ternary "karmada-compute" "webhook" (index . 1))) }}
- --token-secret={{ $root.Release.Namespace }}/{{ . }}
{{- if and (index $ 2) (include "karmada-compute.sessions" $root) }}
- --session-token-secret={{ $root.Release.Namespace }}/{{ $root.Values.sessions.secret.name }}
{{- end }}
{{- end }}
{{- end }}
{{- if include "karmada-compute.namespaces" $root }}
- --projects=namespaces
{{- else }}
- --milo-kubeconfig=/etc/karmada-compute/milo/kubeconfig
{{- end }}
- --namespace={{ $root.Values.hub.namespace }}
- --default-instance-type={{ $root.Values.defaultInstanceType }}
- --replica-name=$(POD_NAME)
- --project-idle-after={{ $root.Values.projects.idleAfter }}
{{- with $root.Values.controllers.quota }}
{{- if .enabled }}
- --quota
{{- with .projectSelector }}
- --quota-projects={{ . }}
{{- end }}
{{- end }}
{{- end }}
{{- include "karmada-compute.nameArgs" $root }}
- --kube-api-qps={{ $root.Values.access.kubeAPIQPS }}
- --kube-api-burst={{ int $root.Values.access.kubeAPIBurst }}
- --metrics-bind-address={{ if $root.Values.host.metrics.enabled }}{{ $bind }}:8080{{ else }}0{{ end }}
- --health-probe-bind-address={{ $bind }}:8081
{{- if index . 1 }}
{{- include "karmada-compute.controllerArgs" $root }}
{{- else }}
- --controllers=-*
{{- end }}
{{- if index . 2 }}
{{- include "karmada-compute.webhookArgs" $root }}
{{- include "karmada-compute.sessionArgs" (list $root (ternary "elsewhere" "here" $root.Values.sessions.separate)) }}
{{- include "karmada-compute.featureArgs" $root }}
{{- else }}
- --webhooks=
{{- if index . 3 }}
{{- include "karmada-compute.sessionArgs" (list $root "only") }}
{{- include "karmada-compute.featureArgs" $root }}
{{- end }}
{{- end }}
{{- include "karmada-compute.serveArgs" $root }}
{{- include "karmada-compute.args" (list $root "host") }}
{{- with $root.Values.host.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Controllers and webhooks need the same names: one writes them, the other refuses them. */}}
{{- define "karmada-compute.nameArgs" -}}
{{- with .Values.names }}
{{- with .pattern }}
- --names-pattern={{ . }}
{{- end }}
{{- range $project, $domains := .domains }}
{{- range $domains }}
- {{ printf "--names-domain=%s=%s" $project . | quote }}
{{- end }}
{{- end }}
- --names-ttl={{ .ttl }}
- --names-return-after={{ .returnAfter }}
- --names-panic-threshold={{ int .panicThreshold }}
{{- with .resolver }}
- {{ printf "--names-resolver=%s" . | quote }}
{{- end }}
{{- range $city, $properties := .properties }}
{{- range $name, $value := $properties }}
- {{ printf "--names-property=%s:%s=%s" $city $name $value | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "karmada-compute.controllerArgs" -}}
{{- with .Values.controllers }}
- --controllers={{ join "," .select }}
- --concurrency={{ int .concurrency }}
- --project-concurrency={{ int .projectConcurrency }}
- --shards={{ int .shards }}
- --lease-duration={{ .leaseDuration }}
- --cell-failover-after={{ .cellFailoverAfter }}
- --hold-cities={{ .holdCities }}
- --peer-bind-address={{ $.Values.host.bindAddress }}:9445
- --project-sweep={{ $.Values.projects.sweep }}
- --max-project-data-bytes={{ int64 $.Values.limits.projectDataBytes }}
{{- end }}
{{- end }}

{{- define "karmada-compute.webhookArgs" -}}
{{- $root := . }}
{{- with .Values.webhooks }}
- --webhooks={{ join "," .select }}
- --webhook-port=9443
{{- with $root.Values.host.bindAddress }}
- --webhook-bind-address={{ . }}
{{- end }}
{{- with include "karmada-compute.webhookURL" $root }}
- --webhook-url={{ . }}
{{- end }}
- --register-webhooks={{ .register }}
{{- with include "karmada-compute.addOnUsers" $root }}
- --add-on-users={{ . }}
{{- end }}
{{- end }}
- --admission-mode={{ .Values.admission.mode }}
{{- with .Values.admission.namespaceSelector }}
- --admission-namespace-selector={{ . }}
{{- end }}
{{- with .Values.limits }}
- --max-template-bytes={{ int64 .templateBytes }}
- --max-city-bytes={{ int64 .cityBytes }}
- --max-project-instances={{ int64 .projectInstances }}
- --max-project-bytes={{ int64 .projectBytes }}
{{- end }}
- --interpreter-mode={{ .Values.interpreterMode }}
{{- end }}

{{/* Arguments for sessions. Takes a list: root, and the process that carries the streams. */}}
{{- define "karmada-compute.sessionArgs" -}}
{{- $root := index . 0 }}
{{- $streams := index . 1 }}
{{- with $root.Values.sessions }}
{{- if include "karmada-compute.sessions" $root }}
{{- if not .url }}
{{- fail "sessions.url: set the URL at which consumers reach Service karmada-compute-sessions" }}
{{- end }}
- --session-streams={{ $streams }}
{{- if and (eq $streams "elsewhere") (include "karmada-compute.namespaces" $root) }}
{{- $users := list }}
{{- range .subjects }}
{{- if ne .kind "Group" }}
{{- $users = append $users (include "karmada-compute.username" (list . $root.Values.hub.namespace)) }}
{{- end }}
{{- end }}
- --session-users={{ join "," $users }}
{{- end }}
- --session-kubeconfig=/etc/karmada-compute/sessions/kubeconfig
- --session-namespace={{ .namespace }}
- --session-url={{ .url }}
- --session-port=9444
{{- with $root.Values.host.bindAddress }}
- --session-bind-address={{ . }}
{{- end }}
- --max-user-sessions={{ int .perUser }}
- --max-project-sessions={{ int .perProject }}
- --max-streams={{ int .streams }}
- --session-bytes-per-second={{ int64 .bytesPerSecond }}
- --session-idle-timeout={{ .idleTimeout }}
{{- end }}
{{- end }}
{{- end }}

{{- define "karmada-compute.featureArgs" -}}
{{- $features := deepCopy .Values.featureGates }}
{{- if .Values.sessions.logs }}
{{- $_ := set $features "InstanceLogs" true }}
{{- end }}
{{- if .Values.sessions.exec }}
{{- $_ := set $features "InstanceExec" true }}
{{- end }}
{{- with $features }}
{{- $gates := list }}
{{- range $name, $on := . }}
{{- $gates = append $gates (printf "%s=%t" $name $on) }}
{{- end }}
- --feature-gates={{ join "," $gates }}
{{- end }}
{{- end }}

{{/* Users that the add-on's controllers are at Milo. Pods that serve webhooks only are another user there. */}}
{{- define "karmada-compute.addOnUsers" -}}
{{- $users := .Values.webhooks.addOnUsers -}}
{{- if and (not $users) .Values.host.separateWebhooks -}}
{{- range .Values.milo.subjects -}}
{{- if ne .kind "Group" -}}
{{- $users = append $users (include "karmada-compute.username" (list . "")) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- join "," $users -}}
{{- end }}

{{/* How webhooks and metrics are served: the certificates are those of both. */}}
{{- define "karmada-compute.serveArgs" -}}
{{- $root := . }}
{{- with .Values.webhooks }}
{{- if include "karmada-compute.certificates" $root }}
- --webhook-cert-dir=/etc/karmada-compute/certificates
{{- else }}
- --webhook-ca-lifetime={{ .certificates.caLifetime }}
{{- end }}
- --webhook-ca-trust-delay={{ .certificates.caTrustDelay }}
- --webhook-path-lifetime={{ .paths.lifetime }}
- --shutdown-delay-duration={{ int .shutdownDelaySeconds }}s
{{- if .clientCA.secretName }}
- --client-ca-file=/etc/karmada-compute/client-ca/ca.crt
{{- end }}
- --authorization-always-allow-groups={{ join "," .alwaysAllowGroups }}
{{- end }}
{{- end }}
