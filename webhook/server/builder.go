// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Builder collects controllers and webhooks by name. Once both are registered, the flags --controllers and --webhooks
// select among them, so that one binary can run everything, controllers only or webhooks only. T is the argument of a
// controller's setup, usually a manager. A Builder is used by one goroutine, before anything runs.
type Builder[T any] struct {
	// DryRun allows every review; the refused reviews are counted and get a warning. It is read at each review.
	DryRun bool
	// Ignore allows reviews that end in an error, with a warning: an API server takes an error inside an AdmissionReview
	// for a refusal, whatever the failure policy. It is read at each review.
	Ignore bool

	controllers []controller[T]
	webhooks    []Webhook
	// The values of the flags: `*`, a name, or `-` and a name.
	selectedControllers []string
	selectedWebhooks    []string
	mistakes            []error
}

type controller[T any] struct {
	name  string
	setup func(T) error
}

// Webhook is a handler and where it is served.
type Webhook struct {
	// Name in flags and metrics.
	Name string
	// Path of the URL.
	Path string
	// Handler serves requests that have a deadline and a bounded body.
	Handler http.Handler
}

// RegisterController adds a controller. setup is called once, if the controller is selected.
func (b *Builder[T]) RegisterController(name string, setup func(T) error) *Builder[T] {
	if slices.ContainsFunc(b.controllers, func(c controller[T]) bool { return c.name == name }) {
		b.mistakes = append(b.mistakes, fmt.Errorf("controller %q is registered twice", name))
	}
	b.controllers = append(b.controllers, controller[T]{name: name, setup: setup})
	return b
}

// RegisterWebhook adds a webhook.
func (b *Builder[T]) RegisterWebhook(webhook Webhook) *Builder[T] {
	for _, other := range b.webhooks {
		if other.Name == webhook.Name || other.Path == webhook.Path {
			b.mistakes = append(b.mistakes, fmt.Errorf("webhooks %q at %s and %q at %s: names and paths are unique", other.Name,
				other.Path, webhook.Name, webhook.Path))
		}
	}
	b.webhooks = append(b.webhooks, webhook)
	return b
}

// RegisterAdmission adds a webhook that answers AdmissionReviews.
func (b *Builder[T]) RegisterAdmission(name, path string, handler admission.Handler) *Builder[T] {
	return b.RegisterWebhook(Webhook{Name: name, Path: path, Handler: &admission.Webhook{Handler: b.observed(handler)}})
}

// AddFlags adds --controllers and --webhooks, each to its group, if both are registered. Call it after the last
// registration.
func (b *Builder[T]) AddFlags(controllers, webhooks *pflag.FlagSet) {
	b.selectedControllers, b.selectedWebhooks = []string{"*"}, []string{"*"}
	if len(b.controllers) == 0 || len(b.webhooks) == 0 {
		return
	}
	const usage = "%s to run: * for all, a name for that one, -name for all but that one. There are %s."
	controllers.StringSliceVar(&b.selectedControllers, "controllers", b.selectedControllers,
		fmt.Sprintf(usage, "Controllers", strings.Join(b.controllerNames(), ", ")))
	webhooks.StringSliceVar(&b.selectedWebhooks, "webhooks", b.selectedWebhooks,
		fmt.Sprintf(usage, "Webhooks", strings.Join(b.webhookNames(), ", ")))
}

// Complete returns every mistake in the registrations and the selections.
func (b *Builder[T]) Complete() error {
	return errors.Join(append(slices.Clone(b.mistakes),
		check("--controllers", b.selectedControllers, b.controllerNames()),
		check("--webhooks", b.selectedWebhooks, b.webhookNames()),
	)...)
}

// Controllers reports whether any controller is selected.
func (b *Builder[T]) Controllers() bool {
	return slices.ContainsFunc(b.controllers, func(c controller[T]) bool { return selects(b.selectedControllers, c.name) })
}

// SetUpControllers sets up the controllers that are selected, in the order in which they were registered.
func (b *Builder[T]) SetUpControllers(options T) error {
	for _, c := range b.controllers {
		if !selects(b.selectedControllers, c.name) {
			continue
		}
		if err := c.setup(options); err != nil {
			return fmt.Errorf("set up controller %s: %w", c.name, err)
		}
	}
	return nil
}

// Webhooks are the selected ones.
func (b *Builder[T]) Webhooks() []Webhook {
	return slices.DeleteFunc(slices.Clone(b.webhooks), func(w Webhook) bool { return !selects(b.selectedWebhooks, w.Name) })
}

// Paths are the paths of all registered webhooks, selected or not.
func (b *Builder[T]) Paths() []string {
	return each(b.webhooks, func(w Webhook) string { return w.Path })
}

func (b *Builder[T]) controllerNames() []string {
	return each(b.controllers, func(c controller[T]) string { return c.name })
}

func (b *Builder[T]) webhookNames() []string {
	return each(b.webhooks, func(w Webhook) string { return w.Name })
}

func each[T any](list []T, text func(T) string) []string {
	texts := make([]string, 0, len(list))
	for _, item := range list {
		texts = append(texts, text(item))
	}
	return texts
}

// selects reports whether a list selects a name. As in Kubernetes' controller managers a name takes precedence over
// `*`.
func selects(list []string, name string) bool {
	switch {
	case slices.Contains(list, "-"+name):
		return false
	case slices.Contains(list, name):
		return true
	default:
		return slices.Contains(list, "*")
	}
}

func check(flag string, list, names []string) error {
	var mistakes []error
	for _, item := range list {
		name := strings.TrimPrefix(item, "-")
		if item != "*" && item != "-*" && !slices.Contains(names, name) {
			mistakes = append(mistakes, fmt.Errorf("%s: %q is not known, there are %s", flag, name, strings.Join(names, ", ")))
		}
	}
	return errors.Join(mistakes...)
}

// observed records how a review ended, for metrics and readiness, and applies DryRun and Ignore.
func (b *Builder[T]) observed(handler admission.Handler) admission.Handler {
	return admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
		response := handler.Handle(ctx, request)
		ended := outcomeOf(response)
		noteOutcome(ctx, ended)
		switch {
		case response.Allowed:
			return response
		case b.DryRun:
			return admission.Allowed("").WithWarnings("this would have been refused: " + messageOf(response))
		case b.Ignore && ended != denied:
			return admission.Allowed("").WithWarnings("this was not reviewed: " + messageOf(response))
		default:
			return response
		}
	})
}

func messageOf(response admission.Response) string {
	if response.Result == nil {
		return "no reason given"
	}
	return response.Result.Message
}

// outcomeOf distinguishes errors from denials.
func outcomeOf(response admission.Response) outcome {
	switch {
	case response.Allowed:
		return allowed
	case response.Result == nil:
		return denied
	default:
		return outcomeOfStatus(int(response.Result.Code))
	}
}
