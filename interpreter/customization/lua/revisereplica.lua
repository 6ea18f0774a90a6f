-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

function ReviseReplica(obj, desiredReplica)
  if desiredReplica < 0 then
    error("replicas must be 0 or more", 0)
  end
  obj.spec = object(obj, "spec")
  obj.spec.replicas = desiredReplica
  -- Karmada neither compares nor writes the managed fields. They have hundreds of empty objects, and it converts all of the object
  -- once for each of them.
  object(obj, "metadata").managedFields = nil
  return obj
end
