-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- assigned_cells are the names of the cells of an assignment.
local function assigned_cells(assignment)
  local cells, names = list(assignment, "cells"), {}
  for i = 1, #cells do
    names[text(object(cells, i), "name")] = true
  end
  return names
end

-- decode_reports are the reports of the cells, sorted by their names, and the number of cells that should have one. Of a deployment
-- that is assigned to cells these are only its cells, also those that Karmada has no item for.
local function decode_reports(items, assigned)
  local reports, cells, known = {}, 0, {}
  for i, item in ipairs(items or {}) do
    local cell = text(item, "clusterName")
    if assigned == nil or assigned[cell] then
      cells, known[cell] = cells + 1, true
      -- Without a status the cell has not reported yet.
      if item.status ~= nil then
        local readable, status = pcall(read, ReflectedStatus, item, "status")
        if not readable then
          error("status of cluster " .. cell .. ": " .. tostring(status), 0)
        end
        table.insert(reports, {cell = cell, item = i, status = status})
      end
    end
  end
  for cell in pairs(assigned or {}) do
    cells = known[cell] and cells or cells + 1
  end
  table.sort(reports, function(a, b)
    return a.cell < b.cell or a.cell == b.cell and a.item < b.item
  end)
  return reports, cells
end

-- observed_generation is the highest generation of the object on the hub that every cell has observed. For a cell that has not
-- reported, that has not yet observed its own object, or that reports a generation which the object does not have, it is the
-- previous one.
local function observed_generation(generation, known, cells, reports)
  local lowest = cells == 0 and known or #reports < cells and math.min(generation, known) or generation
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

-- badness orders conditions of one type, the worst highest: Progressing is bad when it is True, all others when they are False.
local function badness(condition)
  local bad = condition.type == condition_progressing and "True" or "False"
  return condition.status == bad and 2 or condition.status == "Unknown" and 1 or 0
end

-- merge_conditions are the worst conditions of each type, sorted by type. With several cells the messages name the cell.
local function merge_conditions(reports, generation)
  local by_type, result = {}, {}
  for _, condition in ipairs(merge(reports, "conditions")) do
    if #reports > 1 then
      local message = "cell " .. condition.cell .. ": " .. condition.message
      condition.message = string.sub(message, -2) == ": " and string.sub(message, 1, -3) or message
    end
    condition.cell, condition.observedGeneration = nil, generation
    local worst = by_type[condition.type]
    if worst == nil or badness(condition) > badness(worst) then
      by_type[condition.type] = condition
    end
  end
  for _, condition in pairs(by_type) do
    table.insert(result, condition)
  end
  table.sort(result, function(a, b) return a.type < b.type end)
  return result
end

-- instance_index is the index of an Instance as text, padded so that texts are ordered as numbers, which are not exact when they
-- are large. It is nil when the name is not one that the deployment creates.
local function instance_index(deployment, name)
  local prefix, index = string.match(name, "^(.*)%-(%d+)$")
  if prefix ~= deployment or string.find(index, "^0%d") then
    return nil
  end
  index = string.format("%19s", index)
  return #index == 19 and index <= "9223372036854775807" and index or nil
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
  local reported, highest = merge(reports, "instances"), -1
  for _, instance in ipairs(reported) do
    instance.index = instance_index(deployment, instance.name)
    highest = math.max(highest, tonumber(instance.index or highest, 10))
  end
  local owner, seen, merged = owners(assignment, highest), {}, {}
  for _, instance in ipairs(reported) do
    local index = instance.index
    local cell = index and owner[tonumber(index, 10)] or ""
    if index and (cell == "" or cell == instance.cell) and not seen[index] then
      seen[index] = true
      table.insert(merged, instance)
    end
  end
  table.sort(merged, function(a, b) return a.index < b.index end)
  for _, instance in ipairs(merged) do
    instance.cell, instance.index = nil, nil
  end
  return merged
end

-- set_status gives an object a status without empty lists, which Karmada would drop. One that says nothing is not set where there is
-- none: Karmada would write the difference.
local function set_status(of, status)
  local says = of.status ~= nil
  for name, value in pairs(status) do
    if type(value) == "table" and next(value) == nil then
      status[name] = nil
    else
      says = says or value ~= 0
    end
  end
  of.status = says and status or nil
  return of
end

function AggregateStatus(desiredObj, statusItems)
  without_managed_fields(desiredObj)
  local metadata, spec = object(desiredObj, "metadata"), object(desiredObj, "spec")
  local assignment = object(spec, "assignment")
  local reports, cells = decode_reports(statusItems, spec.assignment and assigned_cells(assignment))
  if cells > 0 and #reports == 0 then
    return set_status(desiredObj, read(WorkloadDeploymentStatus, desiredObj, "status"))
  end
  local known = integer(object(desiredObj, "status"), "observedGeneration") or 0
  local generation = observed_generation(integer(metadata, "generation") or 0, known, cells, reports)
  local observed = generation ~= 0 and generation or nil
  local status = {
    observedGeneration = observed,
    conditions = merge_conditions(reports, observed),
    instances = merge_instances(text(metadata, "name"), assignment, reports),
    reports = merge(reports, "reports"),
    indices = merge(reports, "indices"),
  }
  for _, count in ipairs({"replicas", "currentReplicas", "desiredReplicas", "readyReplicas"}) do
    status[count] = 0
    for _, report in ipairs(reports) do
      -- With the overflow of 32 bits.
      status[count] = (status[count] + report.status[count] + 2147483648) % 4294967296 - 2147483648
    end
  end
  return set_status(desiredObj, status)
end
