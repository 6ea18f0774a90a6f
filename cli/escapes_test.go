// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// escapes are text that a terminal obeys: sequences, control characters of one and of two bytes, and a change of
// direction.
const escapes = "\x1b[2J\x1b]0;t\x07\u009b31m\x7f\u202e"

// streaming are the commands that print what a container writes, which is the container's own terminal, and ui, which
// prints its own address and serves a browser.
var streaming = []string{"logs", "exec", "attach", "port-forward", "ui"}

// ofHub are the commands of operators that show no single project.
var ofHub = []string{"status", "adopt"}

// structural are the fields that identify an object, and the ones that cannot have a text: without them nothing of it is printed.
var structural = []string{"apiVersion", "kind", "resourceVersion", "uid", "continue", "cpu", "memory"}

// TestEscapes: whatever an object has, in any field, no command prints what a terminal obeys.
func TestEscapes(t *testing.T) {
	l := newLost(t)
	f := l.fixture
	w, d := f.scene()
	w.Spec.Placements[0] = spreading(placement("texas", 2, "DFW", "LAX"), 1, v1alpha.ReturnWhenHealthy)
	f.change(w)
	f.chosen(w, map[string]string{"texas": "LAX:Running DFW:Lost:LAX"})
	f.copied(d)
	l.runs(l.project("shop"), "web", uuid.NewUUID(), uuid.NewUUID())
	f.lease("a", now)
	f.event(f.Namespace.Name, about{w.UID, "Workload", "NoMatchingLocation", now})
	f.create(&v1alpha.WorkloadRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "web-1", Labels: map[string]string{v1alpha.LabelWorkloadUID: string(w.UID)}},
		Spec:       v1alpha.WorkloadRevisionSpec{Revision: 1, Template: w.Spec.Template},
	})
	manifest := filepath.Join(t.TempDir(), "evil.yaml")
	content := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + quoted("x\n"+escapes) +
		"}\nspec: {selector: {matchLabels: {a: b}}, template: " +
		"{metadata: {labels: {a: b}}, spec: {hostNetwork: true, containers: [{name: a, image: " + quoted(escapes) + "}]}}}\n"
	if err := os.WriteFile(manifest, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := map[string][][]string{
		"list":    {{}, {"-A", "-o", "wide"}, {"-o", "json"}},
		"run":     {{"second", "--image=nginx", "--city=DFW"}, {"third", "--image=nginx", "--city=DFW", "-o", "yaml"}},
		"tree":    {{}, {"web"}, {"web", "-o", "wide"}, {"web", "-o", "json"}, {"web", "-o", "jsonpath={}"}},
		"explain": {{"web"}, {d.Name + "-1"}, {"web", "-o", "yaml"}},
		"events":  {{"web"}, {"web", "-o", "json"}}, "restart": {{"web"}}, "scale": {{"web", "--replicas=2"}, {"web", "--replicas=3", "--diff"}},
		"convert":        {{"-f", manifest, "--city=DFW"}},
		"rollout status": {{"web", "--watch=false"}}, "rollout history": {{"web"}, {"web", "--revision=1"}}, "rollout undo": {{"web"}},
		"rollout restart": {{"web"}}, "rollout plan": {{"web"}, {"web", "-o", "json"}},
		"set image":     {{"web", "web=nginx:2"}, {"web", "db=nginx:2"}},
		"set env":       {{"web", "A=1"}, {"web", "A=1", "-c", "db"}},
		"set resources": {{"web", "--limits=cpu=1"}, {"web", "--limits=cpu=2", "--diff"}},
		"rollout pause": {{"web"}}, "rollout resume": {{"web"}}, "status": {{"--system-namespace", f.Namespace.Name}},
		"failover": {{"web", "--from=DFW"}, {"web", "--return"}, {"web", "--return", "LAX"}}, "version": {{}}, "adopt": {{}, {"--yes"}},
	}
	for _, name := range leaves(newCommand(
		Options{Use: "compute", Flags: genericclioptions.NewConfigFlags(true), Operator: true, Clock: clock.RealClock{}}, nil,
	), "") {
		if calls[name] == nil && !slices.Contains(streaming, name) {
			t.Errorf("command %q is not tried", name)
		}
	}
	// The names of the objects are kept at first, so that there is something to print, and then not even they.
	printed := 0
	for _, kept := range [][]string{
		append([]string{"name", "namespace", "type", "status", "cityCode", "phase", "controller"}, structural...), structural,
	} {
		config := f.evilProxy(kept)
		for name, all := range calls {
			for _, args := range all {
				printed += f.tryEscapes(config, name, args)
			}
		}
	}
	if printed < len(calls) {
		t.Errorf("only %d outputs have a text of another party: the test checks too little", printed)
	}
}

