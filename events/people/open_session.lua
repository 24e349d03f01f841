-- Opens a session of a person who is there, in one step with the look whether they are: of a person who is being
-- erased none is left behind. Beyond the most that a person may have, the oldest end.
--
-- KEYS  1 person  2 session  3 sessions of the person
-- ARGV  1 packed person  2 seconds it lasts  3 instant  4 most sessions
-- Returns 1, or 0 when there is no such person.

if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('SET', KEYS[2], string.sub(KEYS[2], -64) .. ARGV[1], 'EX', ARGV[2])
redis.call('ZADD', KEYS[3], ARGV[3], KEYS[2])
redis.call('EXPIRE', KEYS[3], ARGV[2])
local surplus = redis.call('ZCARD', KEYS[3]) - ARGV[4]
if surplus > 0 then
  redis.call('DEL', unpack(redis.call('ZRANGE', KEYS[3], 0, surplus - 1)))
  redis.call('ZREMRANGEBYRANK', KEYS[3], 0, surplus - 1)
end
return 1
