{{- define "rules" -}}
{{- $more := false -}}
{{- range . -}}
{{- if ne . "Optional: {}" -}}
{{- if $more }}; {{ end }}{{ . | replace ": {}" "" | markdownRenderFieldDoc }}{{- $more = true -}}
{{- end -}}
{{- end -}}
{{- end -}}
