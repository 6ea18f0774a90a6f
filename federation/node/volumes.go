// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	defaultMode = 0o644
	// volumeRetry is the delay before the node retries a failed write of a volume. The node watches the sources of volumes, so
	// this is only for failures without a change of the source.
	volumeRetry = time.Second
)

func (p *pod) volumeFolder(name string) string { return filepath.Join(p.folder, "volumes", name) }

// writeVolumes brings all volumes of the Pod up to date. It returns the time at which they must be written again without a
// change: tokens must be renewed.
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
	folder := p.volumeFolder(volume.Name)
	var files payload
	var renewal time.Time
	var err error
	switch {
	case volume.EmptyDir != nil:
		return renewal, os.MkdirAll(folder, 0o700)
	case volume.Secret != nil:
		v := volume.Secret
		files, err = p.sources.secret(v.SecretName, v.Optional)
		files, err = selection{v.Items, v.DefaultMode, v.Optional}.of(files, err)
	case volume.ConfigMap != nil:
		v := volume.ConfigMap
		files, err = p.sources.configMap(v.Name, v.Optional)
		files, err = selection{v.Items, v.DefaultMode, v.Optional}.of(files, err)
	case volume.DownwardAPI != nil:
		files, err = p.downward(volume.DownwardAPI.Items, volume.DownwardAPI.DefaultMode)
	case volume.Projected != nil:
		files, renewal, err = p.projected(ctx, volume.Projected)
	default:
		err = errors.New("its type is not supported on this node")
	}
	if err != nil {
		return renewal, err
	}
	return renewal, files.write(folder)
}

// selection holds the keys of a ConfigMap or Secret that become files.
type selection struct {
	items    []corev1.KeyToPath
	mode     *int32
	optional *bool
}

func (s selection) of(data payload, err error) (payload, error) {
	if err != nil {
		return nil, err
	}
	files := payload{}
	if len(s.items) == 0 {
		for name, f := range data {
			files[name] = file{content: f.content, mode: modeOf(nil, s.mode)}
		}
		return files, nil
	}
	for _, item := range s.items {
		f, ok := data[item.Key]
		if !ok && (s.optional == nil || !*s.optional) {
			return nil, fmt.Errorf("there is no key %q", item.Key)
		}
		if ok {
			files[filepath.FromSlash(item.Path)] = file{content: f.content, mode: modeOf(item.Mode, s.mode)}
		}
	}
	return files, nil
}

func modeOf(modes ...*int32) os.FileMode {
	for _, mode := range modes {
		if mode != nil {
			return os.FileMode(*mode) & os.ModePerm //nolint:gosec // The API server has validated it.
		}
	}
	return defaultMode
}

func (p *pod) downward(items []corev1.DownwardAPIVolumeFile, mode *int32) (payload, error) {
	files := payload{}
	for _, item := range items {
		var value string
		var err error
		switch {
		case item.FieldRef != nil:
			value, err = p.field(item.FieldRef.FieldPath)
		case item.ResourceFieldRef != nil:
			value, err = p.resource(item.ResourceFieldRef, "")
		}
		if err != nil {
			return nil, err
		}
		files[filepath.FromSlash(item.Path)] = file{content: []byte(value), mode: modeOf(item.Mode, mode)}
	}
	return files, nil
}

func (p *pod) projected(ctx context.Context, volume *corev1.ProjectedVolumeSource) (payload, time.Time, error) {
	files := payload{}
	var next time.Time
	for _, source := range volume.Sources {
		part, renewal, err := p.projection(ctx, source, volume.DefaultMode)
		if err != nil {
			return nil, next, err
		}
		next = earlier(next, renewal)
		maps.Copy(files, part)
	}
	return files, next, nil
}

func (p *pod) projection(ctx context.Context, source corev1.VolumeProjection, mode *int32) (files payload, renewal time.Time, err error) {
	switch {
	case source.Secret != nil:
		files, err = p.sources.secret(source.Secret.Name, source.Secret.Optional)
		files, err = selection{source.Secret.Items, mode, source.Secret.Optional}.of(files, err)
	case source.ConfigMap != nil:
		files, err = p.sources.configMap(source.ConfigMap.Name, source.ConfigMap.Optional)
		files, err = selection{source.ConfigMap.Items, mode, source.ConfigMap.Optional}.of(files, err)
	case source.DownwardAPI != nil:
		files, err = p.downward(source.DownwardAPI.Items, mode)
	case source.ServiceAccountToken != nil:
		var token string
		token, renewal, err = p.token(ctx, source.ServiceAccountToken)
		files = payload{filepath.FromSlash(source.ServiceAccountToken.Path): {content: []byte(token), mode: 0o600}}
	default:
		err = errors.New("the type of a projection is not supported on this node")
	}
	return files, renewal, err
}

// makeSubPaths creates the subfolders of empty volumes that a container mounts.
func (p *pod) makeSubPaths(spec *corev1.Container) error {
	var errs []error
	for _, volume := range p.current().Spec.Volumes {
		for _, one := range spec.VolumeMounts {
			if one.Name == volume.Name && volume.EmptyDir != nil {
				errs = append(errs, os.MkdirAll(filepath.Join(p.volumeFolder(one.Name), filepath.FromSlash(one.SubPath)), 0o700))
			}
		}
	}
	return errors.Join(errs...)
}

// mounts returns the folders that replace the mount paths of a container.
func (p *pod) mounts(spec *corev1.Container) mounts {
	var m mounts
	for _, one := range spec.VolumeMounts {
		folder := filepath.Join(p.volumeFolder(one.Name), filepath.FromSlash(one.SubPath))
		m = append(m, mount{path: filepath.Clean(one.MountPath), folder: folder})
	}
	return m.sorted()
}
