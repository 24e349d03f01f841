-- Sets until when a slice is leased to its owner: longer, or no more.
--
-- KEYS  1 leases  2 takes
-- ARGV  1 number  2 owner  3 milliseconds from now  4 what has failed, or ""  5 1: this take does not count
-- Returns 1, 0 when somebody else has the slice or it is done.

if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return 0 end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3]), ARGV[1])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[2], ARGV[1] .. ':error', ARGV[4]) end
if ARGV[5] == '1' then redis.call('HINCRBY', KEYS[2], ARGV[1] .. ':times', -1) end
return 1
