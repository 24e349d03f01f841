-- Names events of a match as lost in an incident; an event that was named before, in this incident or another, stays as
-- it is. All keys share one hash tag.
--
-- KEYS  1 incidents  2 matches of the incident  3 incidents of the match  4 lost events of the match
-- ARGV  1 id of the incident  2 the incident, packed  3 match, then for each event: version, digest or "", request or ""
-- Returns how many were named for the first time.
--
-- A finder may not know the digest. Without one an event is the same as any other of its version; with one it completes
-- an event of its version that has none, and is another event than one with another digest: a version can be lost twice.

local added = 0
for place = 4, #ARGV, 3 do
  local version, digest = ARGV[place], ARGV[place + 1]
  local value = digest .. ' ' .. ARGV[1] .. ' ' .. ARGV[place + 2]
  local known = redis.call('HGET', KEYS[4], version)
  local known_digest = known and string.match(known, '^%x*')
  if not known then
    redis.call('HSET', KEYS[4], version, value)
    added = added + 1
  elseif digest ~= '' and known_digest == '' then
    local id = string.match(known, '^ (%S+)')
    redis.call('HSET', KEYS[4], version, digest .. ' ' .. id .. ' ' .. ARGV[place + 2])
  elseif digest ~= '' and known_digest ~= digest then
    added = added + redis.call('HSETNX', KEYS[4], version .. ' ' .. digest, value)
  end
end
if added > 0 then
  redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
  redis.call('SADD', KEYS[2], ARGV[3])
  redis.call('SADD', KEYS[3], ARGV[1])
end
return added
