-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

function InterpretHealth(observedObj)
  local status, available = object(observedObj, "status"), nil
  local conditions, desired = list(status, "conditions"), int32(status, "desiredReplicas")
  for i = 1, #conditions do
    local condition = object(conditions, i)
    -- Of two conditions of this type the first counts.
    if available == nil and text(condition, "type") == condition_available then
      available = text(condition, "status")
    end
  end
  return int64(status, "observedGeneration") == int64(object(observedObj, "metadata"), "generation")
    and int32(status, "readyReplicas") >= desired and available == "True"
end
