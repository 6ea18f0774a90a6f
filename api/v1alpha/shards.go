// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import "encoding/json"

// Leases on the hub by which the replicas of the add-on divide the projects among them.
const (
	// LeaseShards is the record of the owner of each shard, in AnnotationShards.
	LeaseShards = "karmada-compute-shards"
	// LeaseReplicaPrefix begins the name of the Lease that a replica renews. Its name follows.
	LeaseReplicaPrefix = "karmada-compute-replica-"
	// AnnotationShards has the numbers of the shards of each replica, as JSON. As a label it is on all of these Leases.
	AnnotationShards = "compute.datumapis.com/shards"
)

// ParseShards reads AnnotationShards: the shards of each replica by its name.
func ParseShards(annotation string) (map[string][]int, error) {
	var shards map[string][]int
	if annotation == "" {
		return nil, nil
	}
	err := json.Unmarshal([]byte(annotation), &shards)
	return shards, err
}
