// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Eventually repeats a check until it succeeds or a timeout has passed.
type Eventually func(ctx context.Context, check func(context.Context) error) error

// Run runs the blocks of a page in their order, except blocks with a reason not to run them. A block with expected
// output is repeated until the output matches, because the observed state may take a while. show, unless it is nil, gets
// each block with what it has printed.
func (p *Page) Run(ctx context.Context, shell *Shell, eventually Eventually, show func(block *Block, printed string)) error {
	for i := range p.Blocks {
		block := &p.Blocks[i]
		if block.NotRun != "" {
			continue
		}
		printed := ""
		run := func(ctx context.Context) (err error) {
			printed, err = block.run(ctx, shell)
			return err
		}
		wait := eventually
		if block.Prints == nil {
			wait = func(ctx context.Context, once func(context.Context) error) error { return once(ctx) }
		}
		if err := wait(ctx, run); err != nil {
			return fmt.Errorf("%s:%d: %w", p.Path, block.Line, err)
		}
		if show != nil {
			show(block, printed)
		}
	}
	return nil
}

// longest bounds one run of the commands of a block.
const longest = 5 * time.Minute

// run returns what the commands print.
func (b *Block) run(ctx context.Context, shell *Shell) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	printed, err := shell.Run(ctx, b.Commands)
	switch {
	case b.Prints == nil && err != nil:
		return printed, fmt.Errorf("%w:\n%s", err, printed)
	case b.Prints != nil && !Matches(*b.Prints, printed):
		return printed, fmt.Errorf("the commands print\n%s\nand the page says\n%s", printed, *b.Prints)
	}
	return printed, nil
}

// Summary returns the number of blocks that are run, and why others are not.
func (p *Page) Summary() string {
	var not []string
	for _, block := range p.Blocks {
		if block.NotRun != "" {
			not = append(not, fmt.Sprintf("\n  line %d is not run: %s", block.Line, block.NotRun))
		}
	}
	return fmt.Sprintf("%s: %d of %d command blocks are run%s", p.Path, len(p.Blocks)-len(not), len(p.Blocks), strings.Join(not, ""))
}
