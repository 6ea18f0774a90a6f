-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- The size of an Instance. Karmada's own library parses and adds the quantities.

local kube = require("kube")

-- quantity is a member as text. Parsing 1e-1000000000 calculates with a number of a billion digits, which the time limit of
-- Karmada does not end: such a quantity is an error before it is parsed.
local function quantity(of, member)
  local value = of[member]
  -- Larger numbers are not exact.
  if type(value) == "number" and math.abs(value) < 9007199254740992 then
    value = tostring(value)
  end
  if type(value) ~= "string" then
    error(member .. " is no quantity", 0)
  end
  value = value:match("^%s*(.-)%s*$")
  local exponent = value:match("^[^eE]*[eE]([+-]?%d+)$")
  -- An exponent that is no number for Lua has too many digits.
  if #value > max_quantity_length or exponent and math.abs(tonumber(exponent, 10) or math.huge) > max_quantity_exponent then
    error(member .. ": a quantity is out of any range", 0)
  end
  -- An invalid quantity is an error, also where another one counts.
  kube.resourceAdd(value)
  return value
end

-- instance_size is api/v1alpha.InstanceSize: of each resource the sum over the containers where all of them name it. Where some do
-- not, it is the request of the Instance, else what is recorded of its instance type, but at least the sum of the others.
local function instance_size(spec, type_resources)
  local runtime = object(spec, "runtime")
  local size, sums = {}, {}
  for _, of in ipairs({type_resources, object(object(runtime, "resources"), "requests")}) do
    for name in pairs(of) do
      size[name] = kube.resourceAdd(quantity(of, name))
    end
  end
  local containers = list(object(runtime, "sandbox"), "containers")
  for i = 1, #containers do
    -- A container takes its limit, else its request.
    local resources, taken = object(object(containers, i), "resources"), {}
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
  for name, values in pairs(sums) do
    -- In one call, so that the sum has the format of the first quantity. The sign of the difference says which one is more.
    local sum = kube.resourceAdd(unpack(values))
    local negative = sum:match("^%-(.+)$") or "-" .. sum
    if size[name] == nil or #values == #containers or kube.resourceAdd(size[name], negative):sub(1, 1) == "-" then
      size[name] = sum
    end
  end
  return size
end
