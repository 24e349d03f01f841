-- Recognises the person who acts, and counts the act, in one round trip.
--
-- KEYS  1 session or token
-- ARGV  1 what the keys of counters begin with  2 seconds of a window  3 what the keys of suspensions begin with
-- Returns nothing, or the packed person, the acts in this window, its seconds left, and the suspension (false: none).
--
-- Only the session says whose count it is; counter and suspension have the same hash tag and therefore the same place.

local packed = redis.call('GET', KEYS[1])
if not packed then return false end
local person = cjson.decode(packed)[1]
local counter = ARGV[1] .. person
local used = redis.call('INCR', counter)
if used == 1 then redis.call('EXPIRE', counter, ARGV[2]) end
return {packed, used, redis.call('TTL', counter), redis.call('GET', ARGV[3] .. person)}
