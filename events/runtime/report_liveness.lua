-- Records that lines of work make progress now, by the server's clock.
--
-- KEYS  1 liveness
-- ARGV  names of lines

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, line in ipairs(ARGV) do redis.call('HSET', KEYS[1], line, now) end
