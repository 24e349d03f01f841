-- Recognises the person who acts, and counts the act, in one round trip.
--
-- KEYS  1 session or token
-- ARGV  1 prefix of the keys of accounts  2 prefix of the keys of counters  3 seconds of a window, 0: nothing is counted
--       4 prefix of the keys of suspensions  5 prefix of the keys of availability
-- Returns nothing, or the digest and id of the person, name, kind and instant of the account, the acts in this window,
-- its seconds left, the suspension and the availability (false: none).
--
-- Only the session says whose keys these are; all of them have its hash tag and therefore its slot.

local stored = redis.call('GET', KEYS[1])
if not stored then return false end
local person = string.sub(stored, 65)
local account = redis.call('HMGET', ARGV[1] .. person, 'name', 'kind', 'created_at')
if not account[1] then return false end
local counter, used = ARGV[2] .. person, 0
if ARGV[3] ~= '0' then
  used = redis.call('INCR', counter)
  if used == 1 then redis.call('EXPIRE', counter, ARGV[3]) end
end
return {
  stored,
  account,
  used,
  redis.call('TTL', counter),
  redis.call('GET', ARGV[4] .. person),
  redis.call('GET', ARGV[5] .. person),
}
