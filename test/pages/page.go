// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pages runs the commands of the documentation, page by page, and compares their output with the output on the
// page.
package pages

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Page is a document with commands.
type Page struct {
	// Path is the file.
	Path   string
	Blocks []Block
}

// Block is a code block of sh. Its commands run together.
type Block struct {
	// Line is the first line on the page, and Heading the heading above it.
	Line    int
	Heading string
	// Commands are the text of the block.
	Commands string
	// Prints is the expected output: a code block of text right after the commands. Nil: the page shows no output.
	Prints *string
	// NotRun is the reason why the commands are not run.
	NotRun string
}

// notRun begins the comment before a block with the reason why the block is not run.
const notRun = "<!-- not run: "

// Read reads a page.
func Read(path string) (*Page, error) {
	source, err := os.ReadFile(path) //nolint:gosec // The page is one of the repository.
	if err != nil {
		return nil, err
	}
	return parse(path, source), nil
}

// Example returns the code block of a page that contains a text.
func Example(path, contains string) (string, error) {
	found, err := examples(path, "", contains)
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("%s has %d code blocks with %q, want one", path, len(found), contains)
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// Manifests returns the code blocks of YAML of a page, which are no commands.
func Manifests(path string) ([]string, error) {
	return examples(path, "yaml", "")
}

// examples returns the code blocks of a page in a language, or in any for "", that contain a text.
func examples(path, language, contains string) ([]string, error) {
	source, err := os.ReadFile(path) //nolint:gosec // The page is one of the repository.
	if err != nil {
		return nil, err
	}
	var found []string
	root := goldmark.New().Parser().Parse(text.NewReader(source))
	// The walker returns no error.
	_ = ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if block, isCode := node.(*ast.FencedCodeBlock); isCode && entering {
			content := string(block.Lines().Value(source))
			if strings.Contains(content, contains) && (language == "" || language == string(block.Language(source))) {
				found = append(found, content)
			}
		}
		return ast.WalkContinue, nil
	})
	return found, nil
}

// Section returns a page with the blocks below a heading alone, which are all run, with words of the page replaced.
func (p *Page) Section(heading string, replace *strings.Replacer) *Page {
	result := &Page{Path: p.Path}
	for _, block := range p.Blocks {
		if block.Heading == heading {
			block.NotRun, block.Commands = "", replace.Replace(block.Commands)
			result.Blocks = append(result.Blocks, block)
		}
	}
	return result
}

func parse(path string, source []byte) *Page {
	page, heading := &Page{Path: path}, ""
	root := goldmark.New().Parser().Parse(text.NewReader(source))
	// The walker returns no error.
	_ = ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		switch node := node.(type) {
		case *ast.Heading:
			heading = string(node.Lines().Value(source))
		case *ast.FencedCodeBlock:
			if entering && string(node.Language(source)) == "sh" && node.Lines().Len() > 0 {
				page.Blocks = append(page.Blocks, Block{
					Line:    bytes.Count(source[:node.Lines().At(0).Start], []byte("\n")) + 1,
					Heading: heading, Commands: string(node.Lines().Value(source)),
					Prints: printed(node, source), NotRun: reason(node, source),
				})
			}
		}
		return ast.WalkContinue, nil
	})
	return page
}

// printed returns the code block of text after a block.
func printed(block ast.Node, source []byte) *string {
	next, ok := block.NextSibling().(*ast.FencedCodeBlock)
	if !ok || string(next.Language(source)) != "text" {
		return nil
	}
	content := string(next.Lines().Value(source))
	return &content
}

// reason returns the reason in the comment before a block.
func reason(block ast.Node, source []byte) string {
	before, ok := block.PreviousSibling().(*ast.HTMLBlock)
	if !ok {
		return ""
	}
	text := string(before.Lines().Value(source))
	if before.HasClosure() {
		text += string(before.ClosureLine.Value(source))
	}
	comment, found := strings.CutPrefix(text, notRun)
	if !found {
		return ""
	}
	return strings.Join(strings.Fields(strings.TrimSuffix(strings.TrimSpace(comment), "-->")), " ")
}
