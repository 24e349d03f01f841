-- Finds the matches of which this server does not have the events that a client has read, perhaps on another server.
--
-- KEYS  for each match: its head, its events
-- ARGV  for each match: the version that was read (0: no such match), the beginning of the digest there
-- Returns the places of the matches whose history here is another one, from 1. One that has gone on since is none.

local strange = {}
for place = 1, #KEYS / 2 do
  local version, digest = ARGV[2 * place - 1], ARGV[2 * place]
  local head = redis.call('HMGET', KEYS[2 * place - 1], 'v', 'd')
  local here = head[2]
  if (head[1] or '0') ~= version and version ~= '0' then
    local found = redis.call('XRANGE', KEYS[2 * place], version .. '-0', version .. '-0')
    here = found[1] and found[1][2][4]
  end
  if version == '0' and head[1] or version ~= '0' and (not here or string.sub(here, 1, #digest) ~= digest) then
    strange[#strange + 1] = place
  end
end
return strange
