-- Takes a slice of a fleet job: one whose lease has expired, or else the next one of the present stage.
--
-- KEYS  1 job  2 leases  3 takes  4 slices
-- ARGV  1 owner  2 milliseconds of the lease  3 how often a slice may be taken
-- Returns {number, slice}; {number, slice, error} when the slice was taken too often; false when there is none.
--
-- Crash-safe: what a killed worker has taken is taken again when its lease has expired.

if redis.call('HGET', KEYS[1], 'state') ~= 'running' then return false end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local number = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now), 'LIMIT', 0, 1)[1]
if number then
  if tonumber(redis.call('HGET', KEYS[3], number .. ':times')) >= tonumber(ARGV[3]) then
    return {number, redis.call('HGET', KEYS[4], number), redis.call('HGET', KEYS[3], number .. ':error') or ''}
  end
else
  local next, done, stages = unpack(redis.call('HMGET', KEYS[1], 'next', 'done', 'stages'))
  for last in string.gmatch(stages, '%d+') do
    -- The slices of a stage are there to be taken when all of the stages before are done.
    if tonumber(last) > tonumber(done) then
      if tonumber(next) < tonumber(last) then number = next end
      break
    end
  end
  if not number then return false end
  redis.call('HINCRBY', KEYS[1], 'next', 1)
end
redis.call('HINCRBY', KEYS[3], number .. ':times', 1)
redis.call('HSET', KEYS[3], number, ARGV[1])
redis.call('ZADD', KEYS[2], string.format('%.0f', now + ARGV[2]), number)
return {number, redis.call('HGET', KEYS[4], number)}
