-- Health of an Application that another Application syncs. Argo CD waits for it
-- before it goes on to the next wave. The health that a child had under its last
-- spec says nothing about the one that was just applied: it counts only when
-- that spec was compared and synced.

-- Empty, down to what is inside: Argo CD writes a source that is not there as
-- one without an address.
local blank
function blank(v)
  if type(v) ~= "table" then return v == nil or v == false or v == "" end
  for _, e in pairs(v) do
    if not blank(e) then return false end
  end
  return true
end

-- The status leaves out what is empty, the spec may not.
local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then
    return a == b or blank(a) and blank(b)
  end
  for k, v in pairs(a) do
    if not same(v, b[k]) then return false end
  end
  for k, v in pairs(b) do
    if a[k] == nil and not blank(v) then return false end
  end
  return true
end

local spec, status = obj.spec or {}, obj.status or {}
local sync, health = status.sync or {}, status.health or {}
local compared = sync.comparedTo or {}
local operation = status.operationState or {}
local automated = spec.syncPolicy ~= nil and spec.syncPolicy.automated ~= nil

if health.status == nil or sync.status == nil then
  return {status = "Progressing", message = "not compared yet"}
end
if not same(spec.source, compared.source) or not same(spec.sources, compared.sources) then
  return {status = "Progressing", message = "its new source is not compared yet"}
end
if sync.status ~= "Synced" and (operation.phase == "Failed" or operation.phase == "Error") then
  return {status = "Degraded", message = operation.message or "its last sync failed"}
end
if operation.phase == "Running" then
  return {status = "Progressing", message = "is syncing"}
end
if automated and sync.status ~= "Synced" then
  return {status = "Progressing", message = "waits for its sync"}
end
return {status = health.status, message = health.message or ""}
