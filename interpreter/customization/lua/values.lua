-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- Members of an object. One that is null is missing. One of another type than in the API is an error that names it.

-- reader makes a function that reads a member of an object, or an entry of a list. Lua does not tell an empty object from an empty
-- list: what is not empty is of the wrong kind when its keys are.
local function reader(kind, noun, wrong_key)
  return function(of, member)
    local value = of[member]
    if value == nil then
      return kind == "string" and "" or {}
    end
    if type(value) ~= kind or wrong_key and type(next(value)) == wrong_key then
      error(member .. " is no " .. noun, 0)
    end
    return value
  end
end

-- Each of them is empty where the member is missing.
local object, list, text = reader("table", "object", "number"), reader("table", "list", "string"), reader("string", "text")

-- integer is nil where the member is missing. Karmada converts numbers to floats, which are not exact from 2^53 on.
local function integer(of, member, bits)
  local value = of[member]
  if value == nil then
    return nil
  end
  if type(value) ~= "number" or value % 1 ~= 0 then
    error(member .. " is no integer", 0)
  end
  local limit = bits == 32 and 2147483648 or 9007199254740992
  if value >= limit or value < -limit then
    error(member .. " is too large", 0)
  end
  return value
end

-- without_managed_fields removes the managed fields, which Karmada neither compares nor writes. They have hundreds of empty
-- objects, and Karmada converts all of the object once for each of them.
local function without_managed_fields(of)
  object(of, "metadata").managedFields = nil
end
