-- Copyright The karmada-compute Authors.
-- SPDX-License-Identifier: Apache-2.0

-- The ConfigMaps and Secrets that the templates name: pull secrets, environments, volumes. Karmada sorts them.
function GetDependencies(desiredObj)
  local metadata, spec = object(desiredObj, "metadata"), object(desiredObj, "spec")
  local namespace = text(metadata, "namespace")
  local dependencies, seen = {}, {}
  local function add(kind, of, member)
    local name = text(of, member)
    -- Karmada refuses all dependencies when one has no name.
    if name ~= "" and not seen[kind .. name] then
      seen[kind .. name] = true
      table.insert(dependencies, {apiVersion = "v1", kind = kind, namespace = namespace, name = name})
    end
  end
  local templates = {object(spec, "template")}
  if spec.partition ~= nil then
    templates[2] = object(object(spec, "partition"), "template")
  end
  for _, of in ipairs(templates) do
    local template = object(of, "spec")
    local sandbox = object(object(template, "runtime"), "sandbox")
    local secrets, volumes = list(sandbox, "imagePullSecrets"), list(template, "volumes")
    for i = 1, #secrets do
      add("Secret", object(secrets, i), "name")
    end
    for _, containers in ipairs({list(sandbox, "containers"), list(sandbox, "initContainers")}) do
      for i = 1, #containers do
        local container = object(containers, i)
        local env, sources = list(container, "env"), list(container, "envFrom")
        for j = 1, #env do
          local source = object(object(env, j), "valueFrom")
          add("ConfigMap", object(source, "configMapKeyRef"), "name")
          add("Secret", object(source, "secretKeyRef"), "name")
        end
        for j = 1, #sources do
          local source = object(sources, j)
          add("ConfigMap", object(source, "configMapRef"), "name")
          add("Secret", object(source, "secretRef"), "name")
        end
      end
    end
    for i = 1, #volumes do
      local volume = object(volumes, i)
      add("ConfigMap", object(volume, "configMap"), "name")
      add("Secret", object(volume, "secret"), "secretName")
    end
  end
  local uid = text(object(metadata, "labels"), deployment_uid_label)
  if uid ~= "" and int32(spec, "slices") > 0 then
    table.insert(dependencies, {
      apiVersion = slice_api_version, kind = slice_kind, namespace = namespace,
      labelSelector = {matchLabels = {[deployment_uid_label] = uid}},
    })
  end
  return dependencies
end
