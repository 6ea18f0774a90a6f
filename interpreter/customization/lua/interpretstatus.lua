-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- shorten truncates texts of a list that are too long, between two characters.
local function shorten(entries, member)
  for _, entry in ipairs(entries or {}) do
    local long = entry[member] or ""
    if #long > max_message then
      local ellipsis = "…"
      -- A byte from 128 to 191 continues a character: the first that goes must not.
      local start = long:sub(1, max_message - #ellipsis + 1):match("^(.*)[^\128-\191]")
      entry[member] = (start or "") .. ellipsis
    end
  end
end

-- bound is a list without what it has too much.
local function bound(entries, most)
  entries = entries or {}
  for _ = most + 1, #entries do
    table.remove(entries)
  end
  return entries
end

function ReflectStatus(observedObj)
  local metadata = object(observedObj, "metadata")
  local status = read(WorkloadDeploymentStatus, observedObj, "status")
  -- Only the autoscaler of the cell reads it.
  status.selector = nil
  status.lastProgressTime = nil
  status.generation = int64(metadata, "generation")
  -- The generation of the object on the hub from which Karmada wrote the object in the cell.
  local annotation = pointer(object(metadata, "annotations"), template_generation_annotation)
  local digits = (annotation or "0"):match("^[+-]?%d+$")
  local generation = digits and tonumber(digits, 10)
  -- Numbers from 2^53 on are not exact.
  if generation == nil or math.abs(generation) >= 9007199254740992 then
    error("annotation " .. template_generation_annotation .. " is no generation", 0)
  end
  status.resourceTemplateGeneration = generation
  shorten(status.conditions, "message")
  -- The report of the cell is truncated to a bounded size. A cell has one.
  for _, report in ipairs(bound(status.reports, 1)) do
    bound(report.instances, max_instances)
    for _, state in ipairs(bound(report.states, max_instances)) do
      shorten(state.conditions, "message")
    end
  end
  shorten(bound(status.indices, 1), "dataMissing")
  for _, instance in ipairs(bound(status.instances, max_instances)) do
    shorten(instance.conditions, "message")
  end
  return status
end
