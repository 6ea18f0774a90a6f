-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- Objects as the types of the API encode them: without members that the type does not have, and with those that are never
-- omitted. They are copies. A type is a list of names, each before the function that reads such a member, or before the type of the
-- entries of a list. This takes the parser a third of the time of named parts, and it parses them for each run.

-- some omits an empty value.
local function some(read_value, empty)
  return function(of, member)
    local value = read_value(of, member)
    if value ~= empty then
      return value
    end
  end
end

local some_text, some_integer = some(text, ""), some(integer, 0)

-- count is a number of 32 bits.
local function count(of, member)
  return integer(of, member, 32) or 0
end

-- whole is a number of 64 bits.
local function whole(of, member)
  return integer(of, member) or 0
end

-- pointer omits a text that is missing, but not an empty one.
local function pointer(of, member)
  if of[member] ~= nil then
    return text(of, member)
  end
end

-- read is a member as a type encodes it.
local function read(fields, of, member)
  local from, result = object(of, member), fields.embedded and read(fields.embedded, of, member) or {}
  for i = 1, #fields, 2 do
    local name, reads = fields[i], fields[i + 1]
    if type(reads) == "table" then
      local entries, items = {}, list(from, name)
      for n = 1, #items do
        entries[n] = read(reads, items, n)
      end
      -- Karmada drops an empty list.
      result[name] = entries[1] and entries
    else
      result[name] = reads(from, name)
    end
  end
  return result
end
