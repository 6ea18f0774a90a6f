// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"
	"image"
	"testing"

	"github.com/chromedp/chromedp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// screen is a wide or a narrow screen in light or dark colours.
type screen struct {
	width, height int64
	scheme        string
}

var screens = []screen{{1280, 800, "light"}, {1280, 800, "dark"}, {390, 1100, "light"}, {390, 1100, "dark"}}

// check checks what the page shows on each screen: axe-core finds nothing, and nothing but tables and logs scrolls sideways.
func (b *browser) check(name string, look ...func(image.Image)) {
	b.Helper()
	for _, s := range screens {
		b.sized(s.width, s.height, s.scheme)
		if wide := value[int](b, "document.documentElement.scrollWidth"); wide > int(s.width) {
			b.Errorf("%s on %v: the page is %d wide", name, s, wide)
		}
		for _, each := range look {
			each(b.screenshot())
		}
		if found := b.faults(); found != "" {
			b.Errorf("%s on %v: %s", name, s, found)
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
	b.check("a broken Workload")
	b.sized(1200, 900, "dark")
	b.picture("ui-dark.png")
}
