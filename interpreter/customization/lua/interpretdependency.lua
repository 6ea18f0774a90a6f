-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- data_references are the ConfigMaps and Secrets that a template names: pull secrets, environments, volumes.
local function data_references(spec)
  local found = {}
  local function add(kind, of, member)
    table.insert(found, {kind = kind, name = text(of, member)})
  end
  local sandbox = object(object(spec, "runtime"), "sandbox")
  local secrets, containers, volumes = list(sandbox, "imagePullSecrets"), list(sandbox, "containers"), list(spec, "volumes")
  for i = 1, #secrets do
    add("Secret", object(secrets, i), "name")
  end
  for i = 1, #containers do
    local env = list(object(containers, i), "env")
    for j = 1, #env do
      local source = object(object(env, j), "valueFrom")
      add("ConfigMap", object(source, "configMapKeyRef"), "name")
      add("Secret", object(source, "secretKeyRef"), "name")
    end
    local sources = list(object(containers, i), "envFrom")
    for j = 1, #sources do
      local source = object(sources, j)
      add("ConfigMap", object(source, "configMapRef"), "name")
      add("Secret", object(source, "secretRef"), "name")
    end
  end
  for i = 1, #volumes do
    local volume = object(volumes, i)
    add("ConfigMap", object(volume, "configMap"), "name")
    add("Secret", object(volume, "secret"), "secretName")
  end
  return found
end

-- Karmada sorts them.
function GetDependencies(desiredObj)
  local metadata, spec = object(desiredObj, "metadata"), object(desiredObj, "spec")
  local namespace = text(metadata, "namespace")
  local dependencies, seen = {}, {}
  for _, data in ipairs(data_references(object(object(spec, "template"), "spec"))) do
    local key = data.kind .. "/" .. data.name
    -- Karmada refuses all dependencies when one has no name.
    if data.name ~= "" and not seen[key] then
      seen[key] = true
      table.insert(dependencies, {apiVersion = "v1", kind = data.kind, namespace = namespace, name = data.name})
    end
  end
  local uid = text(object(metadata, "labels"), deployment_uid_label)
  if uid ~= "" and (integer(spec, "slices", 32) or 0) > 0 then
    table.insert(dependencies, {
      apiVersion = slice_api_version, kind = slice_kind, namespace = namespace,
      labelSelector = {matchLabels = {[deployment_uid_label] = uid}},
    })
  end
  return dependencies
end
