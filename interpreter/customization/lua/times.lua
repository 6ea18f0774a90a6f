-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- Times in the format of the API: UTC, whole seconds.

local month_days = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

-- days is the number of days since 1 March of year 0. A leap day is the last of its year then.
local function days(year, month, day)
  if month < 3 then
    year, month = year - 1, month + 12
  end
  return 365 * year + math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400) + math.floor((153 * month - 457) / 5) + day - 1
end

-- date is the inverse of days: year, month and day.
local function date(count)
  local year = math.floor((count * 400 + 799) / 146097)
  if days(year, 3, 1) > count then
    year = year - 1
  end
  local of_year = count - days(year, 3, 1)
  local month = math.floor((of_year * 5 + 2) / 153) + 3
  local day = of_year - math.floor((153 * month - 457) / 5) + 1
  if month > 12 then
    return year + 1, month - 12, day
  end
  return year, month, day
end

-- is_date says whether a month has such a day.
local function is_date(year, month, day)
  if month < 1 or month > 12 or day < 1 then
    return false
  end
  local leap = year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
  return day <= month_days[month] or month == 2 and day == 29 and leap
end

-- zone_minutes is the offset of a time zone from UTC, or nil for an invalid one.
local function zone_minutes(zone)
  if zone == "Z" then
    return 0
  end
  local sign, hours, minutes = string.match(zone, "^([+-])(%d%d):(%d%d)$")
  if sign == nil then
    return nil
  end
  hours, minutes = tonumber(hours, 10), tonumber(minutes, 10)
  if hours > 24 or minutes > 60 then
    return nil
  end
  if sign == "-" then
    return -(hours * 60 + minutes)
  end
  return hours * 60 + minutes
end

-- utc is a time of RFC 3339 in the format of the API, or nil for an invalid one.
local function utc(stamp)
  local fields = {string.match(stamp, "^(%d%d%d%d)%-(%d%d)%-(%d%d)T(%d%d):(%d%d):(%d%d)(.+)$")}
  if #fields == 0 then
    return nil
  end
  local ahead = zone_minutes(string.match(fields[7], "^[.,]%d+(.+)$") or fields[7])
  for i = 1, 6 do
    fields[i] = tonumber(fields[i], 10)
  end
  local year, month, day, hour, minute, second = unpack(fields)
  if ahead == nil or not is_date(year, month, day) or hour > 23 or minute > 59 or second > 59 then
    return nil
  end
  local minutes = days(year, month, day) * 1440 + hour * 60 + minute - ahead
  year, month, day = date(math.floor(minutes / 1440))
  minutes = minutes % 1440
  return string.format("%04d-%02d-%02dT%02d:%02d:%02dZ", year, month, day, math.floor(minutes / 60), minutes % 60, second)
end

-- Many Instances have the same times.
local known_times = {}

-- time is nil where the member is missing or the zero time.
local function time(of, member)
  local stamp = text(of, member)
  if of[member] == nil or stamp == "0001-01-01T00:00:00Z" then
    return nil
  end
  local known = known_times[stamp]
  if known == nil then
    known = utc(stamp)
    if known == nil then
      error(member .. " is no time", 0)
    end
    known_times[stamp] = known
  end
  return known
end
