-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

function ReflectStatus(observedObj)
  local metadata = object(observedObj, "metadata")
  local readable, status = pcall(read, WorkloadDeploymentStatus, observedObj, "status", {})
  if not readable then
    local faults = {}
    repair(WorkloadDeploymentStatus, observedObj, "status", "", faults, {})
    status = read(WorkloadDeploymentStatus, observedObj, "status", {})
    status.conditions = status.conditions or {}
    -- The hub has the time of its own condition: this one has to be the same each time.
    table.insert(status.conditions, 1, {
      type = condition_report_valid, status = "False", reason = reason_report_fields_ignored, message = ignored(faults),
      lastTransitionTime = time(metadata, "creationTimestamp") or "1970-01-01T00:00:00Z",
    })
    status.conditions = bound(status.conditions, max_entries.conditions)
  end
  -- Only the autoscaler of the cell reads it.
  status.selector = nil
  -- Only projects have these.
  status.lastProgressTime, status.suspended, status.assignedReplicas, status.endpoints = nil, nil, nil, nil
  status.updatedReplicas, status.updatedAvailableReplicas = nil, nil
  status.generation = int64(metadata, "generation")
  -- The generation of the object on the hub from which Karmada wrote the object in the cell.
  local annotation = pointer(object(metadata, "annotations"), template_generation_annotation)
  local digits = (annotation or "0"):match("^[+-]?%d+$")
  local generation = digits and tonumber(digits, 10)
  -- Numbers from 2^53 on are not exact.
  if generation == nil or math.abs(generation) >= 9007199254740992 then
    error("annotation " .. template_generation_annotation .. " is no generation", 0)
  end
  status.resourceTemplateGeneration = generation
  return bound_status(status)
end
