{{- define "type" -}}
{{- $type := . -}}
{{- if markdownShouldRenderType $type }}
## {{ $type.Name }}
{{ if $type.IsAlias }}
A {{ markdownRenderTypeLink $type.UnderlyingType }}.{{ if $type.Validation }} {{ template "rules" $type.Validation }}.{{ end }}
{{ end }}
{{ $type.Doc }}
{{ if and $type.References (not $type.GVK) }}
In {{ range $i, $reference := $type.SortedReferences }}{{ if $i }}, {{ end }}{{ markdownRenderTypeLink $reference }}{{ end }}.
{{ end }}
{{- if $type.Members }}
| field | | default | validation |
| --- | --- | --- | --- |
{{ range $type.Members -}}
| `{{ .Name  }}` {{ markdownRenderType .Type }} | {{ template "type_members" . }} | {{ if .Default }}`{{ .Default }}`{{ end }} | {{ template "rules" .Validation }} |
{{ end -}}
{{ end -}}
{{ if $type.EnumValues }}
| value | |
| --- | --- |
{{ range $type.EnumValues -}}
| `{{ .Name }}` | {{ .Doc | trim | replace "\n" " " | markdownRenderFieldDoc }} |
{{ end -}}
{{ end -}}
{{- end -}}
{{- end -}}
