-- Adds what is to be sent to a player, unless it is there or was finished.
--
-- KEYS  1 base of the outbox (work_list.lua)  2 finished of the player
-- ARGV  1 player  2 id  3 JSON of the dispatch  4 instant at which it is due  5 lane
-- Returns 1, or 0 when nothing was added.

if redis.call('ZSCORE', KEYS[2], ARGV[2]) then return 0 end
return work.add(ARGV[1] .. ' ' .. ARGV[2], ARGV[5], ARGV[1], 1, ARGV[4], ARGV[3], '')
