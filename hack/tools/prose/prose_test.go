// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package prose tests the style of hack/prose with the prose linter that `make lint-prose` runs.
package prose

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const configuration = "../../prose/vale.ini"

// alert is a finding of Vale about a line.
type alert struct {
	Check string
	Line  int
}

// lint returns the alerts about a page. Vale exits with 1 if it has any.
func lint(t *testing.T, page string) []alert {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", "tool", "vale", "--config="+configuration, "--output=JSON", file)
	command.Stderr = os.Stderr
	out, err := command.Output()
	var byFile map[string][]alert
	if decodeErr := json.Unmarshal(out, &byFile); decodeErr != nil {
		t.Fatalf("%v: %v\n%s", err, decodeErr, out)
	}
	var exit *exec.ExitError
	if failed := errors.As(err, &exit) && exit.ExitCode() == 1; failed != (len(byFile[file]) > 0) {
		t.Fatalf("Vale reports %v, and ends with %v", byFile[file], err)
	}
	return byFile[file]
}

// TestBadSentencesFail has a sentence for each rule, and for each common phrase.
func TestBadSentencesFail(t *testing.T) {
	for sentence, check := range map[string]string{
		"The Instance starts anew in another cell.":                   "Plain.Words",
		"A Work that was deleted is made again.":                      "Plain.Words",
		"The Pod runs for ever.":                                      "Plain.Words",
		"No karmada-controller-manager is at work.":                   "Plain.Words",
		"Look at the Pod in the cell.":                                "Plain.Words",
		"A minute has not put it right.":                              "Plain.Words",
		"No event tells of the deletion.":                             "Plain.Words",
		"The function says whether the cell is Ready.":                "Plain.Words",
		"Something failed on the way.":                                "Plain.Words",
		"The audit reads the way of the deployment.":                  "Plain.Words",
		"Instances go on running.":                                    "Plain.Words",
		"The cell comes back later.":                                  "Plain.Words",
		"The agent does not run, so that nobody reports.":             "Plain.Words",
		"The other cells have no room.":                               "Plain.Words",
		"The audit mended a Work.":                                    "Plain.Words",
		"The chart makes a Secret.":                                   "Plain.Words",
		"The hub has Karmada bring the agent to the cell.":            "Plain.Causative",
		"The repair makes Karmada reconcile the object.":              "Plain.Causative",
		"A replica is what serves admission.":                         "Plain.Clauses",
		"A condition shows how it is.":                                "Plain.Clauses",
		"The default is that of the cluster.":                         "Plain.Clauses",
		"Those that wait are counted.":                                "Plain.Clauses",
		"The deployment says why, and the message says who must act":  "Plain.Clauses",
		"Who may read the Secret may call admission.":                 "Plain.Subjects",
		"What runs stays where it is.":                                "Plain.Subjects",
		"| flag | help |\n| --- | --- |\n| `--x` | Mended objects. |": "Plain.Words",
	} {
		alerts := lint(t, "# Page\n\n"+sentence+"\n")
		if len(alerts) != 1 || alerts[0].Check != check {
			t.Errorf("%q: %v instead of one alert of %s", sentence, alerts, check)
		}
	}
}

// TestPlainSentencesPass has correct sentences that resemble the rules.
func TestPlainSentencesPass(t *testing.T) {
	page := `# Page

The add-on recreates the Instance. The Pod runs forever. Check the Pod in the cell. The cell recovers. Which replica owns the project?
What is a cell? The audit reads the path of the deployment. The default is the runtime of the cluster. The chart creates a Secret.
The agent shows how many Instances run. The name of the flag is ` + "`--made-anew`" + `.

| reason | actor | action |
| --- | --- | --- |
| Draining | nobody, then operator | The message reports the cause. |

` + "```sh\necho 'look at the way of the data'\n```\n"
	if alerts := lint(t, page); len(alerts) > 0 {
		t.Errorf("plain sentences fail: %v", alerts)
	}
}
