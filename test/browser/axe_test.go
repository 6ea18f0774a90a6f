// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// rules runs axe-core: its usual rules, the best practices among them, and the size of targets. A rule that it cannot decide counts as
// a fault. Signs count as text, and the elements that an open dialog covers are hidden meanwhile: axe-core would not know the
// background of the dialog.
const rules = `(async () => {
  const dialog = document.querySelector('dialog[open]');
  const covered = dialog ? [...document.body.children].filter((element) => element !== dialog) : [];
  axe.configure({ checks: [{ id: 'color-contrast', options: { ...axe._audit.checks['color-contrast'].options, ignoreUnicode: false } }] });
  covered.forEach((element) => { element.style.display = 'none'; });
  const { violations, incomplete } = await axe.run(dialog ?? document, { rules: { 'target-size': { enabled: true } } });
  covered.forEach((element) => element.style.removeProperty('display'));
  return [...violations, ...incomplete].map(({ id, help, nodes }) =>
    id + ' (' + help + '): ' + nodes.map(({ html, any }) => html + ' ' + (any[0]?.message ?? '')).join('; ')).join('\n');
})()`

var axe = sync.OnceValues(func() (string, error) {
	repository, err := tools.FindRepository()
	if err != nil {
		return "", err
	}
	cache, err := tools.DefaultCache()
	if err != nil {
		return "", err
	}
	builder := &tools.Builder{Repository: repository, Cache: cache, Printf: func(string, ...any) {}}
	path, err := builder.Axe(context.Background())
	if err != nil {
		return "", err
	}
	script, err := os.ReadFile(path)
	return string(script), err
})

// faults returns what axe-core finds on the page as it is.
func (b *browser) faults() string {
	b.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		b.Skip("no npm, which installs axe-core: on Debian, apt-get install -y --no-install-recommends npm")
	}
	script, err := axe()
	if err != nil {
		b.Fatal(err)
	}
	if !value[bool](b, "'axe' in window") {
		b.run(chromedp.Evaluate[chromedp.Void](script))
	}
	return value[string](b, rules)
}

// TestFaultsAreFound: axe-core finds faint texts and signs, a control without a name, a table that the keyboard does not reach, and a
// target that is too small, in the dialog and on the page.
func TestFaultsAreFound(t *testing.T) {
	b := newFleet(1, "DFW").open(t)
	b.shows(".workloads", "web")
	if found := b.faults(); found != "" {
		t.Fatalf("the page itself has faults: %s", found)
	}
	b.run(chromedp.Evaluate[chromedp.Void](`for (const place of [document.getElementById('main'), document.querySelector('#path div')]) {
	  const add = (tag, text, style) => {
	    const element = place.appendChild(document.createElement(tag));
	    element.textContent = text;
	    Object.assign(element.style, style);
	    return element;
	  };
	  add('p', 'faint', { color: '#999', background: '#fff' });
	  add('span', '✓', { color: '#9a9', background: '#fff' });
	  add('button', '', {});
	  add('div', 'wide '.repeat(200), { width: '50px', height: '50px', overflow: 'scroll' });
	  for (const text of ['a', 'b']) add('button', text, { width: '9px', height: '9px', padding: '0', border: '0', margin: '0' });
	}`))
	find := func(where string) {
		t.Helper()
		found := b.faults()
		for _, part := range []string{
			"color-contrast", `">faint</p>`, `">✓</span>`, "button-name", "scrollable-region-focusable", "target-size",
		} {
			if !strings.Contains(found, part) {
				t.Errorf("on %s, axe-core finds no %s: %s", where, part, found)
			}
		}
	}
	find("the page")
	b.run(chromedp.Evaluate[chromedp.Void]("document.getElementById('path').showModal()"))
	find("the dialog")
}
