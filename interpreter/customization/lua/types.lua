-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- Objects as the types of the API encode them: without members that the type does not have, and with those that are never
-- omitted. They are copies.

local read_fields

local readers = {
  string = function(of, field)
    local value = text(of, field.name)
    if value ~= "" or field.always then
      return value
    end
  end,
  pointer = function(of, field)
    if of[field.name] ~= nil then
      return text(of, field.name)
    end
  end,
  integer = function(of, field)
    local value = integer(of, field.name, field.bits) or 0
    if value ~= 0 or field.always then
      return value
    end
  end,
  time = function(of, field)
    return time(of, field.name)
  end,
  object = function(of, field)
    return read_fields(field.fields, object(of, field.name))
  end,
  list = function(of, field)
    local from, result = list(of, field.name), {}
    for i = 1, #from do
      result[i] = read_fields(field.fields, object(from, i))
    end
    -- Karmada drops an empty list.
    if #result > 0 then
      return result
    end
  end,
}

function read_fields(fields, from)
  local result = {}
  for i = 1, #fields do
    local field = fields[i]
    result[field.name] = readers[field.kind](from, field)
  end
  return result
end

-- read is a member as a type with these fields encodes it.
local function read(fields, of, member)
  return read_fields(fields, object(of, member))
end
