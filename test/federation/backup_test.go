// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"maps"
	"strconv"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// TestBackup: a restore sets back what is stored below the prefixes of its plane, and nothing else.
func TestBackup(t *testing.T) {
	f := newFolder(t)
	repository, err := tools.FindRepository()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := tools.DefaultCache()
	if err != nil {
		t.Fatal(err)
	}
	if f.state.Binaries, err = (&tools.Builder{Repository: repository, Cache: cache}).Build(t.Context(), tools.Etcd); err != nil {
		t.Fatal(err)
	}
	reserved := t.TempDir()
	ports, err := reservePorts(reserved, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := releasePorts(reserved); err != nil {
			t.Error(err)
		}
	})
	f.progress, f.state.Ports = newProgress(t.Output()), map[string]int{"etcd": ports[0], "etcd-peer": ports[1]}
	if err := f.startEtcd(t.Context()); err != nil {
		t.Fatal(err)
	}
	store := func(do func(context.Context, *clientv3.Client) error) {
		t.Helper()
		if err := f.withStore(t.Context(), do); err != nil {
			t.Fatal(err)
		}
	}
	put := func(values map[string]string) {
		t.Helper()
		store(func(ctx context.Context, c *clientv3.Client) error {
			for key, value := range values {
				if _, err := c.Put(ctx, key, value); err != nil {
					return err
				}
			}
			return nil
		})
	}
	put(map[string]string{"/hub/a": "1", "/hub/b": "1", "/karmada/c": "1", "/hub-2/a": "1", "/cell/dfw/a": "1"})
	store(func(ctx context.Context, c *clientv3.Client) error {
		lease, err := c.Grant(ctx, 600)
		if err != nil {
			return err
		}
		_, err = c.Put(ctx, "/hub/events/e", "1", clientv3.WithLease(lease.ID))
		return err
	})
	backup, err := f.Backup(t.Context(), planeHub)
	if err != nil {
		t.Fatal(err)
	}

	put(map[string]string{"/hub/a": "2", "/hub/d": "2", "/karmada/c": "2", "/hub-2/a": "2", "/cell/dfw/a": "2"})
	store(func(ctx context.Context, c *clientv3.Client) error { _, err := c.Delete(ctx, "/hub/b"); return err })
	if err := f.Restore(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	store(func(ctx context.Context, c *clientv3.Client) error {
		answer, err := c.Get(ctx, "/", clientv3.WithPrefix())
		if err != nil {
			return err
		}
		for _, one := range answer.Kvs {
			got[string(one.Key)] = string(one.Value) + " of lease " + strconv.FormatInt(one.Lease, 16)
		}
		return nil
	})
	want := map[string]string{"/hub/a": "1", "/hub/b": "1", "/karmada/c": "1", "/hub-2/a": "2", "/cell/dfw/a": "2"}
	for key, value := range want {
		want[key] = value + " of lease 0"
	}
	if !maps.Equal(got, want) {
		t.Errorf("etcd has %v, want %v", got, want)
	}
}
