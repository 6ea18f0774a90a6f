-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- Objects as the types of the API encode them: without members that the type does not have, and with those that are never omitted.
-- A type has by name the reader of each member, the type of the entries of a list, or in braces the type of an object.

-- bound is the begin of a list.
local function bound(entries, most)
  entries = entries or {}
  if #entries <= most then
    return entries
  end
  local first = {}
  for i = 1, most do
    first[i] = entries[i]
  end
  return first
end

-- take is the begin of a list with entries of a type, of which left has how many more there may be.
local function take(entries, name, type, left)
  local room = left[type] or max_of_type
  entries = bound(entries, math.min(max_entries[name] or max_instances, room))
  left[type] = room - #entries
  return entries
end

-- read makes a member be as a type encodes it, and returns it. A copy would cost more: a table that begins empty gets room for 32
-- members. With left, lists are bounded before their entries are read: so is the time that it takes.
local function read(fields, of, member, left)
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
      from[name] = read(reads[1], from, name, left)
    else
      local entries = list(from, name)
      if left then
        entries = take(entries, name, reads, left)
      end
      for i = 1, #entries do
        read(reads, entries, i, left)
      end
      -- Karmada drops an empty list.
      from[name] = entries[1] and entries
    end
  end
  return from
end

-- repair replaces what read refuses of a member, and adds the paths to faults. What replaces it fits nothing: a text is one that it
-- cannot be, and a number that is never omitted is negative. A list with an entry that is no object is refused as a whole: the
-- positions of its entries count.
local function repair(fields, of, member, path, faults, left)
  if not pcall(object, of, member) then
    faults[path == "" and "status" or path], of[member] = true, nil
    return
  end
  local from = object(of, member)
  for name, reads in pairs(fields) do
    local below = path == "" and name or path .. "." .. name
    if type(reads) == "function" then
      if not pcall(reads, from, name) then
        local instead = nil
        if reads == text or reads == some_text or reads == pointer then
          instead = "\127"
        elseif reads == int32 or reads == int64 then
          instead = -1
        end
        faults[below], from[name] = true, instead
      end
    elseif reads[1] then
      repair(reads[1], from, name, below, faults, left)
    else
      local readable, entries = pcall(list, from, name)
      entries = readable and take(entries, name, reads, left) or {}
      for i = 1, #entries do
        readable = readable and pcall(object, entries, i)
      end
      if not readable then
        faults[below], entries = true, {}
      end
      from[name] = entries[1] and entries
      for i = 1, #entries do
        repair(reads, entries, i, below, faults, left)
      end
    end
  end
end

-- ignored is the message about faults, or nil without any.
local function ignored(faults)
  local names = {}
  for name in pairs(faults) do
    table.insert(names, name)
  end
  if names[1] then
    table.sort(names)
    local more = names[max_named + 1] and ", …" or ""
    return "fields of its report have a wrong type or range and are ignored: " .. table.concat(bound(names, max_named), ", ") .. more
  end
end