// tryEscapes calls a command as a consumer and as an operator. It returns in how many outputs there is a text of
// another party.
func (f *fixture) tryEscapes(config *rest.Config, name string, args []string) (printed int) {
	f.Helper()
	for _, operator := range []bool{slices.Contains(ofHub, name), true} {
		all := append(strings.Fields(name), args...)
		if operator && !slices.Contains(ofHub, name) && name != "convert" {
			all = append(all, "--project", "north")
		}
		r := f.call(call{config: config, operator: operator}, all...)
		text := r.out + r.errOut + messageOf(r.err)
		if strings.Contains(text, "[2J") || strings.Contains(text, `u001b`) {
			printed++
		}
		if at := strings.IndexFunc(text, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }); at >= 0 {
			f.Errorf("%s: a control character is printed: %.200q", all, text[max(0, at-50):])
		}
	}
	return printed
}

// messageOf returns the message that the process prints about an error.
func messageOf(err error) string {
	var out strings.Builder
	CleanErrors(&out, func(int) {})
	defer util.DefaultBehaviorOnFatal()
	util.CheckErr(err)
	return out.String()
}

// leaves are the commands that do something, with the names of their parents.
func leaves(of *cobra.Command, parent string) (names []string) {
	for _, sub := range of.Commands() {
		name := strings.TrimSpace(parent + " " + sub.Name())
		if sub.HasSubCommands() {
			names = append(names, leaves(sub, name)...)
		} else if sub.Name() != "help" && sub.Name() != "completion" {
			names = append(names, name)
		}
	}
	return names
}

func quoted(text string) string {
	return strings.ReplaceAll(strconv.QuoteToASCII(text), `\x7f`, `\u007f`)
}

// evilProxy is an API server that adds escapes to each text in its answers, but for these fields and times.
func (f *fixture) evilProxy(kept []string) *rest.Config {
	f.Helper()
	transport, err := rest.TransportFor(f.Config())
	if err != nil {
		f.Fatal(err)
	}
	target, err := url.Parse(f.Config().Host)
	if err != nil {
		f.Fatal(err)
	}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, "/apis/resourcemanager.miloapis.com/v1alpha1/projects/north/control-plane")
			r.Out.Header.Set("Accept", "application/json")
			r.Out.Header.Set("Accept-Encoding", "identity")
		},
		ModifyResponse: func(response *http.Response) error {
			body, err := io.ReadAll(response.Body)
			var tree map[string]any
			if err != nil || json.Unmarshal(body, &tree) != nil || strings.HasSuffix(asText(tree["kind"]), "ResourceList") ||
				strings.HasPrefix(asText(tree["kind"]), "API") {
				response.Body = io.NopCloser(bytes.NewReader(body))
				return err
			}
			if body, err = json.Marshal(spoiled(tree, kept)); err != nil {
				return err
			}
			response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			response.Header.Set("Content-Length", strconv.Itoa(len(body)))
			return nil
		},
	})
	f.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func asText(value any) string {
	text, _ := value.(string)
	return text
}

func spoiled(value any, kept []string) any {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			if !slices.Contains(kept, key) {
				value[key] = spoiled(member, kept)
			} else if _, isText := member.(string); !isText {
				value[key] = spoiled(member, kept)
			}
		}
	case []any:
		for i := range value {
			value[i] = spoiled(value[i], kept)
		}
	case string:
		if _, err := time.Parse(time.RFC3339, value); err != nil {
			return value + escapes
		}
	}
	return value
}
