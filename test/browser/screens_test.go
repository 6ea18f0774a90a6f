// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// screens checks what the page shows in light and dark colours, on a wide and a narrow screen: axe-core finds nothing, and nothing but
// tables and logs scrolls sideways.
func (b *browser) screens(name string) {
	b.Helper()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 390} {
			b.sized(width, 900, scheme)
			if wide := value[int](b, "document.documentElement.scrollWidth"); wide > int(width) {
				b.Errorf("%s, %s, %d wide: the page is %d wide", name, scheme, width, wide)
			}
			if found := b.faults(); found != "" {
				b.Errorf("%s, %s, %d wide: %s", name, scheme, width, found)
			}
		}
	}
}

// TestScreens: a broken Workload with long names, in all colours and widths.
func TestScreens(t *testing.T) {
	p := newProject(t)
	w, cities := p.running("web", 12, "DFW", "FRA", "ORD")
	p.running("shop", 2, "DFW")
	refused := is(v1alpha.ConditionReady, metav1.ConditionFalse, v1alpha.ReasonImageUnavailable, "the registry refuses the image "+
		"docker.io/library/a-long-name-without-a-place-to-break-the-line-that-is-wider-than-any-telephone:1.28.0-alpine3.21-perl-otel")
	for index := range 2 {
		i := &v1alpha.Instance{}
		p.must(p.Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: fmt.Sprintf("web-main-fra-%d", index+4)}, i))
		p.must(p.report(i, refused))
	}
	p.sumUp(w, cities[1])
	p.event(w, corev1.EventTypeWarning, "Failed", "an Instance in FRA does not start")

	b := open(t, testenv.Config(t), p.namespace)
	b.run(chromedp.Click(`a[href="#web"]`))
	b.shows("#workload", "2 stopped at their Instance", "an Instance in FRA does not start")
	b.screens("a broken Workload")
	b.sized(1200, 900, "dark")
	b.picture("ui-dark.png")
}
