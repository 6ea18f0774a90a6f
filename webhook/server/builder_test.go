// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func newTestBuilder() (*Builder[*[]string], *pflag.FlagSet) {
	b := &Builder[*[]string]{}
	for _, name := range []string{"one", "two"} {
		b.RegisterController(name, func(set *[]string) error {
			*set = append(*set, name)
			return nil
		})
		b.RegisterWebhook(Webhook{Name: name, Path: "/" + name, Handler: http.NotFoundHandler()})
	}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	b.AddFlags(flags, flags)
	return b, flags
}

func TestSelection(t *testing.T) {
	cases := map[string]struct {
		args                          []string
		wantControllers, wantWebhooks []string
		wantErr                       string
	}{
		"everything":       {wantControllers: []string{"one", "two"}, wantWebhooks: []string{"one", "two"}},
		"controllers only": {args: []string{"--webhooks="}, wantControllers: []string{"one", "two"}},
		"webhooks only":    {args: []string{"--controllers=-*"}, wantWebhooks: []string{"one", "two"}},
		"by name": {
			args: []string{"--controllers=two", "--webhooks=one"}, wantControllers: []string{"two"}, wantWebhooks: []string{"one"},
		},
		"all but one": {
			args: []string{"--controllers=*,-two", "--webhooks=-one,*"}, wantControllers: []string{"one"}, wantWebhooks: []string{"two"},
		},
		"an unknown one":     {args: []string{"--controllers=*,three"}, wantErr: `--controllers: "three" is not known, there are one, two`},
		"an unknown without": {args: []string{"--webhooks=*,-three"}, wantErr: `--webhooks: "three"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b, flags := newTestBuilder()
			if err := flags.Parse(c.args); err != nil {
				t.Fatal(err)
			}
			if err := b.Complete(); c.wantErr != "" || err != nil {
				if c.wantErr == "" || err == nil || !strings.Contains(err.Error(), c.wantErr) {
					t.Errorf("error %v, want %q", err, c.wantErr)
				}
				return
			}
			var controllers, webhooks []string
			if err := b.SetUpControllers(&controllers); err != nil {
				t.Fatal(err)
			}
			if got := b.Paths(); !slices.Equal(got, []string{"/one", "/two"}) {
				t.Errorf("the paths of all webhooks are %v", got)
			}
			for _, webhook := range b.Webhooks() {
				webhooks = append(webhooks, webhook.Name)
			}
			if !slices.Equal(controllers, c.wantControllers) || !slices.Equal(webhooks, c.wantWebhooks) {
				t.Errorf("controllers %q, webhooks %q", controllers, webhooks)
			}
			if b.Controllers() != (len(c.wantControllers) > 0) {
				t.Errorf("Controllers() is %t with %q", b.Controllers(), controllers)
			}
		})
	}
}

// TestFlagsAppearByThemselves: there are no flags if only controllers or only webhooks are registered.
func TestFlagsAppearByThemselves(t *testing.T) {
	_, flags := newTestBuilder()
	if flags.Lookup("controllers") == nil || flags.Lookup("webhooks") == nil {
		t.Error("both are registered and the flags are missing")
	}
	only := &Builder[int]{}
	only.RegisterWebhook(Webhook{Name: "one", Path: "/one"})
	flags = pflag.NewFlagSet("test", pflag.ContinueOnError)
	only.AddFlags(flags, flags)
	if flags.Lookup("controllers") != nil || flags.Lookup("webhooks") != nil {
		t.Error("there is nothing to choose from and the flags are there")
	}
	if len(only.Webhooks()) != 1 || only.Controllers() {
		t.Error("what is registered is not selected")
	}
}

// TestWhatPasses: with DryRun all requests pass; with Ignore, requests that could not be reviewed pass. Each gets a
// warning.
func TestWhatPasses(t *testing.T) {
	answers := map[string]admission.Response{
		"allowed":     admission.Allowed("").WithWarnings("latest"),
		"denied":      admission.Denied("no such city"),
		"own fault":   admission.Errored(http.StatusInternalServerError, errOwn),
		"outage":      admission.Errored(http.StatusServiceUnavailable, errOutage),
		"one project": admission.Errored(http.StatusGatewayTimeout, errOutage),
	}
	refused, unreviewed := "this would have been refused: ", "this was not reviewed: "
	for name, c := range map[string]struct {
		builder Builder[int]
		// want has the warnings of answers that are changed to allowed. Other answers are not changed.
		want map[string]string
	}{
		"neither": {want: map[string]string{}},
		"DryRun": {builder: Builder[int]{DryRun: true}, want: map[string]string{
			"denied": refused + "no such city", "own fault": refused + errOwn.Error(), "outage": refused + errOutage.Error(),
			"one project": refused + errOutage.Error(),
		}},
		"Ignore": {builder: Builder[int]{Ignore: true}, want: map[string]string{
			"own fault": unreviewed + errOwn.Error(), "outage": unreviewed + errOutage.Error(), "one project": unreviewed + errOutage.Error(),
		}},
	} {
		for answered, answer := range answers {
			got := c.builder.observed(admission.HandlerFunc(func(context.Context, admission.Request) admission.Response { return answer })).
				Handle(t.Context(), admission.Request{})
			want := answer
			if warning := c.want[answered]; warning != "" {
				want = admission.Allowed("").WithWarnings(warning)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: answer is %+v, want %+v", name, answered, got, want)
			}
		}
	}
}

// TestServer: the timeouts of connections that are idle, also before their first request, are longer than the 90 s of
// API servers, so that these close idle connections.
func TestServer(t *testing.T) {
	r := start(t, nil)
	if server := r.server.httpServer(); min(server.IdleTimeout, server.ReadHeaderTimeout) <= 90*time.Second {
		t.Errorf("idle timeout %s, header timeout %s", server.IdleTimeout, server.ReadHeaderTimeout)
	}
}

func TestMistakesOfRegistration(t *testing.T) {
	b := &Builder[int]{}
	failing := errors.New("no")
	b.RegisterController("one", nil).RegisterController("one", func(int) error { return failing })
	b.RegisterWebhook(Webhook{Name: "one", Path: "/one"}).RegisterWebhook(Webhook{Name: "two", Path: "/one"})
	err := b.Complete()
	for _, want := range []string{`controller "one" is registered twice`, `"two" at /one`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
	b = &Builder[int]{}
	b.RegisterController("one", func(int) error { return failing })
	b.AddFlags(pflag.NewFlagSet("test", pflag.ContinueOnError), pflag.NewFlagSet("test", pflag.ContinueOnError))
	if err := b.SetUpControllers(1); !errors.Is(err, failing) || !strings.Contains(err.Error(), "one") {
		t.Errorf("error %v", err)
	}
}
