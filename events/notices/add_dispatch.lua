-- Adds what is to be sent to a player, unless it is there or was finished.
--
-- KEYS  1 due  2 dispatches of the player  3 finished of the player
-- ARGV  1 player  2 id  3 JSON of the dispatch  4 instant at which it is due
-- Returns 1, or 0 when nothing was added.

if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 or redis.call('ZSCORE', KEYS[3], ARGV[2]) then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('ZADD', KEYS[1], ARGV[4], ARGV[1] .. ' ' .. ARGV[2])
return 1
