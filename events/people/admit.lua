-- Recognises the person who acts, and counts the act, in one round trip.
--
-- KEYS  1 session or token
-- ARGV  1 prefix of the keys of counters  2 seconds of a window  3 prefix of the keys of suspensions
--       4 prefix of the keys of availability
-- Returns nothing, or the digest and packed person, the acts in this window, its seconds left, the suspension and the
-- availability (false: none).
--
-- Only the session says whose keys these are; all of them have its hash tag and therefore its slot.

local packed = redis.call('GET', KEYS[1])
if not packed then return false end
local person = cjson.decode(string.sub(packed, 65))[1]
local counter = ARGV[1] .. person
local used = redis.call('INCR', counter)
if used == 1 then redis.call('EXPIRE', counter, ARGV[2]) end
return {
  packed,
  used,
  redis.call('TTL', counter),
  redis.call('GET', ARGV[3] .. person),
  redis.call('GET', ARGV[4] .. person),
}
