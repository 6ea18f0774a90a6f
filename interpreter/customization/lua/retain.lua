-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- The cell keeps the replicas that its autoscaler has set, where maxReplicas and metrics allow scaling, but at most maxReplicas. It
-- may keep less than minReplicas, which is for all cells of a city, but not 0, which would switch the autoscaler off.
function Retain(desiredObj, observedObj)
  local scale = object(object(desiredObj, "spec"), "scaleSettings")
  local most = pointer32(scale, "maxReplicas")
  local replicas = pointer32(object(observedObj, "spec"), "replicas")
  if replicas == nil or most == nil or #list(scale, "metrics") == 0 then
    return desiredObj
  end
  desiredObj.spec.replicas = math.max(1, math.min(most, replicas))
  return desiredObj
end
