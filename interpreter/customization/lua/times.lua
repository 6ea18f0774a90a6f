-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- Many Instances have the same times.
local known_times = {}

-- time is a time in the format of the API: UTC, whole seconds. It is nil where the member is missing or the zero time.
local function time(of, member)
  local stamp = text(of, member)
  if of[member] == nil or stamp == "0001-01-01T00:00:00Z" then
    return nil
  end
  if known_times[stamp] == nil then
    local year, month, day, hour, minute, second, zone = stamp:match("^(%d%d%d%d)%-(%d%d)%-(%d%d)T(%d%d):([0-5]%d):([0-5]%d)(.+)$")
    zone = zone and zone:match("^[.,]%d+(.+)$") or zone or ""
    local sign, hours, minutes = (zone == "Z" and "+00:00" or zone):match("^([+-])(%d%d):(%d%d)$")
    -- Karmada's os library calculates in the time zone of its process, but noon, the default, is on the same day in each. A day that
    -- a month does not have is another one then.
    local noon = sign and os.time({year = tonumber(year, 10), month = tonumber(month, 10), day = tonumber(day, 10)})
    if noon == nil or os.date("%F", noon) ~= stamp:sub(1, 10) or hour > "23" or hours > "24" or minutes > "60" then
      error(member .. " is no time", 0)
    end
    local utc = (hour - (sign .. hours)) * 60 + minute - (sign .. minutes)
    -- Only of numbers that are not negative is the remainder the same in every version of Karmada.
    local days = math.floor(utc / 1440)
    utc = utc - days * 1440
    known_times[stamp] = os.date("%F", noon + days * 86400) .. string.format("T%02d:%02d:%sZ", math.floor(utc / 60), utc % 60, second)
  end
  return known_times[stamp]
end
