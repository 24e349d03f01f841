-- Replaces or removes an outage.
--
-- KEYS  as in record_beat.lua
-- ARGV  1 the outage  2 the outage as it is to be, or ""  3 its end
--
-- Crash-safe: one step; repeated, it finds nothing to change.

if redis.call('ZREM', KEYS[2], ARGV[1]) == 1 then
  redis.call('ZREM', KEYS[3], ARGV[1])
  redis.call('ZREM', KEYS[4], ARGV[1])
  if ARGV[2] ~= '' then
    redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2])
    redis.call('ZADD', KEYS[3], ARGV[3], ARGV[2])
  end
end
