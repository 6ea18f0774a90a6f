{{- define "gvList" -}}
# The API

Generated from the types: the kinds of `compute.datumapis.com/v1alpha` and their fields. `kubectl explain` says the same. Who writes what is in
[concepts](../concepts.md#what-there-is), what conditions say in [reasons](reasons.md).
{{ range . }}{{ template "gvDetails" . }}{{ end }}
{{- end -}}
