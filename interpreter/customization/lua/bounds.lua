-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- check empties texts that are too long or have other characters. What is omitted when it is empty is nil then.
local function check(of, limit, empty, members)
  for _, member in ipairs(members) do
    local value = of[member]
    if value and (#value > limit[1] or value:find(limit[2])) then
      of[member] = empty
    end
  end
end

-- is_word says whether a text can be the type or reason of a condition.
local function is_word(value)
  return value and #value <= max_word and value:find("^%a%w*$")
end

-- shorten truncates texts that are too long, between two characters, and makes control characters spaces.
local function shorten(entries, member)
  for _, entry in ipairs(entries) do
    local long = entry[member]
    if long then
      if #long > max_message then
        local ellipsis = "…"
        -- A byte from 128 to 191 continues a character: the first that goes must not.
        local start = long:sub(1, max_message - #ellipsis + 1):match("^(.*)[^\128-\191]")
        long = (start or "") .. ellipsis
      end
      -- Karmada has no gsub. The characters from U+0080 to U+009F are control characters too.
      for _, pattern in ipairs({"%c", "\194[\128-\159]"}) do
        local first, last = long:find(pattern)
        while first do
          long = long:sub(1, first - 1) .. " " .. long:sub(last + 1)
          first, last = long:find(pattern, first)
        end
      end
      entry[member] = long
    end
  end
end

-- bound_conditions leaves out the conditions that an API server would refuse, or with whole all of them when there is one.
local function bound_conditions(of, whole)
  local conditions = of.conditions or {}
  for i = #conditions, 1, -1 do
    local c = conditions[i]
    if not (is_word(c.type) and is_word(c.reason) and (c.status == "True" or c.status == "False" or c.status == "Unknown")
      and (whole or c.lastTransitionTime)) then
      table.remove(conditions, i)
      if whole then
        conditions = {}
        break
      end
    end
  end
  shorten(conditions, "message")
  of.conditions = conditions[1] and conditions
end

-- bound_instance bounds what the entry or the state of an Instance has. hash is what a missing hash of the template is.
local function bound_instance(of, hash)
  check(of, since_text, nil, {"since"})
  check(of, hash_text, hash, {"templateHash"})
  check(of, hash_text, nil, {"observedTemplateHash", "dataHash"})
  local gates = of.schedulingGates or {}
  for i = #gates, 1, -1 do
    check(gates[i], gate_text, "", {"name"})
    if gates[i].name == "" then
      table.remove(gates, i)
    end
  end
  of.schedulingGates = gates[1] and gates
  for _, interface in ipairs(of.networkInterfaces or {}) do
    check(interface.assignments, address_text, "", {"networkIP", "externalIP"})
  end
  local containers = of.containers or {}
  for _, container in ipairs(containers) do
    check(container, name_text, "", {"name"})
    check(container, name_text, nil, {"reason"})
    check(container, image_text, nil, {"imageID"})
    check(container, since_text, nil, {"finishedAt"})
  end
  shorten(containers, "message")
end

-- bound_status leaves out what no agent reports, and returns what a cell reports. Its lists are bounded when they are read.
-- AggregateStatus bounds it again: where Karmada's agent runs in the cell, nobody else has.
local function bound_status(status)
  bound_conditions(status)
  for _, report in ipairs(status.reports or {}) do
    local entries = report.instances or {}
    for _, entry in ipairs(entries) do
      bound_instance(entry)
    end
    local states = bound(report.states, #entries)
    for _, state in ipairs(states) do
      bound_instance(state, "")
      bound_conditions(state, true)
    end
    report.states = states[1] and states
  end
  local indices = status.indices or {}
  for i, of in ipairs(indices) do
    check(of, indices_text, false, {"existing", "ready", "availableIndices", "held", "current", "dataReady", "overridden"})
    for _, value in pairs(of) do
      if not value then
        indices[i] = nil
      end
    end
    check(of, hash_text, nil, {"templateHash", "overriddenHash"})
    check(of, addresses_text, nil, {"addresses", "unroutedHostnames"})
  end
  shorten(indices, "dataMissing")
  shorten(indices, "dataDiffers")
  status.indices = indices[1] and indices
  return status
end
