// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/orisano/pixelmatch"
	"golang.org/x/image/draw"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
)

// mostColours is the number of colours in a stored picture.
const mostColours = 256

// fewColours returns a picture with its most frequent colours, which is a third as large.
func fewColours(taken image.Image) ([]byte, error) {
	bounds, counts := taken.Bounds(), map[color.Color]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[similar(taken.At(x, y))]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int { return cmp.Compare(counts[b], counts[a]) })
	small := image.NewPaletted(bounds, colours[:min(len(colours), mostColours)])
	draw.Draw(small, bounds, taken, bounds.Min, draw.Src)
	out := &bytes.Buffer{}
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(out, small)
	return out.Bytes(), err
}

// similar returns the one of 32,768 colours that is nearest to a colour: most others are edges of letters.
func similar(c color.Color) color.Color {
	near := func(channel uint32) uint8 { return uint8((channel*31 + 32767) / 65535 * 255 / 31) }
	r, g, b, _ := c.RGBA()
	return color.RGBA{R: near(r), G: near(g), B: near(b), A: 255}
}

// still stops the clock of a document at a time, and draws it with Go's fonts and without the signs that these lack, so that its
// pictures are the same on each machine.
const still = `{
  const now = %d;
  globalThis.Date = class extends Date {
    constructor(...time) { super(...(time.length ? time : [now])); }
    static now() { return now; }
  };
  const fonts = { Go: [['400', %q], ['700', %q]], 'Go Mono': [['400', %q]] };
  for (const [family, files] of Object.entries(fonts)) {
    for (const [weight, file] of files) {
      document.fonts.add(new FontFace(family, Uint8Array.from(atob(file), (c) => c.charCodeAt(0)), { weight }));
    }
  }
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(` + "`" + `
    * { font-family: Go !important; caret-color: transparent !important; }
    code, pre { font-family: 'Go Mono' !important; }
    .sign { font-size: 0 !important; width: 18px !important; }
    .sign::before { content: ''; display: inline-block; width: 9px; height: 9px; background: currentcolor; }
    .sign.bad::before { width: 15px; }
    .sign.busy::before { height: 3px; }
  ` + "`" + `);
  document.adoptedStyleSheets.push(sheet);
}`

// stopTime stops the clock of the documents that the browser opens from now on.
func (b *browser) stopTime(at time.Time) {
	b.Helper()
	text := base64.StdEncoding.EncodeToString
	script := page.AddScriptToEvaluateOnNewDocumentParams{
		Source: fmt.Sprintf(still, at.UnixMilli(), text(goregular.TTF), text(gobold.TTF), text(gomono.TTF)),
	}
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, script); err != nil {
		b.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "UTC"}); err != nil {
		b.Fatal(err)
	}
}

// screenshot returns what the browser shows.
func (b *browser) screenshot() image.Image {
	b.Helper()
	content, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.Fatal(err)
	}
	taken, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		b.Fatal(err)
	}
	return taken
}

// views has a picture of what each screen shows, at half of its size.
type views struct {
	*image.RGBA
	at int
}

func newViews() *views {
	var size image.Point
	for _, s := range screens {
		size = image.Pt(size.X+int(s.width)/2, max(size.Y, int(s.height)/2))
	}
	v := &views{RGBA: image.NewRGBA(image.Rectangle{Max: size})}
	draw.Draw(v, v.Bounds(), image.White, image.Point{}, draw.Src)
	return v
}

func (v *views) add(taken image.Image) {
	half := image.Rectangle{Max: taken.Bounds().Size().Div(2)}.Add(image.Pt(v.at, 0))
	draw.BiLinear.Scale(v, half, taken, taken.Bounds(), draw.Src, nil)
	v.at += half.Dx()
}

// mostDiffering is how many pixels of a picture may differ. Chromium 131 and 148 differ in 221.
const mostDiffering = 350

// compare compares a state with its picture, or takes it.
func (b *browser) compare(name string, taken *views) {
	b.Helper()
	path := "testdata/" + name + ".png"
	if os.Getenv("UPDATE") != "" {
		small, err := fewColours(taken)
		if err == nil {
			err = os.WriteFile(path, small, 0o600)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if found := b.differing(path, taken); found > mostDiffering {
		b.Errorf("%s: %d pixels differ from %s; `UPDATE=1 go test -C test ./browser -run %s` takes it again", name, found, path, b.Name())
	}
}

// differing returns how many pixels of a state differ from a picture.
func (b *browser) differing(path string, taken *views) int {
	b.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	stored, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		b.Fatal(err)
	}
	found, err := pixelmatch.MatchPixel(stored, taken.RGBA)
	if err != nil {
		b.Fatal(err)
	}
	return found
}
