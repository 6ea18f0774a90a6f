// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Trusted reports whether every configuration has the bundle. Without targets that is not known, and false.
func (r *Registration) Trusted(ctx context.Context, bundle []byte) (bool, error) {
	encoded := base64.StdEncoding.EncodeToString(bundle)
	return r.every(ctx, func(_ string, config map[string]any) bool { return config["caBundle"] == encoded })
}

// Carries reports whether every webhook is called at the path that path returns for its plain path. Without targets
// that is not known, and false.
func (r *Registration) Carries(ctx context.Context, path func(plain string) string) (bool, error) {
	return r.every(ctx, func(plain string, config map[string]any) bool {
		if r.URL != "" {
			return config["url"] == r.url(path(plain))
		}
		registered, _, err := unstructured.NestedString(config, "service", "path")
		return err == nil && registered == path(plain)
	})
}

// every reports whether every webhook of every configuration is registered and passes the check, which gets its plain
// path and its clientConfig.
func (r *Registration) every(ctx context.Context, check func(plain string, config map[string]any) bool) (bool, error) {
	if len(r.Targets) == 0 {
		return false, nil
	}
	for _, target := range r.Targets {
		for _, template := range target.Configurations {
			found, err := get(ctx, target.Client, template)
			if err != nil {
				return false, fmt.Errorf("read %s at %s: %w", template.GetName(), target.Name, err)
			}
			if found == nil {
				return false, nil
			}
			wanted, err := plainPaths(template)
			if err != nil {
				return false, err
			}
			webhooks, _, err := unstructured.NestedSlice(found.Object, "webhooks")
			if err != nil || len(webhooks) != len(wanted) {
				return false, err
			}
			for _, item := range webhooks {
				webhook, _ := item.(map[string]any)
				name, _ := webhook["name"].(string)
				config, _ := webhook["clientConfig"].(map[string]any)
				plain, known := wanted[name]
				if !known || !check(plain, config) {
					return false, nil
				}
			}
		}
	}
	return true, nil
}

// plainPaths are the paths of a configuration's webhooks, by the webhooks' names.
func plainPaths(template *unstructured.Unstructured) (map[string]string, error) {
	webhooks, _, err := unstructured.NestedSlice(template.Object, "webhooks")
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for _, item := range webhooks {
		webhook, ok := item.(map[string]any)
		if !ok {
			return nil, errors.New("a webhook is not an object")
		}
		name, _ := webhook["name"].(string)
		if paths[name], _, err = unstructured.NestedString(webhook, "clientConfig", "service", "path"); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// complete sets the address, the CAs, the users and the stage of a configuration's webhooks.
func (r *Registration) complete(
	ctx context.Context, template *unstructured.Unstructured, bundle []byte,
) (*unstructured.Unstructured, error) {
	wanted := template.DeepCopy()
	webhooks, found, err := unstructured.NestedSlice(wanted.Object, "webhooks")
	if err != nil || !found {
		return wanted, err
	}
	for _, item := range webhooks {
		webhook, ok := item.(map[string]any)
		if !ok {
			return nil, errors.New("a webhook is not an object")
		}
		if err := r.direct(webhook, bundle); err != nil {
			return nil, err
		}
		if err := errors.Join(r.except(ctx, webhook), r.stage(webhook)); err != nil {
			return nil, err
		}
	}
	return wanted, unstructured.SetNestedSlice(wanted.Object, webhooks, "webhooks")
}

func (r *Registration) direct(webhook map[string]any, bundle []byte) error {
	encoded := base64.StdEncoding.EncodeToString(bundle)
	plain, _, err := unstructured.NestedString(webhook, "clientConfig", "service", "path")
	if err != nil {
		return err
	}
	if r.URL != "" {
		return unstructured.SetNestedMap(webhook, map[string]any{"url": r.url(r.path(plain)), "caBundle": encoded}, "clientConfig")
	}
	return errors.Join(
		unstructured.SetNestedField(webhook, r.path(plain), "clientConfig", "service", "path"),
		unstructured.SetNestedField(webhook, encoded, "clientConfig", "caBundle"),
	)
}

func (r *Registration) path(plain string) string {
	if r.Paths == nil {
		return plain
	}
	return r.Paths.Path(plain)
}

func (r *Registration) url(path string) string { return strings.TrimSuffix(r.URL, "/") + path }

// redact removes secret paths from an error of an API server, which may quote a refused configuration.
func (r *Registration) redact(err error, template *unstructured.Unstructured) error {
	paths, pathsErr := plainPaths(template)
	if pathsErr != nil {
		return errors.New("the API server refuses it")
	}
	message := err.Error()
	for _, plain := range paths {
		message = strings.ReplaceAll(message, r.path(plain), plain)
	}
	if message == err.Error() {
		return err
	}
	return errors.New(message)
}
