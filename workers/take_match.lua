-- Takes the match whose turn it is out of a lane.
--
-- KEYS  1 matches by charge  2 people by charge  3 present charge
-- Returns the match, false when none waits.

local next = redis.call('ZPOPMIN', KEYS[1])
if #next == 0 then
  redis.call('DEL', KEYS[2], KEYS[3])
  return false
end
redis.call('SET', KEYS[3], next[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', next[2])
return next[1]
