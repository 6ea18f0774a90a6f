// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"os/exec"
	"strings"
	"testing"

	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// asComponent is set if the test binary must run as a component: a log can be configured only once in a process.
const asComponent = "KARMADA_COMPUTE_TEST_COMPONENT"

func TestMain(m *testing.M) {
	if os.Getenv(asComponent) != "" {
		os.Exit(newTestee().Main())
	}
	os.Exit(m.Run())
}

// testee has a flag of its own, and its Run logs and fails.
type testee struct {
	colour    string
	endpoints Endpoints
	client    Client
}

// AddFlags implements Options.
func (o *testee) AddFlags(groups *cliflag.NamedFlagSets) {
	groups.FlagSet("paint").StringVar(&o.colour, "the-colour", "red", "Colour.")
	o.client.AddFlags(groups.FlagSet("clients"))
	o.endpoints.AddFlags(groups.FlagSet("metrics and health"), "none")
}

// Validate implements Options.
func (o *testee) Validate() error {
	if o.colour == "none" {
		return errors.Join(errors.New("--the-colour: none is no colour"), o.endpoints.Validate())
	}
	return errors.Join(o.client.Validate(), o.endpoints.Validate())
}

func newTestee() *Component {
	o := &testee{client: Client{QPS: 1, Burst: 2}}
	return &Component{Name: "testee", Long: "testee is tested.", Options: o, Run: func(context.Context) error {
		ctrl.Log.WithName("controller").Info("by controller-runtime")
		klog.V(2).InfoS("by client-go")
		log.Print("by package log")
		return errors.New("it is broken")
	}}
}

// runTestee returns the exit code and the output of a testee with its own process.
func runTestee(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), own, args...)
	command.Env = append(os.Environ(), asComponent+"=1")
	command.Stdout, command.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

func TestHelpHasGroups(t *testing.T) {
	code, out, _ := runTestee(t, "--help")
	at := 0
	for _, want := range []string{
		"testee is tested.", "Paint flags:", "--the-colour", "Clients flags:", "--kube-api-qps", "Metrics and health flags:", "--profiling",
		"Logs flags:", "--logging-format", "-v, --v", "--vmodule", "Global flags:", "-h, --help", "--version",
	} {
		found := strings.Index(out[at:], want)
		if found < 0 {
			t.Fatalf("%q is not in its place in\n%s", want, out)
		}
		at += found
	}
	if code != 0 || strings.Contains(out, "Alpha") {
		t.Errorf("exit code %d, or flags of alpha features in\n%s", code, out)
	}
}

func TestVersionNeedsNoOtherFlag(t *testing.T) {
	code, out, errOut := runTestee(t, "--version", "--the-colour=none")
	if code != 0 || !strings.HasPrefix(out, "testee v") || errOut != "" {
		t.Errorf("exit code %d, %q, %q", code, out, errOut)
	}
}

// TestMistakesArePlain: mistakes in the flags are not written as log lines, and each of them is reported.
func TestMistakesArePlain(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"values": {
			[]string{"--the-colour=none", "--logging-format=xml", "--profiling", "--metrics-bind-address=0", "--health-probe-bind-address=:http"},
			"testee: --the-colour: none is no colour\n" +
				"--health-probe-bind-address: \":http\" is neither 0 nor an address such as :8080 or 127.0.0.1:8080\n" +
				"--profiling: profiles are served beside the metrics, set --metrics-bind-address\n" +
				"--logging-format, -v, --vmodule, --log-flush-frequency: format: Invalid value: \"xml\": Unsupported log format\n",
		},
		"an unknown flag":    {[]string{"--colour=red"}, "testee: unknown flag: --colour\n"},
		"an argument":        {[]string{"red"}, "testee: unknown command \"red\" for \"testee\"\n"},
		"an alpha feature":   {[]string{"--log-text-split-stream"}, "testee: unknown flag: --log-text-split-stream\n"},
		"a rate of nothing":  {[]string{"--kube-api-qps=0"}, "testee: --kube-api-qps: 0 allows no request; give a rate, or -1 for no limit\n"},
		"a rate, no request": {[]string{"--kube-api-burst=0"}, "testee: --kube-api-burst: 0 is less than 1\n"},
	} {
		code, out, errOut := runTestee(t, test.args...)
		if code != 1 || out != "" || errOut != test.want {
			t.Errorf("%s: exit code %d, %q, %q", name, code, out, errOut)
		}
	}
}

// TestOneLog: all packages write to the same log, which begins with the version and the flags, with underscores or
// without.
func TestOneLog(t *testing.T) {
	code, _, errOut := runTestee(t, "--logging-format=json", "--the_colour=blue", "-v=2")
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	var messages []string
	for line := range strings.SplitSeq(strings.TrimSpace(errOut), "\n") {
		var entry struct {
			Msg, Version, Commit, Platform, Err string
			Flags                               []string
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		switch {
		case entry.Msg == "Starting testee":
			if want := "--logging-format=json --the-colour=blue --v=2"; entry.Version == "" || entry.Commit == "" ||
				entry.Platform == "" || strings.Join(entry.Flags, " ") != want {
				t.Errorf("start: %s", line)
			}
		case entry.Msg == "Failed" && entry.Err != "it is broken":
			t.Errorf("end: %s", line)
		}
		if !strings.HasPrefix(entry.Msg, "FLAG: ") {
			messages = append(messages, strings.TrimSpace(entry.Msg))
		} else if strings.Contains(entry.Msg, "--the-colour") {
			messages = append(messages, strings.TrimSpace(entry.Msg))
		}
	}
	if got, want := strings.Join(messages, "; "),
		`Starting testee; FLAG: --the-colour="blue"; by controller-runtime; by client-go; by package log; Failed`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTextLog(t *testing.T) {
	_, _, errOut := runTestee(t, "--vmodule=command_test=3")
	for _, want := range []string{
		"\"Starting testee\" version=", "by controller-runtime", "by client-go", "by package log", "\"Failed\" err=\"it is broken\"",
	} {
		if !strings.Contains(errOut, want) {
			t.Errorf("%s is not in\n%s", want, errOut)
		}
	}
	if strings.Contains(errOut, "FLAG:") {
		t.Errorf("every flag is logged at -v=0:\n%s", errOut)
	}
}
