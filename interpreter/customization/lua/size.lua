-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- What one Instance takes. Karmada's own library reads and adds the quantities.

local kube = require("kube")

-- quantity is a member as text. To read 1e-1000000000 is to calculate with a number of a billion digits, and Karmada's
-- time limit does not stop that: such a quantity is refused before anything reads it.
local function quantity(of, member)
  local value = of[member]
  -- Larger numbers have been rounded.
  if type(value) == "number" and math.abs(value) < 9007199254740992 then
    value = tostring(value)
  end
  if type(value) ~= "string" then
    error(member .. " is no quantity", 0)
  end
  value = string.match(value, "^%s*(.-)%s*$")
  local exponent = string.match(value, "^[^eE]*[eE]([+-]?%d+)$")
  -- An exponent that Lua cannot read has too many digits.
  if #value > max_quantity_length or exponent and math.abs(tonumber(exponent, 10) or math.huge) > max_quantity_exponent then
    error(member .. ": a quantity is out of any range", 0)
  end
  -- What is no quantity is an error here, also where it does not count.
  kube.resourceAdd(value)
  return value
end

-- container_sums are by resource what the containers take, limits before requests, and how many of them say so.
local function container_sums(containers)
  local sums = {}
  for i = 1, #containers do
    local resources = object(object(containers, i), "resources")
    local taken = {}
    for _, of in ipairs({object(resources, "requests"), object(resources, "limits")}) do
      for name in pairs(of) do
        taken[name] = quantity(of, name)
      end
    end
    for name, value in pairs(taken) do
      sums[name] = sums[name] or {}
      table.insert(sums[name], value)
    end
  end
  return sums
end

-- instance_size is for each resource the sum over the containers; where they do not say, what the Instance requests;
-- else what its instance type names. A sum that leaves a container out counts only when nothing else names the resource.
local function instance_size(spec)
  local runtime = object(spec, "runtime")
  local resources = object(runtime, "resources")
  local size = {}
  for name, value in pairs(instance_types[text(resources, "instanceType")] or {}) do
    size[name] = value
  end
  local requests = object(resources, "requests")
  for name in pairs(requests) do
    size[name] = kube.resourceAdd(quantity(requests, name))
  end
  local containers = list(object(runtime, "sandbox"), "containers")
  for name, values in pairs(container_sums(containers)) do
    if size[name] == nil or #values == #containers then
      -- In one call: a sum of several is written as the first of them is.
      size[name] = kube.resourceAdd(unpack(values))
    end
  end
  return size
end
