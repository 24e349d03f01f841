-- Sends a notice again, or now where it waits to be sent.
--
-- KEYS  1 due  2 dispatches of the player  3 notice  4 notices that wait for a digest
-- ARGV  1 player  2 id of the first dispatch  3 JSON of the dispatch  4 now  5 field of the delivery
--       6 JSON of the delivery  7 id of the notice, empty unless it may wait for the digest
-- Returns 'none' when there is no such notice, 'sending' when it is being sent, and 'added'.

if redis.call('EXISTS', KEYS[3]) == 0 then return 'none' end
local id = ARGV[2]
local lease = redis.call('HGET', KEYS[2], id .. '@')
if lease and tonumber(lease) > tonumber(ARGV[4]) then return 'sending' end
if redis.call('HEXISTS', KEYS[2], id) == 0 then id = id .. ':' .. ARGV[4] end
redis.call('HSET', KEYS[2], id, ARGV[3])
redis.call('ZADD', KEYS[1], ARGV[4], ARGV[1] .. ' ' .. id)
redis.call('HSET', KEYS[3], ARGV[5], ARGV[6])
redis.call('ZREM', KEYS[4], ARGV[7])
return 'added'
