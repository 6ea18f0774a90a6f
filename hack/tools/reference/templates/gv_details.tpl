{{- define "gvDetails" -}}
{{- $gv := . -}}
{{- $yours := list "Workload" "Instance" "InstanceType" "InstanceSession" "WorkloadDeployment" "WorkloadRevision" -}}
{{ range $yours }}
- {{ $gv.TypeForKind . | markdownRenderTypeLink }}
{{- end }}

The add-on alone writes these between the hub and its cells:
{{ range $gv.SortedKinds }}{{ if not (has . $yours) }}
- {{ $gv.TypeForKind . | markdownRenderTypeLink }}
{{- end }}{{ end }}
{{ range $yours }}{{ template "type" ($gv.TypeForKind .) }}{{ end }}
{{- range $gv.SortedKinds }}{{ if not (has . $yours) }}{{ template "type" ($gv.TypeForKind .) }}{{ end }}{{ end }}
{{- range $gv.SortedTypes }}{{ if not .GVK }}{{ template "type" . }}{{ end }}{{ end }}
{{- end -}}
