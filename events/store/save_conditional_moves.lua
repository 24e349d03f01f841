-- Keeps what a seat of a match has laid down, privately: beside the stream and never in it.
--
-- KEYS  1 head and requests  2 orders
-- ARGV  1 seat  2 orders or "" for none  3 revision of all orders that is expected  4 version that is expected
--       5 digest that is expected: the same version may be another event once the end of a stream was lost

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
