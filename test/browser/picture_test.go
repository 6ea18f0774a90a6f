// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"slices"
)

// mostColours is the number of colours in a picture of the documentation. Most others are edges of letters.
const mostColours = 200

// fewColours returns a picture with its most frequent colours, which is a third as large.
func fewColours(content []byte) ([]byte, error) {
	taken, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	bounds, counts := taken.Bounds(), map[color.Color]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[taken.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int { return cmp.Compare(counts[b], counts[a]) })
	small := image.NewPaletted(bounds, colours[:min(len(colours), mostColours)])
	draw.Draw(small, bounds, taken, bounds.Min, draw.Src)
	out := &bytes.Buffer{}
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(out, small)
	return out.Bytes(), err
}
