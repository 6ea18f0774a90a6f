-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

function GetReplicas(obj)
  local spec = object(obj, "spec")
  local replicas = pointer32(spec, "replicas") or int32(object(spec, "scaleSettings"), "minReplicas")
  local size = instance_size(object(object(spec, "template"), "spec"), object(spec, "instanceTypeResources"))
  if spec.partition ~= nil then
    -- An invalid quantity of the earlier template is an error as well.
    local partition = object(spec, "partition")
    instance_size(object(object(partition, "template"), "spec"), object(partition, "instanceTypeResources"))
  end
  return replicas, next(size) and {resourceRequest = size}
end
