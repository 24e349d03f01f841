-- Removes a pending change of availability, unless it has been replaced by a newer one.
--
-- KEYS  1 pending changes
-- ARGV  1 player  2 the change, packed

if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
