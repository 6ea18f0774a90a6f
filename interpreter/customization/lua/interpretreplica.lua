-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

function GetReplicas(obj)
  local spec = object(obj, "spec")
  local replicas = pointer32(spec, "replicas") or int32(object(spec, "scaleSettings"), "minReplicas")
  local size = instance_size(object(object(spec, "template"), "spec"), object(spec, "instanceTypeResources"))
  -- What Karmada cannot count is an error, also in the template that lower indices keep.
  local partition = object(spec, "partition")
  instance_size(object(object(partition, "template"), "spec"), object(partition, "instanceTypeResources"))
  -- Karmada removes a deployment of no replicas with requirements from all cells.
  return replicas, replicas ~= 0 and next(size) and {resourceRequest = size} or nil
end
