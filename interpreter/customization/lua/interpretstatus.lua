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

-- shortened is a message, truncated between two characters when it is too long.
local function shortened(message)
  if message == nil or #message <= max_message then
    return message
  end
  local ellipsis = "…"
  local length = max_message - #ellipsis
  -- A byte from 128 to 191 continues a character.
  while length > 0 and string.byte(message, length + 1) >= 128 and string.byte(message, length + 1) < 192 do
    length = length - 1
  end
  return string.sub(message, 1, length) .. ellipsis
end

-- shorten truncates the messages of conditions.
local function shorten(conditions)
  for _, condition in ipairs(conditions or {}) do
    condition.message = shortened(condition.message)
  end
end

-- truncate drops what a list has too much.
local function truncate(of, most)
  for _ = most + 1, #of do
    table.remove(of)
  end
end

-- bound truncates the report of the cell to a bounded size. A cell has one.
local function bound(reports)
  truncate(reports, 1)
  for _, report in ipairs(reports) do
    truncate(report.instances or {}, max_instances)
    truncate(report.states or {}, max_instances)
    for _, state in ipairs(report.states or {}) do
      shorten(state.conditions)
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
  truncate(instances, max_instances)
  shorten(status.conditions)
  bound(status.reports or {})
  truncate(status.indices or {}, 1)
  for _, indices in ipairs(status.indices or {}) do
    indices.dataMissing = shortened(indices.dataMissing)
  end
  for _, instance in ipairs(instances) do
    shorten(instance.conditions)
  end
  return status
end
