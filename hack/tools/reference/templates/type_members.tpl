{{- define "type_members" -}}
{{- if eq .Name "metadata" -}}
That of every object of Kubernetes.
{{- else -}}
{{ .Doc | trim | replace "\n\n" "<br>" | replace "\n" " " | markdownRenderFieldDoc }}
{{- end -}}
{{- end -}}
