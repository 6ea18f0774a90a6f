-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- assigned_items are the items of the cells of an assignment. A cell that Karmada has no item for has not reported.
local function assigned_items(assignment, items)
  local cells, named, reported, assigned = list(assignment, "cells"), {}, {}, {}
  for i = 1, #cells do
    named[text(object(cells, i), "name")] = true
  end
  for _, item in ipairs(items) do
    local name = text(item, "clusterName")
    if named[name] then
      reported[name] = true
      table.insert(assigned, item)
    end
  end
  for name in pairs(named) do
    if not reported[name] then
      table.insert(assigned, {clusterName = name})
    end
  end
  return assigned
end

-- decode_reports are the reports of the cells, sorted by their names.
local function decode_reports(items)
  local reports = {}
  for i, item in ipairs(items) do
    -- Without a status the cell has not reported yet.
    if item.status ~= nil then
      local cell = text(item, "clusterName")
      local readable, status = pcall(read, reflected_status, item, "status")
      if not readable then
        error("status of cluster " .. cell .. ": " .. tostring(status), 0)
      end
      table.insert(reports, {cell = cell, item = i, status = status})
    end
  end
  table.sort(reports, function(a, b)
    return a.cell < b.cell or a.cell == b.cell and a.item < b.item
  end)
  return reports
end

-- observed_generation is the highest generation of the object on the hub that every cell has observed. For a cell that has not
-- reported, that has not yet observed its own object, or that reports a generation which the object does not have, it is the
-- previous one.
local function observed_generation(generation, known, cells, reports)
  if cells == 0 then
    return known
  end
  local lowest = generation
  if #reports < cells then
    lowest = math.min(lowest, known)
  end
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

-- add_counts adds the counts of a cell, with the overflow of 32 bits.
local function add_counts(result, status)
  for _, count in ipairs({"replicas", "currentReplicas", "desiredReplicas", "readyReplicas"}) do
    result[count] = (result[count] + status[count] + 2147483648) % 4294967296 - 2147483648
  end
end

-- badness orders conditions of one type, the worst highest: Progressing is bad when it is True, all others when they are False.
local function badness(condition)
  local bad = "False"
  if condition.type == condition_progressing then
    bad = "True"
  end
  if condition.status == bad then
    return 2
  elseif condition.status == "Unknown" then
    return 1
  end
  return 0
end

-- named_message is a message that names its cell.
local function named_message(cell, message)
  message = "cell " .. cell .. ": " .. message
  if string.sub(message, -2) == ": " then
    return string.sub(message, 1, -3)
  end
  return message
end

-- merge_conditions are the worst conditions of each type, sorted by type. With several cells the messages name the cell.
local function merge_conditions(reports, generation)
  local by_type, result = {}, {}
  for _, report in ipairs(reports) do
    for _, condition in ipairs(report.status.conditions or {}) do
      if #reports > 1 then
        condition.message = named_message(report.cell, condition.message)
      end
      local worst = by_type[condition.type]
      if worst == nil or badness(condition) > badness(worst) then
        by_type[condition.type] = condition
      end
    end
  end
  for _, condition in pairs(by_type) do
    condition.observedGeneration = nil
    if generation ~= 0 then
      condition.observedGeneration = generation
    end
    table.insert(result, condition)
  end
  table.sort(result, function(a, b) return a.type < b.type end)
  return result
end

-- instance_index is the index of an Instance as text, or nil when its name is not one that the deployment creates.
local function instance_index(deployment, name)
  local prefix = deployment .. "-"
  local index = string.sub(name, #prefix + 1)
  if string.sub(name, 1, #prefix) ~= prefix or not (index == "0" or string.find(index, "^[1-9]%d*$")) then
    return nil
  end
  if #index > 19 or #index == 19 and index > "9223372036854775807" then
    return nil
  end
  return index
end

-- owners are the cells that indices up to highest are assigned to. Of two cells with an index it is the first.
local function owners(assignment, highest)
  local cells, result = list(assignment, "cells"), {}
  for i = 1, #cells do
    local cell = object(cells, i)
    local ranges = list(cell, "indices")
    for j = 1, #ranges do
      local range = object(ranges, j)
      local first, last = integer(range, "first", 32) or 0, integer(range, "last", 32) or 0
      for index = math.max(first, 0), math.min(last, highest) do
        result[index] = result[index] or text(cell, "name")
      end
    end
  end
  return result
end

-- merge_instances are the reported Instances of a deployment, sorted by index.
local function merge_instances(deployment, assignment, reports)
  local reported, highest = {}, -1
  for _, report in ipairs(reports) do
    for _, instance in ipairs(report.status.instances or {}) do
      local index = instance_index(deployment, instance.name)
      if index ~= nil then
        table.insert(reported, {cell = report.cell, index = index, instance = instance})
        highest = math.max(highest, tonumber(index, 10))
      end
    end
  end
  local owner, seen, merged = owners(assignment, highest), {}, {}
  for _, entry in ipairs(reported) do
    local cell = owner[tonumber(entry.index, 10)]
    if (cell == nil or cell == "" or cell == entry.cell) and not seen[entry.index] then
      seen[entry.index] = true
      table.insert(merged, entry)
    end
  end
  -- As text large indices are exact.
  table.sort(merged, function(a, b)
    return #a.index < #b.index or #a.index == #b.index and a.index < b.index
  end)
  for i, entry in ipairs(merged) do
    merged[i] = entry.instance
  end
  return merged
end

-- merge is a list of all reports, each with the name of its cell.
local function merge(reports, member)
  local merged = {}
  for _, report in ipairs(reports) do
    for _, of in ipairs(report.status[member] or {}) do
      of.cell = report.cell
      table.insert(merged, of)
    end
  end
  return merged
end

-- set_status gives an object a status. One that says nothing is not set where there is none: Karmada would write the difference.
local function set_status(of, status)
  local says = status.observedGeneration or status.selector
  for _, entries in ipairs({"conditions", "instances", "reports", "indices"}) do
    says = says or next(status[entries] or {})
  end
  for _, count in ipairs({"replicas", "currentReplicas", "desiredReplicas", "readyReplicas"}) do
    says = says or (status[count] or 0) ~= 0
  end
  if of.status ~= nil or says then
    of.status = status
  end
end

function AggregateStatus(desiredObj, statusItems)
  without_managed_fields(desiredObj)
  local metadata, spec = object(desiredObj, "metadata"), object(desiredObj, "spec")
  local items = statusItems or {}
  if spec.assignment ~= nil then
    items = assigned_items(object(spec, "assignment"), items)
  end
  local reports = decode_reports(items)
  if #items > 0 and #reports == 0 then
    set_status(desiredObj, read(deployment_status, desiredObj, "status"))
    return desiredObj
  end
  local known = integer(object(desiredObj, "status"), "observedGeneration") or 0
  local generation = observed_generation(integer(metadata, "generation") or 0, known, #items, reports)
  -- Karmada drops empty lists.
  local status = {
    replicas = 0, currentReplicas = 0, desiredReplicas = 0, readyReplicas = 0,
    conditions = merge_conditions(reports, generation),
    instances = merge_instances(text(metadata, "name"), object(spec, "assignment"), reports),
    reports = merge(reports, "reports"),
    indices = merge(reports, "indices"),
  }
  for _, report in ipairs(reports) do
    add_counts(status, report.status)
  end
  if generation ~= 0 then
    status.observedGeneration = generation
  end
  set_status(desiredObj, status)
  return desiredObj
end
