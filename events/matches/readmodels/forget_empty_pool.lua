-- Forgets a pool whose last result was removed.
--
-- KEYS  1 pools  2 leaderboard of the pool
-- ARGV  1 pool

if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('SREM', KEYS[1], ARGV[1]) end
