-- Stores the conditional moves of a seat beside the stream; they are private and never in it.
--
-- KEYS  1 head and requests  2 conditional moves
-- ARGV  1 seat  2 its conditional moves or "" for none  3 expected revision of those of all seats  4 expected version
--       5 expected digest: a version may be another event after the end of the stream was lost

local known = redis.call('HMGET', KEYS[1], 'o', 'v', 'd')
if (known[1] or '0') ~= ARGV[3] or (known[2] or '0') ~= ARGV[4] or (known[3] or string.rep('\0', 32)) ~= ARGV[5] then
  return false
end
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[2], ARGV[1])
else
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
end
return redis.call('HINCRBY', KEYS[1], 'o', 1)
