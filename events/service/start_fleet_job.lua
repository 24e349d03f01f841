-- Records a fleet job whose only slice so far is its plan, unless one of this kind with these parameters runs.
--
-- KEYS  1 running jobs  2 jobs by instant  3 job  4 slices
-- ARGV  1 kind and parameters  2 id of the job  3 kind  4 parameters  5 the slice that plans
-- Returns the id of the job that runs now.

local found = redis.call('HGET', KEYS[1], ARGV[1])
if found then return found end
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], now, ARGV[2])
redis.call('HSET', KEYS[3], 'kind', ARGV[3], 'parameters', ARGV[4], 'state', 'running', 'requested_at', now,
  'slices', 1, 'stages', '1', 'next', 0, 'done', 0, 'units', 0, 'units_done', 0)
redis.call('HSET', KEYS[4], 0, ARGV[5])
return ARGV[2]
