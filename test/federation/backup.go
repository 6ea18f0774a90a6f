// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Backup is the storage of a control plane at one moment.
type Backup struct {
	prefixes []string
	keys     []*mvccpb.KeyValue
}

// storeTimeout bounds one request to etcd.
const storeTimeout = 30 * time.Second

// Backup reads the storage of a plane from etcd, at one revision: "hub", "cell/<name>" or "project-plane/<name>". The hub's
// storage includes what karmada-aggregated-apiserver stores. Objects that etcd deletes by itself, as Events, are left out.
func (f *Federation) Backup(ctx context.Context, plane string) (*Backup, error) {
	b := &Backup{prefixes: []string{"/" + plane + "/"}}
	if plane == planeHub {
		b.prefixes = append(b.prefixes, "/karmada/")
	}
	return b, f.withStore(ctx, func(ctx context.Context, store *clientv3.Client) error {
		var revision int64
		for _, prefix := range b.prefixes {
			answer, err := store.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithRev(revision))
			if err != nil {
				return fmt.Errorf("read %s from etcd: %w", prefix, err)
			}
			if revision == 0 {
				revision = answer.Header.Revision
			}
			for _, one := range answer.Kvs {
				if one.Lease == 0 {
					b.keys = append(b.keys, one)
				}
			}
		}
		return nil
	})
}

// Restore sets the storage of a plane back. Its API servers must not run. Versions of objects do not go back, as after
// `etcdutl snapshot restore --bump-revision`: clients list again.
func (f *Federation) Restore(ctx context.Context, b *Backup) error {
	return f.withStore(ctx, func(ctx context.Context, store *clientv3.Client) error {
		for _, prefix := range b.prefixes {
			if _, err := store.Delete(ctx, prefix, clientv3.WithPrefix()); err != nil {
				return fmt.Errorf("delete %s from etcd: %w", prefix, err)
			}
		}
		for _, one := range b.keys {
			if _, err := store.Put(ctx, string(one.Key), string(one.Value)); err != nil {
				return fmt.Errorf("write %s to etcd: %w", one.Key, err)
			}
		}
		return nil
	})
}

// withStore calls do with a client of the federation's etcd.
func (f *Federation) withStore(ctx context.Context, do func(context.Context, *clientv3.Client) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	store, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + address(f.port("etcd"))}, Context: ctx})
	if err != nil {
		return fmt.Errorf("connect to etcd: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return do(ctx, store)
}
