// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// Layout limits the width of the lines of a tree.
type Layout struct {
	// Columns of the terminal; 0 means no limit.
	Columns int
	// Wide adds the action that the user must take, the actor, and the start.
	Wide bool
	// All gives each Instance a line of its own, also where many are equal.
	All bool
}

// row is a Node with the lines of its branch.
type row struct {
	node *Node
	// branch leads to the node, and below to what continues it.
	branch, below string
}

// Lines renders a tree: the columns are name, state, reason, and address or message. A message that does not fit is
// wrapped below its object; in a terminal that is too narrow for the reasons, the reasons are wrapped as well.
func (n *Node) Lines(l Layout) []string {
	if !l.All {
		n = n.grouped()
	}
	rows := n.rows("", "")
	heads := make([][]string, len(rows))
	for i := range rows {
		heads[i] = []string{rows[i].branch + rows[i].node.title(), rows[i].node.State, rows[i].node.Reason}
	}
	narrow := l.Columns > 0 && slices.ContainsFunc(terminal.Align(heads),
		func(line string) bool { return terminal.Width(line) > l.Columns })
	if narrow {
		for i := range heads {
			heads[i] = heads[i][:2]
		}
	}
	var lines []string
	full := alignedWith(heads, rows)
	for i, head := range terminal.Align(heads) {
		below := rows[i].node.below(l.Wide)
		message := rows[i].node.beside()
		switch {
		case message == "" && !narrow:
			lines = append(lines, head)
		case !narrow && (l.Columns == 0 || terminal.Width(full[i]) <= l.Columns):
			lines = append(lines, full[i])
		default:
			lines = append(lines, head)
			if narrow {
				message = strings.Trim(rows[i].node.Reason+": "+message, ": ")
			}
			below = slices.Insert(below, 0, message)
		}
		indent := rows[i].below
		for _, text := range below {
			for _, line := range terminal.Wrap(text, max(l.Columns-terminal.Width(indent), min(l.Columns, 10))) {
				lines = append(lines, indent+line)
			}
		}
	}
	return lines
}

// alignedWith returns the lines with their messages beside them.
func alignedWith(heads [][]string, rows []row) []string {
	full := make([][]string, len(heads))
	for i := range heads {
		full[i] = append(slices.Clone(heads[i]), rows[i].node.beside())
	}
	return terminal.Align(full)
}

func (n *Node) rows(branch, below string) []row {
	own := below + "   "
	if len(n.Children) > 0 {
		own = below + "│  "
	}
	rows := []row{{node: n, branch: branch, below: own}}
	for i, child := range n.Children {
		lead, next := "├─ ", "│  "
		if i == len(n.Children)-1 {
			lead, next = "└─ ", "   "
		}
		rows = append(rows, child.rows(below+lead, below+next)...)
	}
	return rows
}

func (n *Node) title() string {
	switch n.Kind {
	case v1alpha.KindWorkloadDeployment:
		return n.City + "  " + n.Name
	case v1alpha.KindInstance:
		return n.Name
	case "Cell":
		return "cell " + n.Name
	}
	return strings.TrimSpace(n.Kind + " " + n.Name)
}

// beside returns the text at the end of a line: the address or the cause of its absence, the template, and the number
// of restarts.
func (n *Node) beside() string {
	text := n.Address
	if n.Finding != nil {
		text = firstLine(reasons.Clean(n.Finding.Message))
		if n.Finding.Warning {
			text = strings.TrimSpace(n.Address + "  warning: " + n.Finding.Reason + " " + text)
		}
	}
	if n.Template != "" {
		text = strings.TrimSpace(fmt.Sprintf("%s  (%s)", text, n.Template))
	}
	if data := n.data(); data != "" {
		text = strings.TrimSpace(fmt.Sprintf("%s  (%s)", text, data))
	}
	if n.Restarts > 0 {
		text = strings.TrimSpace(fmt.Sprintf("%s  (restarts: %d)", text, n.Restarts))
	}
	return text
}

// below returns the text below a line of a wide tree.
func (n *Node) below(wide bool) []string {
	if !wide || n.Finding == nil {
		return nil
	}
	var lines []string
	if n.Finding.Since != nil {
		lines = append(lines, "since "+n.Finding.Since.UTC().Format("2006-01-02 15:04:05Z"))
	}
	if n.Finding.Do != "" {
		lines = append(lines, fmt.Sprintf("-> %s: %s", n.Finding.Actor, n.Finding.Do))
	}
	return lines
}

func firstLine(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return line
}
