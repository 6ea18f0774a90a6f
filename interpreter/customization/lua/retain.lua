-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- The cell keeps the replicas that its autoscaler has set, where maxReplicas and metrics allow scaling, clamped to minReplicas and
-- maxReplicas.
function Retain(desiredObj, observedObj)
  local scale = object(object(desiredObj, "spec"), "scaleSettings")
  local least, most = integer(scale, "minReplicas", 32) or 0, integer(scale, "maxReplicas", 32)
  local replicas = integer(object(observedObj, "spec"), "replicas", 32)
  if replicas == nil or most == nil or #list(scale, "metrics") == 0 then
    return desiredObj
  end
  desiredObj.spec.replicas = math.max(least, math.min(most, replicas))
  return desiredObj
end
