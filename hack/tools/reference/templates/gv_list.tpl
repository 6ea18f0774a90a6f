{{- define "gvList" -}}
# The API

Generated from the types: the kinds of `compute.datumapis.com/v1alpha` and their fields. `kubectl explain` shows the same texts.
[Concepts](../concepts.md#objects) names the writer of each kind, and [reasons](reasons.md) lists the reasons of its conditions.
{{ range . }}{{ template "gvDetails" . }}{{ end }}
{{- end -}}
