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

-- bound_status truncates what a cell reports to a bounded size, and returns it. A cell has one report. AggregateStatus bounds it again:
-- where Karmada's agent runs in the cell, nobody else has.
local function bound_status(status)
  shorten(bound(status.conditions, max_conditions), "message")
  for _, report in ipairs(bound(status.reports, 1)) do
    bound(report.instances, max_instances)
    for _, state in ipairs(bound(report.states, max_instances)) do
      shorten(bound(state.conditions, max_conditions), "message")
    end
  end
  shorten(bound(status.indices, 1), "dataMissing")
  for _, instance in ipairs(bound(status.instances, max_instances)) do
    shorten(bound(instance.conditions, max_conditions), "message")
  end
  return status
end
