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

-- instance_size is internal/templates.InstanceSize: of each resource the sum over the containers where all of them have a limit. Where some have
-- none, it is the request of the Instance, else what is recorded of its instance type, but at least the sum. Sidecars add to the sum, and
-- the size is at least what an init container takes with the sidecars before it. An amount of zero does not count.
local function instance_size(spec, type_resources)
  local runtime = object(spec, "runtime")
  local size, sums, limited, sidecars, begins = {}, {}, {}, {}, {}
  for _, of in ipairs({type_resources, object(object(runtime, "resources"), "requests")}) do
    for name in pairs(of) do
      size[name] = kube.resourceAdd(quantity(of, name))
    end
  end
  local sandbox = object(runtime, "sandbox")
  local containers, init = list(sandbox, "containers"), list(sandbox, "initContainers")
  for i = 1, #containers + #init do
    -- A container takes its limit, else its request.
    local begin = i - #containers
    local container = begin > 0 and object(init, begin) or object(containers, i)
    local resources, taken = object(container, "resources"), {}
    for _, part in ipairs({"requests", "limits"}) do
      local of = object(resources, part)
      for name in pairs(of) do
        local value = quantity(of, name)
        if kube.resourceAdd(value) ~= "0" then
          taken[name] = value
          if part == "limits" and begin <= 0 then
            limited[name] = (limited[name] or 0) + 1
          end
        end
      end
    end
    local sidecar = pointer(container, "restartPolicy") == "Always"
    for name, value in pairs(taken) do
      sums[name], sidecars[name], begins[name] = sums[name] or {}, sidecars[name] or {}, begins[name] or {}
      if begin > 0 and not sidecar then
        table.insert(begins[name], kube.resourceAdd(value, unpack(sidecars[name])))
      else
        table.insert(sums[name], value)
        if begin > 0 then
          table.insert(sidecars[name], value)
        end
      end
    end
  end
  -- The sign of the difference says which one is more.
  local function raise(name, value, always)
    local negative = value:match("^%-(.+)$") or "-" .. value
    if size[name] == nil or always or kube.resourceAdd(size[name], negative):sub(1, 1) == "-" then
      size[name] = value
    end
  end
  for name, values in pairs(sums) do
    if values[1] then
      -- In one call, so that the sum has the format of the first quantity.
      raise(name, kube.resourceAdd(unpack(values)), (limited[name] or 0) == #containers)
    end
    for _, value in ipairs(begins[name]) do
      raise(name, value)
    end
  end
  return size
end
