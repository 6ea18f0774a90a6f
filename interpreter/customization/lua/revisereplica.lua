-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

function ReviseReplica(obj, desiredReplica)
  if desiredReplica < 0 then
    error("replicas must be 0 or more", 0)
  end
  obj.spec = object(obj, "spec")
  obj.spec.replicas = desiredReplica
  without_managed_fields(obj)
  return obj
end
