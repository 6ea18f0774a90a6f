-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- Objects as the types of the API encode them: without members that the type does not have, and with those that are never omitted.
-- A type has by name the reader of each member, the type of the entries of a list, or in braces the type of an object.

-- read makes a member be as a type encodes it, and returns it. A copy would cost more: a table that begins empty gets room for 32
-- members.
local function read(fields, of, member)
  local from = object(of, member)
  for name in pairs(from) do
    if fields[name] == nil then
      from[name] = nil
    end
  end
  for name, reads in pairs(fields) do
    if type(reads) == "function" then
      from[name] = reads(from, name)
    elseif reads[1] then
      from[name] = read(reads[1], from, name)
    else
      local entries = list(from, name)
      for i = 1, #entries do
        read(reads, entries, i)
      end
      -- Karmada drops an empty list.
      from[name] = entries[1] and entries
    end
  end
  return from
end
