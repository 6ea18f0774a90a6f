// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/karmada-compute/karmada-compute/test/site"
)

// TestSearchOfTheSite: the documentation's search finds a reason, and leads to it.
func TestSearchOfTheSite(t *testing.T) {
	chromium(t)
	folder := t.TempDir()
	if err := site.Build("../..", folder); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer server.Close()
	b := visit(t, server.URL+"/docs/how-to/command.html")
	b.run(chromedp.SendKeys("#search", "QuotaExceeded"))
	b.shows("#found", "Reasons: QuotaExceeded")
	b.run(chromedp.Click("#found a"))
	b.until("location.pathname === '/docs/reference/reasons.html' && location.hash === '#quotagranted-quotaexceeded'")
	b.shows(":target", "QuotaExceeded")

	b.sized(390, 844, "light")
	b.run(chromedp.Click(".menu"))
	b.until("location.hash === '#pages' && document.getElementById('pages').getBoundingClientRect().top < innerHeight")
}
