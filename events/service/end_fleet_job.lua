-- Ends a fleet job that is not finished.
--
-- KEYS  1 job  2 leases  3 takes  4 slices  5 results  6 running jobs
-- ARGV  1 state  2 reason  3 kind and parameters  4 seconds for which an ended job is kept
-- Returns 1, 0 when it has ended already.

if redis.call('HGET', KEYS[1], 'state') ~= 'running' then return 0 end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'state', ARGV[1], 'reason', ARGV[2], 'ended_at',
  string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
redis.call('HDEL', KEYS[6], ARGV[3])
for place = 1, 5 do redis.call('EXPIRE', KEYS[place], ARGV[4]) end
return 1
