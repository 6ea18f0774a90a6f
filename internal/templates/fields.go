// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"slices"
	"strings"
)

// Fields of an Instance that a variable may have as its value, by the path that a Pod has for the same field
// (valueFrom.fieldRef). Labels have index, city and placement; the annotation AnnotationProjectName is the project.
const (
	FieldName        = "metadata.name"
	FieldNamespace   = "metadata.namespace"
	FieldLabels      = "metadata.labels"
	FieldAnnotations = "metadata.annotations"
	FieldAddress     = "status.podIP"
	FieldAddresses   = "status.podIPs"
)

// FieldPaths are the paths of valueFrom.fieldRef that cells honour.
var FieldPaths = []string{
	FieldName, FieldNamespace, FieldLabels + "['<key>']", FieldAnnotations + "['<key>']", FieldAddress, FieldAddresses,
}

// SplitFieldPath divides a path such as metadata.labels['<key>'] into the field and its key. known is false for a path
// that no cell honours.
func SplitFieldPath(path string) (field, key string, known bool) {
	field, tail, subscripted := strings.Cut(path, "['")
	if !subscripted {
		return path, "", slices.Contains([]string{FieldName, FieldNamespace, FieldAddress, FieldAddresses}, path)
	}
	key, closed := strings.CutSuffix(tail, "']")
	return field, key, closed && key != "" && (field == FieldLabels || field == FieldAnnotations)
}

// BaselineCapabilities are the capabilities that the baseline of Pod security, which the namespaces of projects enforce, allows to add, and
// DefaultCapabilities are the ones that containers keep unless the operator of a cell chooses others: images that start as root need them.
var (
	BaselineCapabilities = []string{
		"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID",
		"SETPCAP", "SETUID", "SYS_CHROOT",
	}
	DefaultCapabilities = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"}
)

// IsPlainAnnotation reports whether an annotation of a template is copied to Pods in every cell. Runtimes, network
// plugins and admission of a cell read annotations whose keys have a domain: the operator of the cell allows these by
// name.
func IsPlainAnnotation(key string) bool { return !strings.ContainsAny(key, "./") }

// IsPlainLabel reports whether the Pods in every cell have a label of a template: one without a domain, or one of
// Kubernetes' recommended labels, which steer nothing.
func IsPlainLabel(key string) bool {
	return !strings.Contains(key, "/") || strings.HasPrefix(key, "app.kubernetes.io/")
}
