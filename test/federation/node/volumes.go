// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

const (
	defaultMode = 0o644
	// volumeRetry is the delay before the node retries a failed write of a volume. The node watches the sources of
	// volumes, so this is only for failures without a change of the source.
	volumeRetry = time.Second
)

func (p *pod) volumeFolder(name string) string { return filepath.Join(p.folder, "volumes", name) }

// writeVolumes brings all volumes of the Pod up to date. It returns the time at which they must be written again
// without a change: tokens must be renewed.
func (p *pod) writeVolumes(ctx context.Context) (time.Time, error) {
	var errs []error
	var next time.Time
	for _, volume := range p.current().Spec.Volumes {
		renewal, err := p.writeVolume(ctx, &volume)
		if err != nil {
			errs = append(errs, fmt.Errorf("volume %s: %w", volume.Name, err))
		}
		next = earlier(next, renewal)
	}
	renewal, err := p.writeAccess(ctx)
	if err != nil {
		errs = append(errs, fmt.Errorf("access of service account %s: %w", serviceAccount(p.current()), err))
	}
	return earlier(next, renewal), errors.Join(errs...)
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func (p *pod) writeVolume(ctx context.Context, volume *corev1.Volume) (time.Time, error) {
	files := payload{}
	var next time.Time
	parts, mode := projections(volume)
	for _, part := range parts {
		renewal, err := p.project(ctx, files, part, os.FileMode(ptr.Deref(mode, defaultMode))) //nolint:gosec // The API server has validated it.
		if err != nil {
			return next, err
		}
		next = earlier(next, renewal)
	}
	return next, files.write(p.volumeFolder(volume.Name))
}

// projections returns the sources of the files of a volume, and the mode of the files: a volume of a Secret or a
// ConfigMap is a projected volume with one source.
func projections(volume *corev1.Volume) ([]corev1.VolumeProjection, *int32) {
	switch {
	case volume.Secret != nil:
		v := volume.Secret
		secret := &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: v.SecretName}, Items: v.Items, Optional: v.Optional,
		}
		return []corev1.VolumeProjection{{Secret: secret}}, v.DefaultMode
	case volume.ConfigMap != nil:
		v := volume.ConfigMap
		configMap := &corev1.ConfigMapProjection{LocalObjectReference: v.LocalObjectReference, Items: v.Items, Optional: v.Optional}
		return []corev1.VolumeProjection{{ConfigMap: configMap}}, v.DefaultMode
	case volume.Projected != nil:
		return volume.Projected.Sources, volume.Projected.DefaultMode
	}
	return nil, nil // unsupported has refused the Pod
}

// project adds the files of one source. It returns the time at which the source must be read again without a change.
func (p *pod) project(ctx context.Context, files payload, source corev1.VolumeProjection, mode os.FileMode) (time.Time, error) {
	add := func(path string, content []byte) {
		files[filepath.FromSlash(path)] = file{content: content, mode: mode}
	}
	switch {
	case source.Secret != nil:
		s := source.Secret
		return time.Time{}, p.addKeys(add, reference{secrets, s.Name}, s.Items, s.Optional)
	case source.ConfigMap != nil:
		s := source.ConfigMap
		return time.Time{}, p.addKeys(add, reference{configMaps, s.Name}, s.Items, s.Optional)
	case source.DownwardAPI != nil:
		for _, item := range source.DownwardAPI.Items {
			value, err := p.field(item.FieldRef.FieldPath)
			if err != nil {
				return time.Time{}, err
			}
			add(item.Path, []byte(value))
		}
		return time.Time{}, nil
	}
	token, renewal, err := p.token(ctx, source.ServiceAccountToken)
	files[filepath.FromSlash(source.ServiceAccountToken.Path)] = file{content: []byte(token), mode: 0o600}
	return renewal, err
}

// addKeys adds a file for each key of a ConfigMap or Secret, or for each item.
func (p *pod) addKeys(add func(path string, content []byte), ref reference, items []corev1.KeyToPath, optional *bool) error {
	data, err := p.sources.data(ref, optional)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		for key, content := range data {
			add(key, content)
		}
	}
	for _, item := range items {
		content, ok := data[item.Key]
		switch {
		case ok:
			add(item.Path, content)
		case !ptr.Deref(optional, false):
			return fmt.Errorf("%s %q has no key %q", ref.resource, ref.name, item.Key)
		}
	}
	return nil
}

// mounts returns the folders that replace the mount paths of a container.
func (p *pod) mounts(spec *corev1.Container) mounts {
	var m mounts
	for _, one := range spec.VolumeMounts {
		m = append(m, mount{path: filepath.Clean(one.MountPath), folder: p.volumeFolder(one.Name)})
	}
	return m.sorted()
}
