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

// faint returns the texts whose contrast is below the one that WCAG 2.2 AA asks for.
const faint = `(() => {
  const colour = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const found = colour(getComputedStyle(element).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('body *')]
    .filter((element) => element.checkVisibility())
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()))
    .map((element) => {
      const [a, b] = [light(colour(getComputedStyle(element).color)), light(behind(element))];
      return { text: element.innerText, ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) };
    })
    .filter(({ ratio }) => ratio < 4.5).map(({ text, ratio }) => text + ' ' + ratio.toFixed(2)).join('; ');
})()`

// unnamed returns the controls without a name, and the scrolling tables that the keyboard does not reach.
const unnamed = `[...document.querySelectorAll('button, a, dialog, [role=region], progress, meter')]
  .filter((element) => !(element.innerText?.trim() || element.ariaLabel || element.getAttribute('aria-labelledby')) ||
    element.getAttribute('role') === 'region' && element.tabIndex < 0)
  .map((element) => element.outerHTML).join('; ')`

// TestScreens: in light and dark colours, and on a wide and a narrow screen, all text has contrast, all controls have
// names, and nothing but tables scrolls sideways.
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
	backgrounds := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1200, 360} {
			b.sized(width, 900, scheme)
			if wide := value[int](b, "document.documentElement.scrollWidth"); wide > int(width) {
				t.Errorf("%s, %d wide: the page is %d wide", scheme, width, wide)
			}
			if found := value[string](b, faint); found != "" {
				t.Errorf("%s, %d wide: too little contrast: %s", scheme, width, found)
			}
			if found := value[string](b, unnamed); found != "" {
				t.Errorf("%s, %d wide: without a name: %s", scheme, width, found)
			}
		}
		backgrounds[scheme] = value[string](b, "getComputedStyle(document.body).backgroundColor")
	}
	if backgrounds["light"] == backgrounds["dark"] {
		t.Errorf("both are %s", backgrounds["light"])
	}
	b.sized(1200, 900, "dark")
	b.picture("ui-dark.png")
}
