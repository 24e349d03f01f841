-- Takes the mail of a shard that is due first, and makes it due again at the end of the lease.
--
-- KEYS  1 due  2 attempts
-- ARGV  1 now  2 end of the lease
-- Returns the member of 1 and how often it has been taken now, false when none is due.

local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 1)
if #due == 0 then return false end
redis.call('ZADD', KEYS[1], ARGV[2], due[1])
return {due[1], redis.call('HINCRBY', KEYS[2], due[1], 1)}
