-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- Members of an object. One that is null is missing. One of another type than in the API is an error that names it.
-- Lua does not tell an empty object from an empty list.

-- object is empty where the member is missing.
local function object(of, member)
  local value = of[member]
  if value == nil then
    return {}
  end
  if type(value) ~= "table" or type(next(value)) == "number" then
    error(member .. " is no object", 0)
  end
  return value
end

-- list is empty where the member is missing.
local function list(of, member)
  local value = of[member]
  if value == nil then
    return {}
  end
  if type(value) ~= "table" or type(next(value)) == "string" then
    error(member .. " is no list", 0)
  end
  return value
end

-- text is empty where the member is missing.
local function text(of, member)
  local value = of[member]
  if value == nil then
    return ""
  end
  if type(value) ~= "string" then
    error(member .. " is no text", 0)
  end
  return value
end

-- integer is nil where the member is missing. Karmada converts numbers to floats, which are not exact from 2^53 on.
local function integer(of, member, bits)
  local value = of[member]
  if value == nil then
    return nil
  end
  if type(value) ~= "number" or value % 1 ~= 0 then
    error(member .. " is no integer", 0)
  end
  local limit = 9007199254740992
  if bits == 32 then
    limit = 2147483648
  end
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
