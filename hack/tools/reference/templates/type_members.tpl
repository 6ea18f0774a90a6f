{{- define "type_members" -}}
{{- if eq .Name "metadata" -}}
Standard metadata of a Kubernetes object.
{{- else -}}
{{ .Doc | trim | replace "\n\n" "<br>" | replace "\n" " " | markdownRenderFieldDoc }}
{{- end -}}
{{- end -}}
