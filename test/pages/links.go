// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Document holds the parts of a Markdown file that links need.
type Document struct {
	// Links are the destinations of its links and images.
	Links []string
	// Anchors are the anchors that GitHub generates for its headings.
	Anchors map[string]bool
	// Prose is its text without code: an entry for each paragraph, heading or table cell.
	Prose []string
}

// ReadDocument reads a document.
func ReadDocument(path string) (*Document, error) {
	source, err := os.ReadFile(path) //nolint:gosec // The document is one of the repository.
	if err != nil {
		return nil, err
	}
	return parseDocument(source), nil
}

func parseDocument(source []byte) *Document {
	document := &Document{Anchors: map[string]bool{}}
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	// The walker returns no error.
	_ = ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.Link:
			document.Links = append(document.Links, string(node.Destination))
		case *ast.Image:
			document.Links = append(document.Links, string(node.Destination))
		case *ast.Heading:
			Anchor(Words(node, source, true), document.Anchors)
		}
		if HoldsText(node) {
			document.Prose = append(document.Prose, Words(node, source, false))
		}
		return ast.WalkContinue, nil
	})
	return document
}

// HoldsText reports whether a block contains text, and no other blocks.
func HoldsText(node ast.Node) bool {
	return node.Type() == ast.TypeBlock && node.FirstChild() != nil && node.FirstChild().Type() == ast.TypeInline
}

// Words returns the text of a block, and optionally the code in it.
func Words(block ast.Node, source []byte, code bool) string {
	var found strings.Builder
	// The walker returns no error.
	_ = ast.Walk(block, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if _, isCode := node.(*ast.CodeSpan); isCode && !code {
			return ast.WalkSkipChildren, nil
		}
		if text, ok := node.(*ast.Text); ok && entering {
			found.Write(text.Segment.Value(source))
			if text.SoftLineBreak() {
				found.WriteString(" ")
			}
		}
		return ast.WalkContinue, nil
	})
	return found.String()
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)

// Anchor returns the anchor of a heading, as GitHub generates it, and adds it to the anchors of the document that are taken.
func Anchor(heading string, taken map[string]bool) string {
	anchor := strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
	unique := anchor
	for i := 1; taken[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", anchor, i)
	}
	taken[unique] = true
	return unique
}

// BrokenLinks returns the links of a document that lead to no file or heading of the repository. Links to other sites
// are not followed.
func BrokenLinks(path string) ([]string, error) {
	document, err := ReadDocument(path)
	if err != nil {
		return nil, err
	}
	var broken []string
	for _, link := range document.Links {
		if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
			continue
		}
		file, anchor, _ := strings.Cut(link, "#")
		target := path
		if file != "" {
			target = filepath.Join(filepath.Dir(path), filepath.FromSlash(file))
		}
		if !leads(target, anchor) {
			broken = append(broken, link)
		}
	}
	return broken, nil
}

// leads reports whether a file exists and, if an anchor is given, has that heading.
func leads(path, anchor string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	if anchor == "" || filepath.Ext(path) != ".md" {
		return anchor == ""
	}
	document, err := ReadDocument(path)
	return err == nil && document.Anchors[anchor]
}
