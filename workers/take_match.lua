-- Takes the match whose turn it is out of a lane.
--
-- KEYS  1 matches by charge  2 people by charge  3 present charge  4 origins of the matches
-- Returns the match and its origin, or ""; false when none waits.

local next = redis.call('ZPOPMIN', KEYS[1])
if #next == 0 then
  redis.call('DEL', KEYS[2], KEYS[3], KEYS[4])
  return false
end
redis.call('SET', KEYS[3], next[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', next[2])
local origin = redis.call('HGET', KEYS[4], next[1])
redis.call('HDEL', KEYS[4], next[1])
return {next[1], origin or ''}
