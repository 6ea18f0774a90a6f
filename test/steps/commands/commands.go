// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cucumber/godog"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// addCommandSteps adds the sentences about commands in the documentation.
func addCommandSteps(sc world.Sentences) {
	sc.Step(`^the commands of "([^"]*)" under "([^"]*)" are run$`, func(ctx context.Context, file, heading string) error {
		output, err := from(ctx).runCommands(ctx, file, heading)
		if err != nil {
			return fmt.Errorf("%w: %s", err, lastLines(output))
		}
		return nil
	})
	sc.Step(`^the commands of "([^"]*)" under "([^"]*)" fail with "([^"]*)"$`, func(ctx context.Context, file, heading, why string) error {
		output, err := from(ctx).runCommands(ctx, file, heading)
		if err == nil || !strings.Contains(output, why) {
			return fmt.Errorf("they end with %w: %s", err, lastLines(output))
		}
		return nil
	})
	sc.Step(`^the commands print "([^"]*)"$`, func(ctx context.Context, text string) error {
		if output := from(ctx).Answer.Body; !strings.Contains(output, text) {
			return fmt.Errorf("they print %s", lastLines(output))
		}
		return nil
	})
	sc.Step(`^file "([^"]*)" of the commands has$`, func(ctx context.Context, name string, wanted *godog.Table) error {
		s := from(ctx)
		content, err := os.ReadFile(filepath.Join(s.AddOn.CommandsFolder(), name))
		if err != nil {
			return err
		}
		for _, row := range wanted.Rows {
			if !strings.Contains(string(content), row.Cells[0].Value) {
				return fmt.Errorf("there is no %q in it", row.Cells[0].Value)
			}
		}
		return nil
	})
}

// runCommands runs the blocks of sh below a heading of a document, in the folder with the kubeconfigs that the commands
// name. Their output is the scenario's answer, too. After the scenario the add-on has the default configuration again.
func (s Steps) runCommands(ctx context.Context, file, heading string) (string, error) {
	script, err := commandsUnder(file, heading)
	if err != nil {
		return "", err
	}
	s.installs()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	if err := s.AddOn.PrepareCommand(cmd); err != nil {
		return "", err
	}
	output, err := cmd.CombinedOutput()
	s.Answer.Body = string(output)
	return s.Answer.Body, err
}

// installs restores the add-on's default configuration after the scenario.
func (s Steps) installs() {
	s.CommandsRun.Store(true)
	s.Disturbed.Add("the installation", func(ctx context.Context) error { return s.AddOn.Configure(ctx, nil) })
}

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// commandsUnder returns the commands below a heading of the second level.
func commandsUnder(file, heading string) (string, error) {
	repository, err := tools.FindRepository()
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(file)))
	if err != nil {
		return "", err
	}
	_, section, found := strings.Cut(string(content), "\n## "+heading+"\n")
	if !found {
		return "", fmt.Errorf("%s has no heading %q", file, heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var script strings.Builder
	for _, block := range shellBlock.FindAllStringSubmatch(section, -1) {
		script.WriteString(block[1])
	}
	if script.Len() == 0 {
		return "", fmt.Errorf("%s has no commands under %q", file, heading)
	}
	return script.String(), nil
}

func lastLines(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "; ")
}
