-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

function GetReplicas(obj)
  local spec = object(obj, "spec")
  local replicas = integer(spec, "replicas", 32) or integer(object(spec, "scaleSettings"), "minReplicas", 32) or 0
  local size = instance_size(object(object(spec, "template"), "spec"), object(spec, "instanceTypeResources"))
  if next(size) == nil then
    return replicas, nil
  end
  return replicas, {resourceRequest = size}
end
