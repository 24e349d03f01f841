-- Keeps what a seat of a match has laid down, privately: beside the stream and never in it.
--
-- KEYS  1 head and requests  2 orders
-- ARGV  1 seat  2 orders or "" for none  3 revision of all orders that is expected  4 version that is expected

if (redis.call('HGET', KEYS[1], 'o') or '0') ~= ARGV[3] or (redis.call('HGET', KEYS[1], 'v') or '0') ~= ARGV[4] then
  return false
end
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[2], ARGV[1])
else
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
end
return redis.call('HINCRBY', KEYS[1], 'o', 1)
