-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- Members of an object. One that is null is missing. One of another type than in the API is an error that names it.
--
-- Karmada compiles a script on each run. A function costs as much there as 30 to 80 words of any Lua: all readers are made from one,
-- and other files seldom divide what has one caller.

-- reader makes a function that reads a member of an object, or an entry of a list. Of a number, limit is the least that it cannot
-- be. Of a table, it is the type of the keys that it cannot have: Lua does not tell an empty object from an empty list. What is
-- missing is read as the value missing, and the value omitted as nil. math.floor finds fractions and not %, whose remainder of a
-- negative integer by 1 is 1 in the Lua of Karmada 1.16 and 1.17.
local function reader(kind, noun, limit, missing, omitted)
  return function(of, member)
    local value = of[member]
    if value == nil then
      return kind == "table" and {} or missing
    end
    if type(value) ~= kind or kind == "table" and type(next(value)) == limit or kind == "number" and value ~= math.floor(value) then
      error(member .. " is no " .. noun, 0)
    end
    if kind == "number" and (value >= limit or value < -limit) then
      error(member .. " is too large", 0)
    end
    if value ~= omitted then
      return value
    end
  end
end

local object = reader("table", "object", "number")

local list = reader("table", "list", "string")

local text = reader("string", "text", nil, "")

local some_text = reader("string", "text", nil, nil, "")

-- pointer is a text that may be missing or empty.
local pointer = reader("string", "text")

local int32 = reader("number", "integer", 2147483648, 0)

local some_int32 = reader("number", "integer", 2147483648, nil, 0)

local pointer32 = reader("number", "integer", 2147483648)

-- Karmada converts numbers to floats, which are not exact from 2^53 on.
local int64 = reader("number", "integer", 9007199254740992, 0)

local some_int64 = reader("number", "integer", 9007199254740992, nil, 0)

local some_bool = reader("boolean", "boolean", nil, nil, false)
