-- Stores the result of a slice; of the first one also the slices that it has planned. The last one ends the job.
--
-- KEYS  1 job  2 leases  3 takes  4 slices  5 results  6 running jobs
-- ARGV  1 number  2 owner  3 result  4 kind and parameters  5 seconds for which an ended job is kept
--       6 how many slices there are at the end of each stage, or ""  7 units of all slices  8 ... the slices
-- Returns 0 when the owner has lost the slice, 1, 2 when another stage begins.
--
-- Crash-safe: a result is stored and counted in one step, and only while its owner has it, so once.

if redis.call('HGET', KEYS[1], 'state') ~= 'running' or redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then
  return 0
end
local units = cjson.decode(redis.call('HGET', KEYS[4], ARGV[1]))[1]
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[1], ARGV[1] .. ':times', ARGV[1] .. ':error')
redis.call('HDEL', KEYS[4], ARGV[1])
redis.call('HSET', KEYS[5], ARGV[1], ARGV[3])
if ARGV[6] ~= '' then
  for place = 8, #ARGV do redis.call('HSET', KEYS[4], place - 7, ARGV[place]) end
  redis.call('HSET', KEYS[1], 'stages', ARGV[6], 'slices', #ARGV - 6, 'units', ARGV[7])
end
redis.call('HINCRBY', KEYS[1], 'units_done', units)
local done = redis.call('HINCRBY', KEYS[1], 'done', 1)
local slices, stages = unpack(redis.call('HMGET', KEYS[1], 'slices', 'stages'))
if done == tonumber(slices) then
  local time = redis.call('TIME')
  redis.call('HSET', KEYS[1], 'state', 'finished', 'ended_at',
    string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
  redis.call('HDEL', KEYS[6], ARGV[4])
  for place = 1, 5 do redis.call('EXPIRE', KEYS[place], ARGV[5]) end
  return 1
end
for last in string.gmatch(stages, '%d+') do
  if tonumber(last) == done then return 2 end
end
return 1
