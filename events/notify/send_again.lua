-- Sends a notice again, or now where it waits to be sent.
--
-- KEYS  1 base of the outbox (work_list.lua)  2 notice
-- ARGV  1 player  2 id of the first dispatch  3 JSON of the dispatch  4 now  5 field of the delivery
--       6 JSON of the delivery  7 lane
-- Returns 'none' when there is no such notice, 'sending' when it is being sent, and 'added'.

if redis.call('EXISTS', KEYS[2]) == 0 then return 'none' end
local id = ARGV[1] .. ' ' .. ARGV[2]
if redis.call('HEXISTS', KEYS[1] .. 'entry:' .. id, 'token') == 1 then return 'sending' end
if redis.call('EXISTS', KEYS[1] .. 'entry:' .. id) == 0 then id = id .. ':' .. ARGV[4] end
work.discard(id)
work.add(id, ARGV[7], ARGV[1], 1, ARGV[4], ARGV[3], '')
redis.call('HSET', KEYS[2], ARGV[5], ARGV[6])
return 'added'
