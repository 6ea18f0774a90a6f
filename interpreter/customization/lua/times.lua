-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- Times in the format of the API: UTC, whole seconds.

-- date is a date, some days later. A day that a month does not have is one of the next. Karmada's os library calculates in the time
-- zone of its process, but noon, which is its default, is on the same day in each.
local function date(year, month, day, later)
  return os.date("%F", os.time({year = tonumber(year, 10), month = tonumber(month, 10), day = day + later}))
end

-- utc is a time of RFC 3339 in the format of the API, or nil for an invalid one.
local function utc(stamp)
  local year, month, day, hour, minute, second, rest = string.match(stamp, "^(%d%d%d%d)%-(%d%d)%-(%d%d)T(%d%d):(%d%d):(%d%d)(.+)$")
  if year == nil or hour > "23" or minute > "59" or second > "59" or date(year, month, day, 0) ~= string.sub(stamp, 1, 10) then
    return nil
  end
  local zone = string.match(rest, "^[.,]%d+(.+)$") or rest
  local minutes = hour * 60 + minute
  if zone ~= "Z" then
    local sign, hours_ahead, minutes_ahead = string.match(zone, "^([+-])(%d%d):(%d%d)$")
    if sign == nil or hours_ahead > "24" or minutes_ahead > "60" then
      return nil
    end
    minutes = minutes - (sign .. hours_ahead) * 60 - (sign .. minutes_ahead)
  end
  local clock = string.format("T%02d:%02d:%sZ", math.floor(minutes % 1440 / 60), minutes % 60, second)
  return date(year, month, day, math.floor(minutes / 1440)) .. clock
end

-- Many Instances have the same times.
local known_times = {}

-- time is nil where the member is missing or the zero time.
local function time(of, member)
  local stamp = text(of, member)
  if of[member] == nil or stamp == "0001-01-01T00:00:00Z" then
    return nil
  end
  known_times[stamp] = known_times[stamp] or utc(stamp)
  return known_times[stamp] or error(member .. " is no time", 0)
end
