-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- template_generation is the generation of the object on the hub from which Karmada wrote the object in the cell.
local function template_generation(metadata)
  local annotations = object(metadata, "annotations")
  if annotations[template_generation_annotation] == nil then
    return 0
  end
  local digits = string.match(text(annotations, template_generation_annotation), "^[+-]?%d+$")
  local generation = digits and tonumber(digits, 10)
  -- Numbers from 2^53 on are not exact.
  if generation == nil or math.abs(generation) >= 9007199254740992 then
    error("annotation " .. template_generation_annotation .. " is no generation", 0)
  end
  return generation
end

-- shorten truncates messages that are too long, between two characters.
local function shorten(conditions)
  for _, condition in ipairs(conditions or {}) do
    local message = condition.message
    if #message > max_message then
      local ellipsis = "…"
      local length = max_message - #ellipsis
      -- A byte from 128 to 191 continues a character.
      while length > 0 and string.byte(message, length + 1) >= 128 and string.byte(message, length + 1) < 192 do
        length = length - 1
      end
      condition.message = string.sub(message, 1, length) .. ellipsis
    end
  end
end

function ReflectStatus(observedObj)
  local metadata = object(observedObj, "metadata")
  local status = read(deployment_status, observedObj, "status")
  -- Only the autoscaler of the cell reads it.
  status.selector = nil
  status.generation = integer(metadata, "generation") or 0
  status.resourceTemplateGeneration = template_generation(metadata)
  local instances = status.instances or {}
  for _ = max_instances + 1, #instances do
    table.remove(instances)
  end
  shorten(status.conditions)
  for _, instance in ipairs(instances) do
    shorten(instance.conditions)
  end
  return status
end
