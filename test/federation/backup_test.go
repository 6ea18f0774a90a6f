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
	e := startEtcdAlone(t)
	e.put(map[string]string{"/hub/a": "1", "/hub/b": "1", "/karmada/c": "1", "/hub-2/a": "1", "/cell/dfw/a": "1"})
	e.do(func(ctx context.Context, c *clientv3.Client) error {
		lease, err := c.Grant(ctx, 600)
		if err != nil {
			return err
		}
		_, err = c.Put(ctx, "/hub/events/e", "1", clientv3.WithLease(lease.ID))
		return err
	})
	backup, err := e.f.Backup(t.Context(), planeHub)
	if err != nil {
		t.Fatal(err)
	}

	e.put(map[string]string{"/hub/a": "2", "/hub/d": "2", "/karmada/c": "2", "/hub-2/a": "2", "/cell/dfw/a": "2"})
	e.do(func(ctx context.Context, c *clientv3.Client) error { _, err := c.Delete(ctx, "/hub/b"); return err })
	if err := e.f.Restore(t.Context(), backup); err != nil {
		t.Fatal(err)
	}

	want := map[string]string{"/hub/a": "1", "/hub/b": "1", "/karmada/c": "1", "/hub-2/a": "2", "/cell/dfw/a": "2"}
	for key, value := range want {
		want[key] = value + " of lease 0"
	}
	if got := e.all(); !maps.Equal(got, want) {
		t.Errorf("etcd has %v, want %v", got, want)
	}
}

// etcdAlone is a federation's folder of which only etcd runs.
type etcdAlone struct {
	t *testing.T
	f *Federation
}

func startEtcdAlone(t *testing.T) etcdAlone {
	t.Helper()
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
	return etcdAlone{t, f}
}

func (e etcdAlone) do(do func(context.Context, *clientv3.Client) error) {
	e.t.Helper()
	if err := e.f.withStore(e.t.Context(), do); err != nil {
		e.t.Fatal(err)
	}
}

func (e etcdAlone) put(values map[string]string) {
	e.t.Helper()
	e.do(func(ctx context.Context, c *clientv3.Client) error {
		for key, value := range values {
			if _, err := c.Put(ctx, key, value); err != nil {
				return err
			}
		}
		return nil
	})
}

// all returns each key with its value and the lease that it has.
func (e etcdAlone) all() map[string]string {
	e.t.Helper()
	got := map[string]string{}
	e.do(func(ctx context.Context, c *clientv3.Client) error {
		answer, err := c.Get(ctx, "/", clientv3.WithPrefix())
		if err != nil {
			return err
		}
		for _, one := range answer.Kvs {
			got[string(one.Key)] = string(one.Value) + " of lease " + strconv.FormatInt(one.Lease, 16)
		}
		return nil
	})
	return got
}
