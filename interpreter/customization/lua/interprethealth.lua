-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- is_available says whether condition Available is True. Of two conditions of this type the first counts.
local function is_available(status)
  local conditions = list(status, "conditions")
  for i = 1, #conditions do
    local condition = object(conditions, i)
    if text(condition, "type") == condition_available then
      return text(condition, "status") == "True"
    end
  end
  return false
end

function InterpretHealth(observedObj)
  local status = object(observedObj, "status")
  local desired = integer(status, "desiredReplicas", 32) or 0
  return (integer(status, "observedGeneration") or 0) == (integer(object(observedObj, "metadata"), "generation") or 0)
    and desired > 0 and (integer(status, "readyReplicas", 32) or 0) >= desired
    and is_available(status)
end
