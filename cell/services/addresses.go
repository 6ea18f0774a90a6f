// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// addressGrace is how long the last addresses of a Service are reported after its load balancer or its Gateway has lost them:
// controllers that are upgraded, and a Gateway that is recreated, have none for a moment.
const addressGrace = time.Minute

// remember gives the wanted Service the addresses that are found, in an annotation. Without any, the last ones stay for
// addressGrace. They are in the Service, so that an agent that restarts knows them.
func (s *scope) remember(wanted *corev1.Service, annotation, found string) {
	if found != "" {
		metav1.SetMetaDataAnnotation(&wanted.ObjectMeta, annotation, found)
		return
	}
	last := s.existing.Annotations[annotation]
	if last == "" {
		return
	}
	now := s.Clock.Now()
	since, err := time.Parse(time.RFC3339, s.existing.Annotations[v1alpha.AnnotationAddressesMissing])
	if err != nil || since.After(now) {
		since = now.UTC().Truncate(time.Second)
	}
	remaining := since.Add(addressGrace).Sub(now)
	if remaining <= 0 {
		return
	}
	metav1.SetMetaDataAnnotation(&wanted.ObjectMeta, annotation, last)
	metav1.SetMetaDataAnnotation(&wanted.ObjectMeta, v1alpha.AnnotationAddressesMissing, since.Format(time.RFC3339))
	s.held = fmt.Sprintf("; it keeps %s until %s", last, since.Add(addressGrace).Format(time.RFC3339))
	s.RequeueAfter.AtMost(remaining)
}
