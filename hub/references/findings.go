// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

const (
	// maxObject is the maximum size of one object, in bytes.
	maxObject = 256 << 10
	// maxTogether is the maximum size of all objects that one deployment names, in bytes.
	maxTogether = 1 << 20
	// rootCA is the ConfigMap that Kubernetes writes to each namespace of each cluster, with contents of that cluster.
	rootCA = "kube-root-ca.crt"
)

// finding is a problem of an object in the project, and the size of the object. The zero value is the finding of an
// object that can be copied.
type finding struct {
	// reason is why the object cannot be copied, or "".
	reason string
	// message describes the problem and the remedy.
	message string
	// bytes is the size of the object.
	bytes int
}

// examine reports whether an object of the project can be copied. The finding must not quote its contents.
func examine(source client.Object) finding {
	kind := kindOf(source)
	held := contentOf(source)
	switch {
	case source.GetName() == rootCA && kind == templates.KindConfigMap:
		return finding{reason: v1alpha.ReasonSourceRefused, message: fmt.Sprintf(
			"ConfigMap %s comes from each cluster for itself and is not copied to cells; name a ConfigMap of your own", rootCA)}
	case held.secretType == corev1.SecretTypeServiceAccountToken:
		return finding{reason: v1alpha.ReasonSourceRefused, message: fmt.Sprintf(
			"Secret %s has type %s, which is valid only in its own cluster, and is not copied to cells; name a Secret of another type",
			source.GetName(), held.secretType)}
	case held.size() > maxObject:
		return finding{bytes: held.size(), reason: v1alpha.ReasonSourceTooLarge, message: fmt.Sprintf(
			"%s %s holds %d bytes and at most %d are copied to cells; make it smaller or split it", kind, source.GetName(), held.size(), maxObject)}
	}
	return finding{bytes: held.size()}
}

func missing(kind, name, namespace string) finding {
	return finding{reason: v1alpha.ReasonSourceNotFound, message: fmt.Sprintf(
		"%s %s does not exist in namespace %s of the project; create it", kind, name, namespace)}
}

func unreadable(kind, name, namespace string) finding {
	return finding{reason: v1alpha.ReasonSourceUnauthorized, message: fmt.Sprintf(
		"the add-on may not read %s %s in namespace %s of the project; allow it to get, list and watch %ss",
		kind, name, namespace, strings.ToLower(kind))}
}

func foreign(i item) finding {
	return finding{reason: v1alpha.ReasonSourceRefused, message: fmt.Sprintf(
		"the hub has a %s %s in namespace %s that is not the add-on's and is not overwritten; rename yours, or have that one removed",
		i.Kind, i.Name, i.hubNamespace)}
}
