-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- sorted are the values of a table, sorted by their keys.
local function sorted(by_key)
  local result = {}
  for key in pairs(by_key) do
    table.insert(result, key)
  end
  table.sort(result)
  for i, key in ipairs(result) do
    result[i] = by_key[key]
  end
  return result
end

-- decode_reports are the reports of the cells, sorted by their names, and whether there should be more. Of a deployment that is
-- assigned to cells they are only those of its cells, and each of these should have one, also when Karmada has no item for it.
local function decode_reports(items, assignment)
  local reports, missing, silent = {}, false, {}
  local assigned = list(assignment or {}, "cells")
  for i = 1, #assigned do
    local cell = object(assigned, i)
    local name = text(cell, "name")
    -- A cell that only has indices to release reports nothing when Karmada has removed the deployment there.
    silent[name] = silent[name] or #list(cell, "indices") > 0
  end
  for i, item in ipairs(items or {}) do
    local cell = text(item, "clusterName")
    if assignment == nil or silent[cell] ~= nil then
      silent[cell] = false
      -- Without a status the cell has not reported yet.
      if item.status == nil then
        missing = true
      else
        local readable, status = pcall(read, ReflectedStatus, item, "status", {})
        local faults = {}
        if not readable then
          repair(ReflectedStatus, item, "status", "", faults, {})
          status = read(ReflectedStatus, item, "status", {})
        end
        reports[cell .. "\0" .. i] = {cell = cell, status = bound_status(status), faults = faults}
      end
    end
  end
  for _, is_silent in pairs(silent) do
    missing = missing or is_silent
  end
  return sorted(reports), missing
end

-- observed_generation is the highest generation of the object on the hub that every cell has observed. For a cell that has not
-- reported, that has not yet observed its own object, or that reports a generation which the object does not have, it is the
-- previous one.
local function observed_generation(generation, known, missing, reports)
  local lowest = #reports == 0 and known or missing and math.min(generation, known) or generation
  for _, report in ipairs(reports) do
    local status = report.status
    local observed = status.resourceTemplateGeneration
    if observed < 1 or observed > generation or (status.observedGeneration or 0) ~= status.generation then
      observed = known
    end
    lowest = math.min(lowest, observed)
  end
  return lowest
end

-- merge is a list of all reports, each entry with the name of its cell.
local function merge(reports, member)
  local merged = {}
  for _, report in ipairs(reports) do
    for _, entry in ipairs(report.status[member] or {}) do
      entry.cell = report.cell
      table.insert(merged, entry)
    end
  end
  return merged
end

-- stated is the message about the faults that a cell itself has found, or nil.
local function stated(report)
  for _, condition in ipairs(report.status.conditions or {}) do
    if condition.type == condition_report_valid then
      return condition.status == "False" and condition.message ~= "" and condition.message or nil
    end
  end
end

-- report_valid is the condition about the first report with faults, or nil. It keeps its time while a report has any.
local function report_valid(reports, status)
  for _, report in ipairs(reports) do
    local message = ignored(report.faults) or stated(report)
    if message then
      local since, before = nil, list(status, "conditions")
      -- The first one counts.
      for i = #before, 1, -1 do
        local condition = object(before, i)
        if text(condition, "type") == condition_report_valid then
          since = time(condition, "lastTransitionTime")
        end
      end
      return {
        type = condition_report_valid, status = "False", reason = reason_report_fields_ignored,
        lastTransitionTime = since or os.date("!%Y-%m-%dT%H:%M:%SZ"), message = "cell " .. report.cell .. ": " .. message,
      }
    end
  end
end

-- merge_conditions are the worst conditions of each type, sorted by type: Progressing is bad when it is True, all others when they
-- are False. Of two that are as bad, the one with the more urgent cause is worse. With several cells the messages name the cell. invalid is the condition about the reports themselves: no cell reports it.
local function merge_conditions(reports, generation, invalid)
  local worst, most, urgent = {}, {}, {}
  for _, condition in ipairs(merge(reports, "conditions")) do
    local kind = condition.type
    local bad = kind == condition_progressing and "True" or "False"
    local badness = condition.status == bad and 2 or condition.status == "Unknown" and 1 or 0
    local urgency = badness > 0 and cause_urgencies[condition.reason] or math.huge
    if most[kind] == nil or badness > most[kind] or badness == most[kind] and urgency < urgent[kind] then
      worst[kind], most[kind], urgent[kind] = condition, badness, urgency
    end
  end
  for _, condition in pairs(worst) do
    if #reports > 1 then
      local message = "cell " .. condition.cell .. ": " .. condition.message
      condition.message = message:sub(-2) == ": " and message:sub(1, -3) or message
    end
    condition.cell, condition.observedGeneration = nil, generation
  end
  if invalid then
    invalid.observedGeneration = generation
  end
  worst[condition_report_valid] = invalid
  return sorted(worst)
end

-- most_instances is how many Instances a cell may have or has to release. Without an assignment one cell has all indices.
local function most_instances(assignment, cell)
  if assignment == nil then
    return max_index + 1
  end
  local cells, most = list(assignment, "cells"), 0
  for i = 1, #cells do
    local of = object(cells, i)
    for _, member in ipairs(text(of, "name") == cell and {"indices", "releasing"} or {}) do
      local ranges = list(of, member)
      for j = 1, #ranges do
        local range = object(ranges, j)
        local first, last = math.max(int32(range, "first"), 0), math.min(int32(range, "last"), max_index)
        most = math.min(most + math.max(last - first + 1, 0), max_index + 1)
      end
    end
  end
  return most
end

-- total is the sum of a count of all cells. What a cell counts is bounded by what it may have.
local function total(reports, assignment, count)
  local sum = 0
  for _, report in ipairs(reports) do
    sum = sum + math.max(0, math.min(report.status[count] or 0, most_instances(assignment, report.cell)))
  end
  return sum
end

function AggregateStatus(desiredObj, statusItems)
  local metadata, spec = object(desiredObj, "metadata"), object(desiredObj, "spec")
  -- Karmada neither compares nor writes the managed fields. They have hundreds of empty objects, and it converts all of the object
  -- once for each of them.
  metadata.managedFields = nil
  local status = {}
  local scale = object(spec, "scaleSettings")
  local assignment = spec.assignment and object(spec, "assignment")
  -- Of a deployment that wants no Instance, all reports count: no cell is assigned one.
  if math.max(int32(scale, "minReplicas"), pointer32(scale, "maxReplicas") or 0) <= 0 then
    assignment = nil
  end
  local reports, missing = decode_reports(statusItems, assignment)
  if missing and #reports == 0 then
    status = read(ReflectedStatus, desiredObj, "status")
    status.generation, status.resourceTemplateGeneration = nil, nil
  else
    local known = int64(object(desiredObj, "status"), "observedGeneration")
    local generation = observed_generation(int64(metadata, "generation"), known, missing, reports)
    generation = generation ~= 0 and generation or nil
    status = {
      observedGeneration = generation,
      conditions = merge_conditions(reports, generation, report_valid(reports, object(desiredObj, "status"))),
      reports = merge(reports, "reports"),
      indices = merge(reports, "indices"),
    }
    for _, count in ipairs({"replicas", "currentReplicas", "desiredReplicas", "readyReplicas", "availableReplicas"}) do
      status[count] = total(reports, assignment, count)
    end
    status.availableReplicas = status.availableReplicas ~= 0 and status.availableReplicas or nil
  end
  -- Karmada drops empty lists. A status that says nothing is not set where there is none: Karmada would write the difference.
  local says = desiredObj.status
  for name, value in pairs(status) do
    if type(value) == "table" and next(value) == nil then
      status[name] = nil
    else
      says = says or value ~= 0
    end
  end
  desiredObj.status = says and status or nil
  return desiredObj
end
